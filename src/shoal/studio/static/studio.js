// The little that needs a script: parts of a page that change without loading it again, and work
// that is watched. Everything else works without it.
"use strict";

const sent = new Map(); // per place of a page, the number of the newest request
const reading = new Map(); // per place of a page, what stops the request for its content
let counter = 0;
let version = null; // of the plan, as the newest answer to this page has it
let sending = Promise.resolve(); // forms wait for each other: each begins where the last one ended
const waiting = new Map(); // per form, the number of its newest request
const underway = new Map(); // per form, what is being sent
let steps = 0; // how many forms were sent or answered

function say(text) {
  const place = document.getElementById("status");
  if (place) place.textContent = text;
}

// Put every element of an answer in the place of the element with the same id. What is being typed
// stays, unless it is in the form that was answered.
function place(html, answered = null) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const known = parsed.querySelector("input[name=version]");
  if (known) version = known.value;
  const active = document.activeElement;
  const focused = active && active.id;
  const typed = active && active.form && active.form !== answered && "defaultValue" in active
    && active.type !== "range" && active.value !== active.defaultValue ? active.value : null;
  // Rows of a table come inside of one, as they cannot be alone.
  const parts = [...parsed.body.children].flatMap((one) => (one.matches("table.parts") ? [...one.tBodies] : [one]));
  for (const part of parts) {
    const old = part.id && document.getElementById(part.id);
    if (!old) continue;
    if (part.dataset.go) { location.assign(part.dataset.go); return; }
    for (const inside of [part, ...part.querySelectorAll("details[id]")]) { // what was opened stays open
      const before = inside.matches("details[id]") && document.getElementById(inside.id);
      if (before && before.open) inside.open = true;
    }
    if (old.outerHTML === part.outerHTML) continue;
    old.replaceWith(document.adoptNode(part));
    prepare(part);
    const again = part.dataset.reload && document.querySelector(part.dataset.reload);
    if (again) load(again);
  }
  const still = focused && document.getElementById(focused);
  if (still && still !== active) {
    if (typed !== null) still.value = typed;
    still.focus({ preventScroll: true });
  }
}

// A late answer must not replace a newer one: only the newest request of a place counts.
async function ask(key, address, options = {}) {
  const number = ++counter;
  sent.set(key, number);
  const stop = new AbortController();
  if (!options.method && reading.has(key)) reading.get(key).abort(); // nobody waits for it any more
  reading.set(key, stop);
  let answer, text;
  try {
    answer = await fetch(address, {
      ...options, signal: stop.signal, headers: { "x-studio": "1", ...options.headers },
    });
    text = await answer.text();
  } catch (error) {
    if (!stop.signal.aborted) document.body.classList.add("lost");
    return null;
  }
  document.body.classList.remove("lost");
  if (sent.get(key) !== number) return null;
  if (answer.status === 401) { location.reload(); return null; }
  return { text, ok: answer.ok, status: answer.status };
}

async function load(element) {
  element.classList.add("busy");
  const answer = await ask(`load:${element.id}`, element.dataset.load);
  if (answer) place(answer.text);
}

// Steps are made one after the other, each from the plan that the last one left: keys that are
// pressed quickly must not look like a second tab. Of a form only the newest step counts.
function submit(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  // Enter changes a field and sends its form: that is one step. The second one would be made even if
  // the first one was refused, as it begins with the plan of another tab that the refusal has shown.
  const fields = submitter ? null : body.toString();
  if (fields !== null && !waiting.has(form) && underway.get(form) === fields) return;
  const number = ++counter;
  waiting.set(form, number);
  sending = sending.then(async () => {
    if (waiting.get(form) !== number) return;
    waiting.delete(form);
    underway.set(form, fields);
    ++steps;
    if (version && body.has("version")) body.set("version", version);
    const address = form.getAttribute("action"); // form.action is a field of that name, if there is one
    const answer = await ask(`form:${address}`, address, { method: "POST", body });
    underway.delete(form);
    ++steps;
    if (answer) place(answer.text, form);
  });
}

function prepare(root) {
  for (const field of root.querySelectorAll("[data-send]")) {
    if (field.type === "range") {
      const shown = field.form.querySelector(`output[for="${field.id}"]`);
      field.addEventListener("input", () => { if (shown) shown.textContent = field.value; });
    }
    field.addEventListener("change", () => field.form.requestSubmit());
  }
  for (const form of root.querySelectorAll("form[data-parts]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit(form, event.submitter);
    });
  }
  for (const element of root.querySelectorAll("[data-load]")) {
    if (!element.dataset.version) load(element);
  }
}

// One stream says that something has changed; each part that is alive then asks for its content.
function watch(address) {
  let waiting = false;
  const refresh = async () => {
    waiting = false;
    for (const element of document.querySelectorAll("[data-live]")) {
      // A form that was sent in the meantime makes this answer one of before: it is asked for again.
      let answer, before;
      do {
        await sending;
        before = steps;
        answer = await ask(`live:${element.id}`, element.dataset.live);
      } while (answer && steps !== before);
      if (answer && answer.ok) place(answer.text);
    }
  };
  const source = new EventSource(address);
  source.addEventListener("message", () => {
    document.body.classList.remove("lost");
    if (waiting) return;
    waiting = true;
    setTimeout(refresh, 200);
  });
  source.addEventListener("error", () => document.body.classList.add("lost"));
}

document.addEventListener("DOMContentLoaded", () => {
  // What needs a script is shown by a style: parts of a page stay as they came, so that an answer
  // that changes nothing replaces nothing, and what was selected stays selected.
  document.body.classList.add("scripted");
  prepare(document);
  if (document.body.dataset.events) watch(document.body.dataset.events);
});
