// Says aloud what a run is doing, whenever that changes: a region that is replaced as a whole is not
// read out by itself.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const main = document.getElementById("main");
  let last = "";
  const listen = () => {
    const stage = main.querySelector("[data-say]");
    const text = stage ? stage.dataset.say : "";
    if (text && text !== last) say(text);
    last = text;
  };
  new MutationObserver(listen).observe(main, { childList: true, subtree: true });
  listen();
});
