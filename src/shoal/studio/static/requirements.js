// Sliders and number fields show the same value; a preview that is followed by a better one asks
// for it; and the numbers of a new preview are said to those who do not see them.
"use strict";

document.addEventListener("input", (event) => {
  const field = event.target;
  if (field.dataset.mirror) {
    document.getElementById(field.dataset.mirror).value = field.value;
  } else if (field.type === "number") {
    const slider = document.querySelector(`[data-mirror="${field.id}"]`);
    if (slider) slider.value = field.value;
  }
});

// Arrow keys change a slider several times a second: the last of these changes is sent.
let resting = 0;
document.addEventListener("change", (event) => {
  const slider = event.target;
  if (!slider.dataset.mirror) return;
  clearTimeout(resting);
  resting = setTimeout(() => {
    const field = document.getElementById(slider.dataset.mirror);
    if (field && field.form) field.form.requestSubmit();
  }, 150);
});

// A picture of settings: a point is a link to the line of its setting, which has the button.
document.addEventListener("click", (event) => {
  const point = event.target.closest("a[data-choose]");
  const button = point && document.getElementById(point.dataset.choose);
  if (!button) return;
  event.preventDefault();
  button.click();
});

document.addEventListener("DOMContentLoaded", () => {
  const box = document.querySelector(".previewed");
  if (!box) return;
  let said = "";
  new MutationObserver(async () => {
    const shown = document.getElementById("preview");
    if (!shown) return;
    if (shown.dataset.say && shown.dataset.say !== said) {
      said = shown.dataset.say;
      say(said);
    }
    const next = shown.dataset.next;
    if (!next) return;
    delete shown.dataset.next;
    const answer = await ask("load:preview", next);
    if (answer && answer.ok) place(answer.text);
  }).observe(box, { childList: true, subtree: true });
});
