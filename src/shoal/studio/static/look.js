// Two tables that scroll together; pages, filters and rows that are chosen without loading the page
// again. Everything of it is a link or a form, and works without this script.
"use strict";

// The two tables scroll together: the same rows and columns are shown in both.
function together() {
  const panes = [document.getElementById("pane-before"), document.getElementById("pane-after")];
  if (panes.includes(null)) return;
  // A table that was moved says so as if somebody had scrolled it. It must not answer: the other one
  // may be further already, as scrolling goes on for a while.
  const moved = new Map();
  for (const [one, other] of [panes, [...panes].reverse()]) {
    one.addEventListener("scroll", () => {
      const [top, left] = moved.get(one) || [];
      moved.delete(one);
      if (one.scrollTop === top && one.scrollLeft === left) return;
      if (other.scrollTop === one.scrollTop && other.scrollLeft === one.scrollLeft) return;
      other.scrollTo({ top: one.scrollTop, left: one.scrollLeft, behavior: "instant" });
      moved.set(other, [other.scrollTop, other.scrollLeft]); // a narrower table stops earlier
    }, { passive: true });
  }
}

// Of all rows only one is reached by Tab; arrows go from row to row.
function oneStop() {
  const links = [...document.querySelectorAll("#pane-before a[data-look]")];
  const first = links.find((one) => one.hasAttribute("aria-current")) || links[0];
  for (const one of links) one.tabIndex = one === first ? 0 : -1;
  for (const one of document.querySelectorAll("#pane-after tbody a")) one.tabIndex = -1;
}

function twins(row, name, on) {
  for (const one of document.querySelectorAll(`#rows tr[data-row="${row}"]`)) one.classList.toggle(name, on);
}

// Where the user is afterwards: somebody with a keyboard goes to what was asked for and back, for
// others it only comes into view.
async function go(address, by) {
  const to = address.split("#")[1] || "";
  const panes = document.getElementById("pane-before");
  const kept = panes ? [panes.scrollTop, panes.scrollLeft] : null;
  const paged = rowsShown();
  const left = new URLSearchParams(location.search).get("row"); // the row that was looked at
  const rows = document.getElementById("rows");
  if (rows) rows.classList.add("busy");
  const answer = await ask("look", address);
  if (!answer) return;
  place(answer.text);
  const now = document.getElementById("rows");
  if (now) now.classList.remove("busy");
  if (address.split("#")[0] !== location.pathname + location.search) history.pushState({}, "", address);
  arrange();
  const pane = document.getElementById("pane-before");
  if (kept && pane && rowsShown() === paged) [pane.scrollTop, pane.scrollLeft] = kept;
  const why = document.getElementById("why");
  const found = document.getElementById("found");
  if (to === "why" && why && !why.hidden) {
    if (by === "keyboard") why.focus();
    else why.querySelector("h2").scrollIntoView({ block: "nearest" });
    say(why.querySelector("header").textContent.trim().replace(/\s+/g, " "));
  } else if (to === "rows") {
    const row = left && document.getElementById(`row-${left}`);
    if (by === "keyboard" && row && why.hidden) row.focus();
    else if (now.getBoundingClientRect().top < 0) now.scrollIntoView();
    if (found) say(found.textContent);
  }
}

function rowsShown() {
  return [...document.querySelectorAll("#pane-before tr[data-row]")].map((one) => one.dataset.row).join();
}

function arrange() {
  together();
  oneStop();
}

document.addEventListener("DOMContentLoaded", () => {
  const main = document.getElementById("main");
  arrange();
  main.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest("a[data-look]");
    const row = event.target.closest("#rows tr[data-row]");
    if (link) {
      event.preventDefault();
      go(link.getAttribute("href"), event.detail === 0 && event.isTrusted ? "keyboard" : "mouse");
    } else if (row && !String(getSelection())) {
      document.getElementById(`row-${row.dataset.row}`).click();
    }
  });
  main.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-look]");
    if (!form) return;
    event.preventDefault();
    const given = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
    go(`${form.getAttribute("action").split("#")[0]}?${given}#rows`, "form");
  });
  main.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.matches("#pane-before a[data-look]")) return;
    const links = [...document.querySelectorAll("#pane-before a[data-look]")];
    const next = links[links.indexOf(event.target) + step];
    if (!next) return;
    event.preventDefault();
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  for (const [kind, on] of [["mouseover", true], ["mouseout", false]]) {
    main.addEventListener(kind, (event) => {
      const row = event.target.closest("#rows tr[data-row]");
      if (row) twins(row.dataset.row, "over", on);
    });
  }
  addEventListener("popstate", () => location.reload());
});
