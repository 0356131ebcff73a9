// Files that are dropped or chosen: each is sent by itself, and several can be on their way.
"use strict";

(() => {
  const underway = new Set(); // requests that are on their way

  // What is said about a file, in the list of its area.
  function lineFor(area, file) {
    const list = area.querySelector(".sent");
    const line = document.createElement("li");
    const name = document.createElement("span");
    name.textContent = file.name;
    line.append(name);
    list.append(line);
    return { list, line };
  }

  function refuse(line, text) {
    line.querySelectorAll("progress, button").forEach((one) => one.remove());
    const said = document.createElement("p");
    said.className = "error";
    said.setAttribute("role", "alert");
    said.textContent = text;
    line.append(said);
  }

  // Only the last one of several leads to its page at once: leaving would end the others.
  function arrived(line, list, address) {
    line.querySelectorAll("progress, button").forEach((one) => one.remove());
    const link = document.createElement("a");
    link.href = address;
    link.textContent = list.dataset.ready;
    line.append(" ", link);
    if (underway.size === 0 && list.children.length === 1) location.assign(address);
  }

  function send(area, file) {
    if (area.dataset.one !== undefined) { // a newer file takes the place of an older one
      underway.forEach((one) => one.abort());
      area.querySelector(".sent").replaceChildren();
    }
    const { list, line } = lineFor(area, file);
    if (file.size > Number(area.dataset.most || Infinity)) { refuse(line, list.dataset.tooLarge); return; }
    const bar = document.createElement("progress");
    bar.max = 1;
    bar.value = 0;
    bar.setAttribute("aria-label", `${list.dataset.sending} ${file.name}`);
    const stop = document.createElement("button");
    stop.type = "button";
    stop.className = "quiet";
    stop.textContent = list.dataset.stop;
    line.append(bar, stop);
    const request = new XMLHttpRequest(); // fetch does not report how much was sent
    request.open("PUT", area.dataset.drop);
    request.setRequestHeader("x-file-name", encodeURIComponent(file.name));
    underway.add(request);
    stop.addEventListener("click", () => request.abort());
    request.upload.addEventListener("progress", (event) => {
      bar.value = event.total ? event.loaded / event.total : 0;
    });
    request.addEventListener("loadend", () => {
      underway.delete(request);
      let answer = {};
      try { answer = JSON.parse(request.responseText || "{}"); } catch { /* not from our pages */ }
      if (answer.address) { arrived(line, list, answer.address); return; }
      refuse(line, answer.error || list.dataset.lost);
    });
    request.send(file);
  }

  function areaOf(event) {
    return event.target instanceof Element ? event.target.closest("[data-drop]") : null;
  }

  // Areas may appear later, so that the whole page listens for them.
  for (const name of ["dragenter", "dragover"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault(); // a file that misses an area must not replace the page
      const area = areaOf(event);
      if (area) area.classList.add("over");
    });
  }
  document.addEventListener("dragleave", (event) => {
    const area = areaOf(event);
    if (area && !area.contains(event.relatedTarget)) area.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const area = areaOf(event) || document.querySelector("[data-drop]");
    if (!area) return;
    area.classList.remove("over");
    for (const file of event.dataTransfer.files) send(area, file);
  });
  document.addEventListener("change", (event) => {
    const area = event.target.type === "file" && areaOf(event);
    if (!area) return;
    for (const file of [...event.target.files]) send(area, file);
    event.target.value = ""; // so that the same file can be chosen again
  });
  window.addEventListener("beforeunload", (event) => {
    if (underway.size) event.preventDefault();
  });
})();
