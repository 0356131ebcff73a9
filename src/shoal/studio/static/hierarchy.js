// The page of a hierarchy: unfolding without loading the page again, selecting and dragging values,
// and borders that are moved on a histogram. All of it but dragging works without this script.
"use strict";

const picked = new Set(); // nodes that are selected, also on pages of the tree that are not shown
let pickedIn = ""; // the version of the plan that they belong to: numbers of nodes change with it
let lastPicked = null;

// ── The tree ──

async function unfold(address) {
  const answer = await askLatest("tree", address);
  if (!answer) return;
  place(answer.text);
  // Reloading, or going back to the page, shows the same part of the tree.
  const tree = document.getElementById("tree");
  if (tree) history.replaceState(null, "", tree.dataset.address);
}

function addressOf(form) {
  const query = new URLSearchParams(new FormData(form));
  for (const [key, text] of [...query]) if (!text) query.delete(key);
  return `${form.getAttribute("action")}?${query}`;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-tree]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  unfold(link.getAttribute("href"));
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-tree-form]")) return;
  event.preventDefault();
  unfold(addressOf(event.target));
});

let finding = 0; // what waits until nobody types any more
for (const kind of ["input", "change"]) {
  document.addEventListener(kind, (event) => {
    if (!event.target.matches("[data-find]")) return;
    if (kind === "input" && event.target.type !== "search") return;
    clearTimeout(finding);
    const form = event.target.form;
    finding = setTimeout(() => unfold(addressOf(form)), kind === "input" ? 300 : 0);
  });
}

// ── Selecting ──

function showPicked() {
  const tree = document.getElementById("tree");
  if (!tree) return;
  if (pickedIn !== tree.dataset.version) { // groups have changed: the numbers mean other nodes
    picked.clear();
    lastPicked = null;
    pickedIn = tree.dataset.version;
  }
  for (const box of tree.querySelectorAll("input[name=pick]")) {
    box.checked = picked.has(box.value);
    const row = box.closest(".node");
    row.classList.toggle("picked", box.checked);
    row.draggable = true;
  }
  const all = tree.querySelector("[data-picked]");
  if (all) all.value = [...picked].join(".");
  const said = tree.querySelector("[data-selected]");
  const words = said && picked.size ? said.dataset.words.replace("{n}", picked.size) : "";
  if (said && said.textContent !== words) said.textContent = words; // a change calls us again
}

document.addEventListener("click", (event) => {
  const row = event.target.closest(".editable .node");
  const box = row && row.querySelector("input[name=pick]");
  if (!box || event.target.closest("a")) return;
  if (event.target !== box) box.checked = !box.checked; // the whole row can be clicked
  const boxes = [...document.querySelectorAll("#tree input[name=pick]")];
  const from = event.shiftKey && lastPicked ? boxes.findIndex((one) => one.value === lastPicked) : -1;
  const to = boxes.indexOf(box);
  const some = from < 0 ? [box] : boxes.slice(Math.min(from, to), Math.max(from, to) + 1);
  for (const one of some) {
    if (box.checked) picked.add(one.value); else picked.delete(one.value);
  }
  lastPicked = box.value;
  showPicked();
});

// ── Dragging ──

const target = (event) => {
  const row = event.target.closest && event.target.closest(".editable .node.group");
  return row && !picked.has(row.dataset.node) ? row : null;
};

document.addEventListener("dragstart", (event) => {
  const row = event.target.closest && event.target.closest(".editable .node");
  if (!row) return;
  if (!picked.has(row.dataset.node)) { // what is not selected is dragged alone
    picked.clear();
    picked.add(row.dataset.node);
    showPicked();
  }
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", "");
});

document.addEventListener("dragover", (event) => {
  const row = target(event);
  for (const one of document.querySelectorAll(".node.over")) one.classList.toggle("over", one === row);
  if (!row || !picked.size) return;
  event.preventDefault();
  row.classList.add("over");
});

document.addEventListener("drop", (event) => {
  const row = target(event);
  const form = document.getElementById("groups");
  if (!row || !form || !picked.size) return;
  event.preventDefault();
  row.classList.remove("over");
  const body = new URLSearchParams(new FormData(form));
  body.delete("all");
  body.set("step", "into");
  body.set("into", row.dataset.node);
  send(form.action, { method: "POST", body });
});

// A step that was made from a tree that is not shown any more is refused: its nodes are others.
function send(address, options) {
  inTurn(async () => {
    const answer = await ask(`form:${address}`, address, options);
    if (answer) place(answer.text, { address, fields: new Map() });
  });
}

// ── A level table from a file ──

document.addEventListener("change", (event) => {
  if (event.target.id !== "levels-file") return;
  const file = event.target.files[0];
  const form = event.target.form;
  if (!file) return;
  const query = new URLSearchParams(new FormData(form));
  query.delete("table");
  query.set("title", file.name);
  event.target.value = ""; // the same file can be chosen again
  send(`${form.getAttribute("action")}?${query}`, { method: "PUT", body: file });
});

// ── Borders ──

const SVG = "http://www.w3.org/2000/svg";
const WIDE = 480, HIGH = 120; // the plot, as the server draws it
const DAY = 86400000, FIRST = 719163; // the ordinal number of 1970-01-01

class Cut {
  constructor() {
    this.timer = 0; // of a change that waits to be sent
    this.dragged = null;
    this.focused = null;
  }

  // Answers of the server bring the histogram anew. What has been changed since it was asked stays.
  attach(box) {
    this.box = box;
    this.form = box.closest("form");
    this.low = Number(box.dataset.low);
    this.high = Number(box.dataset.high);
    this.step = Number(box.dataset.step);
    this.dates = Boolean(box.dataset.dates);
    this.svg = box.querySelector("svg");
    this.layer = box.querySelector(".handles");
    box.querySelector("[data-add]").addEventListener("click", () => this.addInGap());
    this.svg.addEventListener("dblclick", (event) => {
      if (!event.target.closest(".handle")) this.add(this.at(event));
    });
    if (this.timer || this.dragged) this.write(); else this.borders = this.read();
    const lost = document.activeElement === document.body;
    this.draw(lost ? this.borders.find((one) => one.value === this.focused) : undefined);
  }

  fields() { return [...this.form.querySelectorAll("input[name=level]")]; }

  // The borders of the fields, each with the number of levels that keep it.
  read() {
    const kept = new Map();
    for (const field of this.fields()) {
      for (const word of field.value.split(/[\s,;]+/).filter(Boolean)) {
        const value = this.value(word);
        if (Number.isFinite(value)) kept.set(value, (kept.get(value) || 0) + 1);
      }
    }
    return [...kept].map(([value, levels]) => ({ value, levels })).sort((a, b) => a.value - b.value);
  }

  value(word) { return this.dates ? Date.parse(`${word}T00:00Z`) / DAY + FIRST : Number(word); }

  name(value) {
    if (this.dates) return new Date((value - FIRST) * DAY).toISOString().slice(0, 10);
    return String(Number(value.toPrecision(12)));
  }

  snapped(value) {
    const near = Number((Math.round(value / this.step) * this.step).toPrecision(12));
    return Math.min(Math.max(near, this.low), this.high);
  }

  at(event) {
    const area = this.svg.getScreenCTM().inverse();
    const x = area.a * event.clientX + area.e;
    return this.snapped(this.low + (x / WIDE) * (this.high - this.low));
  }

  taken(value, but) {
    const near = this.dates ? 1 : 0; // borders of dates are two days apart
    return this.borders.some((one) => one !== but && Math.abs(one.value - value) <= near);
  }

  add(value) {
    if (this.taken(value)) return;
    this.borders.push({ value, levels: 1 });
    this.changed(0);
  }

  addInGap() {
    const ends = [this.low, ...this.borders.map((one) => one.value).sort((a, b) => a - b), this.high];
    let best = 0;
    for (let i = 1; i < ends.length; i++) {
      if (ends[i] - ends[i - 1] > ends[best + 1] - ends[best]) best = i - 1;
    }
    this.add(this.snapped((ends[best] + ends[best + 1]) / 2));
  }

  // Several presses of a key, or one drag, are one step of the history.
  changed(wait) {
    this.borders.sort((a, b) => a.value - b.value);
    this.write();
    this.draw();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.timer = 0; this.form.requestSubmit(); }, wait);
  }

  // The fields that the form sends.
  write() {
    const most = Math.max(0, ...this.borders.map((one) => one.levels));
    const fields = this.fields();
    while (fields.length < most) {
      const more = fields[fields.length - 1].cloneNode();
      more.id = `level-${fields.length + 1}`;
      fields[fields.length - 1].after(more);
      fields.push(more);
    }
    fields.forEach((field, i) => {
      const kept = this.borders.filter((one) => one.levels > i);
      const finer = this.borders.filter((one) => one.levels > i - 1);
      const same = i > 0 && kept.length === finer.length; // a level must have fewer
      field.value = same ? "" : kept.map((one) => this.name(one.value)).join(", ");
    });
  }

  // The focus stays on its border, also if that passes another one or comes anew from the server.
  draw(focused = this.borders.find((one) => one.handle && one.handle === document.activeElement)) {
    this.borders.forEach((one, i) => { one.handle = this.handle(one, i); });
    this.layer.replaceChildren(...this.borders.map((one) => one.handle));
    if (focused) focused.handle.focus({ preventScroll: true });
    this.focused = focused ? focused.value : null;
  }

  handle(one, i) {
    const x = ((one.value - this.low) / (this.high - this.low)) * WIDE;
    const make = (kind, given) => {
      const made = document.createElementNS(SVG, kind);
      for (const [key, text] of Object.entries(given)) made.setAttribute(key, text);
      return made;
    };
    const handle = make("g", {
      id: `border-${i}`, class: "handle", tabindex: "0", role: "slider",
      "aria-label": this.box.dataset.label, "aria-orientation": "horizontal",
      "aria-valuemin": this.low, "aria-valuemax": this.high, "aria-valuenow": one.value,
      "aria-valuetext": `${this.name(one.value)} (${one.levels})`,
    });
    const name = make("text", { x, y: HIGH + 28 + (i % 2) * 14 });
    name.textContent = this.name(one.value);
    const levels = make("text", { x, y: HIGH + 4, class: "levels" });
    levels.textContent = one.levels;
    handle.append(
      make("rect", { x: x - 11, y: 0, width: 22, height: HIGH + 20, class: "grip" }),
      make("line", { x1: x, x2: x, y1: 0, y2: HIGH, class: "border" }),
      make("circle", { cx: x, cy: HIGH, r: 9 }), levels, name,
    );
    handle.addEventListener("pointerdown", (event) => this.drag(event, one));
    handle.addEventListener("keydown", (event) => this.press(event, one));
    return handle;
  }

  drag(event, one) {
    event.preventDefault();
    const before = one.value;
    this.dragged = one;
    one.handle.focus({ preventScroll: true });
    const move = (moved) => {
      const value = this.at(moved);
      if (value !== one.value && !this.taken(value, one)) { one.value = value; this.draw(); }
    };
    const end = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      this.dragged = null;
      if (one.value !== before) this.changed(0);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }

  press(event, one) {
    const far = event.shiftKey ? 10 : 1;
    const most = Math.max(...this.borders.map((other) => other.levels)) + 1;
    const moves = { ArrowLeft: -far, ArrowRight: far, PageDown: -10, PageUp: 10 };
    const levels = { ArrowUp: 1, ArrowDown: -1 };
    if (event.key in moves) {
      const value = this.snapped(one.value + moves[event.key] * this.step);
      if (this.taken(value, one)) return;
      one.value = value;
    } else if (event.key in levels) {
      one.levels = Math.min(Math.max(one.levels + levels[event.key], 1), most);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      if (this.borders.length === 1) return;
      const place = this.borders.indexOf(one);
      this.borders.splice(place, 1);
      this.borders[Math.min(place, this.borders.length - 1)].handle.focus({ preventScroll: true });
    } else {
      return;
    }
    event.preventDefault();
    this.changed(700);
  }
}

const cut = new Cut();

// Parts of the page are replaced by the answers of the server: what is new is prepared again.
function prepareHierarchy() {
  for (const box of document.querySelectorAll("[data-cut]:not([data-ready])")) {
    box.dataset.ready = "1";
    cut.attach(box);
  }
  showPicked();
}

document.addEventListener("DOMContentLoaded", () => {
  prepareHierarchy();
  new MutationObserver(prepareHierarchy).observe(document.getElementById("main"), {
    childList: true, subtree: true,
  });
});
