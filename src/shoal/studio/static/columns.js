// Many columns stay usable: search, filter by role, and keys that go from one to the next.
"use strict";

(() => {
  const lines = () => [...document.querySelectorAll("table.columns > tbody")];
  const visible = () => lines().filter((one) => !one.hidden);

  // Lines that do not fit are hidden; one that changes afterwards stays until the filter changes.
  function filter() {
    const query = document.getElementById("q").value.trim().toLowerCase();
    const only = document.getElementById("only").value;
    for (const one of lines()) {
      const fits = !only || one.dataset.role === only
        || (only === "changed" && one.dataset.changed !== undefined)
        || (only === "doubt" && one.dataset.doubt !== undefined);
      one.hidden = !fits || !one.dataset.name.includes(query);
    }
    count();
  }

  function count() {
    const place = document.getElementById("shown");
    const shown = visible();
    const all = lines().length;
    if (shown.length === all) place.textContent = "";
    else if (!shown.length) place.textContent = place.dataset.none;
    else place.textContent = place.dataset.text.replace("{n}", shown.length).replace("{all}", all);
    for (const field of document.querySelectorAll("#bulk [name=places]")) {
      field.value = shown.map((one) => one.id.replace("column-", "")).join(",");
    }
  }

  // The same field of the next or the previous line.
  function move(field, step) {
    const shown = visible();
    const line = field.closest("tbody");
    const next = shown[shown.indexOf(line) + step];
    if (!next) return;
    const kind = (field.id || "").replace(/-[0-9]+$/, "");
    const number = next.id.replace("column-", "");
    const target = document.getElementById(`${kind}-${number}`) || next.querySelector("select");
    if (target) {
      target.focus();
      next.scrollIntoView({ block: "nearest" });
    }
  }

  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (!(field instanceof Element)) return;
    const line = field.closest("table.columns > tbody");
    if (line && event.ctrlKey && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      move(field, event.key === "ArrowDown" ? 1 : -1);
    }
    const typing = field.matches("input, textarea, select");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      document.getElementById("q").focus();
    }
    if (event.key === "Escape" && field.id === "q" && field.value) {
      field.value = "";
      filter();
    }
  });

  // Settings are fetched when somebody wants to see them: a table may have hundreds of columns.
  document.addEventListener("click", async (event) => {
    const button = event.target instanceof Element ? event.target.closest("button[data-more]") : null;
    if (!button) return;
    event.preventDefault();
    const answer = await askLatest(`more:${button.id}`, button.dataset.more);
    if (answer && answer.ok) place(answer.text);
  });

  // A bulk change counts for the lines that are shown at that moment.
  document.addEventListener("submit", (event) => {
    if (event.target.id === "bulk") count();
  }, true);

  document.addEventListener("DOMContentLoaded", () => {
    const form = document.querySelector("form.filter");
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", filter);
    filter();
  });
})();
