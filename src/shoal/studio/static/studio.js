// The little that needs a script: parts of a page that change without loading it again, and work
// that is watched. Everything else works without it. It is read before the page (no "defer"): what is
// chosen on a page that is still arriving would be lost otherwise, and the page would show a choice
// that nobody has sent.
"use strict";

const sent = new Map(); // per place of a page, the number of the newest request
const reading = new Map(); // per place of a page, what stops the request for its content
let counter = 0;
let version = null; // of the plan, as the answer to the last form has it
const read = new Promise((done) => { document.addEventListener("DOMContentLoaded", done); });
let sending = read; // forms wait for each other: each begins where the last one ended
const waiting = new Map(); // per form, the number of its newest request
const underway = new Map(); // per form, what is being sent
let steps = 0; // how many forms were sent or answered
const PAUSE = 200; // milliseconds between two looks at what has changed

function say(text) {
  const place = document.getElementById("status");
  if (place) place.textContent = text;
}

// What a field says as the server wrote it, and as it is now.
function written(field) {
  if (field.type === "checkbox" || field.type === "radio") return field.defaultChecked;
  if (!field.options) return field.defaultValue;
  const chosen = [...field.options].find((one) => one.defaultSelected) || field.options[0];
  return chosen ? chosen.value : "";
}

function current(field) {
  return field.type === "checkbox" || field.type === "radio" ? field.checked : field.value;
}

function fill(field, now) {
  if (current(field) === now) return; // the caret stays where it is
  if (typeof now === "boolean") field.checked = now; else field.value = now;
}

const FIELDS = "input[id]:not([type=hidden], [type=file]), select[id], textarea[id]";

// What the user has changed in the fields of a part that is being replaced. In the form that was
// answered only what was changed after it had been sent; in others all that nobody has sent yet.
function unsent(old, answered) {
  const found = new Map();
  for (const field of old.querySelectorAll(FIELDS)) {
    const own = answered && field.form && field.form.getAttribute("action") === answered.address;
    const known = own ? answered.fields.get(field.id) : written(field);
    if (known !== undefined && current(field) !== known) found.set(field.id, [known, current(field)]);
  }
  return found;
}

// The field in which the user is stays itself, as everything around it is replaced: the list that
// letters are being typed into, a slider that is being dragged, and the caret would be lost.
function graft(old, part, field) {
  const twin = part.ownerDocument.getElementById(field.id);
  if (!twin || !part.contains(twin) || twin.tagName !== field.tagName || twin.type !== field.type) return false;
  let [here, there] = [field, twin];
  while (here !== old && there !== part) { // both must be as deep, in elements of the same kind
    [here, there] = [here.parentElement, there.parentElement];
    if (here.tagName !== there.tagName) return false;
  }
  if (here !== old || there !== part) return false;
  while (true) {
    for (const name of here.getAttributeNames()) if (!there.hasAttribute(name)) here.removeAttribute(name);
    for (const name of there.getAttributeNames()) {
      if (here.getAttribute(name) !== there.getAttribute(name)) here.setAttribute(name, there.getAttribute(name));
    }
    if (here === field) break;
    const [inner, within] = [childWith(here, field), childWith(there, twin)];
    const before = [...there.childNodes].slice(0, [...there.childNodes].indexOf(within));
    const after = [...there.childNodes].slice(before.length + 1);
    for (const one of [...here.childNodes]) if (one !== inner) one.remove();
    inner.before(...before.map((one) => document.adoptNode(one)));
    inner.after(...after.map((one) => document.adoptNode(one)));
    [here, there] = [inner, within];
  }
  const now = current(twin);
  if (field.options && sameOptions(field, twin)) { // a list that is open stays open
    [...field.options].forEach((one, i) => { one.defaultSelected = twin.options[i].defaultSelected; });
  } else if (field.innerHTML !== twin.innerHTML) {
    field.replaceChildren(...[...twin.childNodes].map((one) => document.adoptNode(one)));
  }
  fill(field, now);
  return true;
}

function sameOptions(one, other) {
  const listed = (list) => [...list.options].map((option) => `${option.value}\n${option.text}`).join("\n\n");
  return listed(one) === listed(other);
}

function childWith(parent, inside) {
  return [...parent.children].find((one) => one.contains(inside));
}

// Put every element of an answer in the place of the element with the same id. What was typed and
// not sent stays. `answered` is the address of the form that was sent, with the values of its fields
// at that time. What a part that is `live` brings is no answer to anything that the user did: an error
// that is shown stays.
function place(html, answered = null, live = false) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  // Parts that follow the server by themselves may show a plan of another tab. The forms of this page
  // still show the one before it: what is sent then must be refused.
  const known = parsed.querySelector("input[name=version]");
  if (known && answered) version = known.value;
  const active = document.activeElement;
  const focused = active && active.id;
  // Rows of a table come inside of one, as they cannot be alone.
  const parts = [...parsed.body.children].flatMap((one) => (one.matches("table.parts") ? [...one.tBodies] : [one]));
  for (const part of parts) {
    const old = part.id && document.getElementById(part.id);
    if (!old || (live && part.id === "error" && !part.children.length)) continue;
    if (part.dataset.go) {
      const field = active && active.closest("#first-look") && active.id.match(/[0-9]+$/); // goes on there
      const address = part.dataset.go + (field ? `?at=${field[0]}` : "");
      sending.then(() => location.assign(address)); // what was chosen meanwhile is sent first
      return;
    }
    for (const inside of [part, ...part.querySelectorAll("details[id]")]) { // what was opened stays open
      const before = inside.matches("details[id]") && document.getElementById(inside.id);
      if (before && before.open) inside.open = true;
    }
    if (old.outerHTML === part.outerHTML) continue;
    const typed = unsent(old, answered);
    const again = part.dataset.reload;
    const grafted = old.contains(active) && active.matches(FIELDS) && graft(old, part, active);
    if (!grafted) old.replaceWith(document.adoptNode(part));
    const placed = grafted ? old : part;
    for (const [id, [before, now]] of typed) {
      const field = document.getElementById(id);
      // If the server has something else there now, that is newer than what was typed before it.
      if (field && placed.contains(field) && (written(field) === before || field === active)) fill(field, now);
    }
    prepare(placed);
    const follows = again && document.querySelector(again);
    if (follows) load(follows);
  }
  const still = focused && document.getElementById(focused);
  if (still && still !== document.activeElement) still.focus({ preventScroll: true });
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

// An answer that a form has overtaken shows what was before: it is asked for again.
async function askLatest(key, address) {
  let answer, before;
  do {
    await sending;
    before = steps;
    answer = await ask(key, address);
  } while (answer && steps !== before);
  return answer;
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
  const address = form.getAttribute("action"); // form.action is a field of that name, if there is one
  const answered = { address, fields: new Map([...form.elements].map((one) => [one.id, current(one)])) };
  waiting.set(form, number);
  inTurn(async () => {
    if (waiting.get(form) !== number) return;
    waiting.delete(form);
    underway.set(form, fields);
    if (version && body.has("version")) body.set("version", version);
    const answer = await ask(`form:${address}`, address, { method: "POST", body });
    underway.delete(form);
    if (answer) place(answer.text, answered);
  });
}

function inTurn(work) {
  sending = sending.then(async () => {
    ++steps;
    await work();
  }).catch(reportError).then(() => { ++steps; }); // those who wait get their turn whatever happens
}

function prepare(root) {
  for (const element of root.querySelectorAll("[data-load]")) {
    if (!element.dataset.version) load(element);
  }
}

// The document listens for all fields and forms, also for those that come later.
document.addEventListener("input", (event) => {
  const field = event.target;
  if (field.type !== "range" || !field.matches("[data-send]")) return;
  const shown = field.form.querySelector(`output[for="${field.id}"]`);
  if (shown) shown.textContent = field.value;
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-send]")) event.target.form.requestSubmit();
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-parts]")) return;
  event.preventDefault();
  submit(event.target, event.submitter);
});

// One stream says that something has changed; each part that is alive then asks for its content.
function watch(address) {
  let waiting = false, last = -PAUSE;
  const refresh = async () => {
    waiting = false;
    last = performance.now();
    for (const element of document.querySelectorAll("[data-live]")) {
      const answer = await askLatest(`live:${element.id}`, element.dataset.live);
      if (answer && answer.ok) place(answer.text, null, true);
    }
  };
  const source = new EventSource(address);
  source.addEventListener("message", () => {
    document.body.classList.remove("lost");
    if (waiting) return;
    waiting = true;
    setTimeout(refresh, Math.max(0, last + PAUSE - performance.now()));
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
