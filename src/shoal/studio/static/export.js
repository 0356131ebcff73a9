// Copies a command. Without a script, its text can be selected and copied by hand; where a browser
// refuses to copy, the text is selected, so that one key is left to press.
"use strict";

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-making]");
  if (link) say(link.dataset.making); // large files take a while, and a browser shows nothing
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(field.value);
    say(button.dataset.done);
  } catch (error) {
    field.focus();
    field.select();
    say(button.dataset.select);
  }
});

document.addEventListener("DOMContentLoaded", () => {
  const main = document.getElementById("main");
  let last = "";
  const look = () => {
    const news = main.querySelector("[data-say]");
    const text = news ? news.dataset.say : "";
    if (text && text !== last) say(text);
    last = text;
  };
  new MutationObserver(look).observe(main, { childList: true, subtree: true });
  look();
});
