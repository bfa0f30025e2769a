// The timeline of a played run, which was drawn before: a line at an instant, marks where time passes quickly, and where
// no write succeeded.

import { draw, follow, watch } from "./map.js";
import { breaksOf } from "./pace.js";
import { inSeconds } from "./words.js";

// Its cursor: `put` shows an instant, `onPoint` says what is done with a press, and with a stretch that is taken.
function makeCursor(element, data, pace) {
  const svg = element.querySelector("svg");
  const width = svg.viewBox.baseVal.width;
  const { left, right, top, bottom } = data.axis;
  const xOf = (at) => left + ((right - left) * at) / (data.end || 1);
  const add = (attributes) => draw("path", svg, attributes);
  svg.setAttribute("aria-hidden", "true");
  watch(element);
  breaksOf(pace).forEach(([from, to]) => {
    const middle = xOf((from + to) / 2);
    add({ d: `M${middle - 5} ${bottom + 6}l4-12M${middle + 1} ${bottom + 6}l4-12`, class: "break" });
  });
  data.gaps.forEach(([from, to]) => {
    add({ d: `M${xOf(from)} ${bottom - 2}v-7H${xOf(to)}v7`, class: "gap" });
    draw("text", svg, { x: (xOf(from) + xOf(to)) / 2, y: bottom - 13, class: "gap" }, inSeconds(to - from));
  });
  if (data.apart !== undefined && data.apart !== null) add({ d: `M${xOf(data.apart)} ${top - 8}V${bottom + 8}`, class: "parting" });
  const framed = add({ d: "M0 0", class: "frame" });
  const line = add({ d: `M0 ${top}V${bottom + 8}`, class: "cursor" });
  const places = { role: "slider", "aria-label": "time of the run", "aria-valuemin": 0, "aria-valuemax": data.end / 1e6, tabindex: 0 };
  for (const [key, value] of Object.entries(places)) element.setAttribute(key, value);

  function put(at, words) {
    line.setAttribute("transform", `translate(${xOf(at).toFixed(1)})`);
    element.setAttribute("aria-valuenow", inSeconds(at));
    element.setAttribute("aria-valuetext", words.slice(0, 200));
    follow(element, [xOf(at) / width]);
  }

  // A press or a drag points at an instant; with the shift key a drag takes a stretch.
  function onPoint(point, brush) {
    const instant = (event) => {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * width;
      return Math.max(0, Math.min(1, (x - left) / (right - left))) * data.end;
    };
    let began = null;
    svg.addEventListener("pointerdown", (event) => {
      svg.setPointerCapture(event.pointerId);
      began = brush && event.shiftKey ? instant(event) : null;
      if (began === null) point(instant(event));
    });
    svg.addEventListener("pointermove", (event) => {
      if (!event.buttons) return;
      if (began === null) { point(instant(event)); return; }
      const [from, to] = [began, instant(event)].map(xOf);
      framed.setAttribute("d", `M${from} ${top}H${to}V${bottom}H${from}z`);
    });
    svg.addEventListener("pointerup", (event) => {
      if (began === null) return;
      framed.setAttribute("d", "");
      brush(began, instant(event));
      began = null;
    });
  }

  return { put, onPoint };
}

export { makeCursor };
