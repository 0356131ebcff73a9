// Folders open without loading the page again, so that files that are on their way are not lost.
"use strict";

(() => {
  document.addEventListener("click", async (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[data-part]") : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const answer = await ask("part:folder", link.dataset.part);
    if (!answer) return;
    if (!answer.ok) { location.assign(link.getAttribute("href")); return; }
    place(answer.text);
    const first = document.querySelector("#folder [aria-current], #folder a");
    if (first) { first.tabIndex = first.tabIndex < 0 ? -1 : first.tabIndex; first.focus(); }
  });
})();
