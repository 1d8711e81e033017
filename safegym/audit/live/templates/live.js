"use strict";
(() => {
  const every = 2000, patience = 60000;
  let wait = every;
  const pulse = () => document.getElementById("pulse");
  const shown = () => document.querySelector("main").dataset.version;
  const say = (words) => { const at = pulse(); if (at && at.textContent !== words) at.textContent = words; };
  const ago = (s) => s < 90 ? Math.round(s) + " s" : s < 5400 ? Math.round(s / 60) + " min" : Math.round(s / 3600) + " h";
  const picked = () => { const s = window.getSelection(); return s && !s.isCollapsed; };
  async function redraw() {
    const answer = await fetch(location.pathname, { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const open = [...document.querySelectorAll("details[open][id]")].map((d) => d.id);
    const held = document.activeElement && document.activeElement.id;
    const slid = [...document.querySelectorAll(".wide[id]")].map((w) => [w.id, w.scrollLeft]);
    document.title = page.title;
    document.querySelector("main").replaceWith(page.querySelector("main"));
    for (const id of open) { const d = document.getElementById(id); if (d) d.open = true; }
    for (const [id, left] of slid) { const w = document.getElementById(id); if (w) w.scrollLeft = left; }
    if (held) { const at = document.getElementById(held); if (at) at.focus({ preventScroll: true }); }
  }
  async function look() {
    try {
      const answer = await fetch("state.json", { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.status);
      const state = await answer.json();
      if (state.version !== shown() && !picked()) await redraw();
      say(state.age === null ? "Watching." : "Watching. The log was last written " + ago(state.age) + " ago.");
      wait = state.state === "reading" ? 300 : state.state === "closed" ? 10000 : every;
    } catch (_) {
      say("The server does not answer: what you see may be old. Trying again.");
      wait = Math.min(patience, wait * 2);
    }
    setTimeout(look, document.hidden ? Math.max(wait, 15000) : wait);
  }
  setTimeout(look, 300);
})();
