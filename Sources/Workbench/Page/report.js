"use strict";
// The page is whole without this: here are only the words under the pointer, and the ways from and to one situation.
const why = link => link.closest(".told")?.querySelector(".why");
for (const line of document.querySelectorAll(".why")) line.textContent = line.dataset.hint;
const tell = event => {
  const link = event.target.closest?.("svg.timeline a");
  const line = link && why(link);
  if (line) line.textContent = link.getAttribute("aria-label");
  const box = event.target.closest?.("svg.states a.box");
  if (!box) return;
  const drawing = box.closest("svg");
  drawing.classList.add("asked");
  for (const edge of drawing.querySelectorAll(".edge")) {
    edge.classList.toggle("out", edge.dataset.from === box.dataset.number);
    edge.classList.toggle("in", edge.dataset.to === box.dataset.number);
  }
};
const forget = event => {
  const drawing = event.target.closest?.("svg.states a.box")?.closest("svg");
  if (!drawing) return;
  drawing.classList.remove("asked");
  for (const edge of drawing.querySelectorAll(".edge")) edge.classList.remove("out", "in");
};
for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, tell);
for (const kind of ["pointerout", "focusout"]) document.addEventListener(kind, forget);
// What a link leads to may lie in a part that is folded.
const open = () => {
  const target = location.hash ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  target?.focus?.({ preventScroll: true });
  target?.scrollIntoView({ block: "nearest" });
};
window.addEventListener("hashchange", open);
open();
