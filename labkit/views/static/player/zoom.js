// Zoom: a stretch of the timeline, large, below it; the whole timeline shows which stretch that is.
//
// 1. What is shown contains the cursor: when that leaves it, the stretch moves along.
// 2. Words of what happened stand in rows, none over another; what finds no room is a stroke only.

import { draw } from "./map.js";
import { inSeconds, upTo } from "./run.js";

const [WIDTH, LEFT, RIGHT, BAR, ROWS, LINE] = [668, 110, 24, 22, 4, 17];
const LEAST = 2000;
const LETTER = 7.2;
const STEPS = [1, 2, 5];
const MINOR = ["observed", "clients"];

// The bounds of a stretch half or twice as long around an instant, within a run.
function zoomed([from, to], at, factor, end) {
  const length = Math.min(end, Math.max(LEAST, (to - from) * factor));
  const start = Math.max(0, Math.min(end - length, at - length / 2));
  return [start, start + length];
}

// The instants of an axis: about six, round ones.
function ticksOf([from, to]) {
  const least = (to - from) / 7;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * (STEPS.find((one) => one * power >= least) ?? 10);
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, place) => (first + place) * step);
}

// What happened in a stretch: [x, words, row, start, kind]; without room the row is -1.  What was only observed
// comes last.  Words stand right of their stroke, or left of it where the picture ends.
function placed(data, [from, to], xOf) {
  const rows = Array.from({ length: ROWS }, () => []);
  const times = data.happenings.map(([at]) => at);
  const found = data.happenings.slice(upTo(times, from - 1), upTo(times, to));
  const inOrder = [...found.filter(([, kind]) => !MINOR.includes(kind)), ...found.filter(([, kind]) => MINOR.includes(kind))];
  return inOrder.map(([at, kind, words]) => {
    const x = xOf(at);
    const wide = words.length * LETTER;
    const start = x + 3 + wide <= WIDTH ? x + 3 : x - 3 - wide;
    const isFree = (row) => row.every(([left, right]) => start > right || start + wide < left);
    const row = start < 0 ? -1 : rows.findIndex(isFree);
    if (row >= 0) rows[row].push([start, start + wide]);
    return [x, words, row, start, kind];
  });
}

function makeZoom(room, jump) {
  let [bounds, data, cursor, line, shown] = [null, null, null, null, 0];
  const xOf = (at) => LEFT + ((WIDTH - LEFT - RIGHT) * (at - bounds[0])) / (bounds[1] - bounds[0]);
  const is = () => bounds !== null && bounds[1] - bounds[0] < data.end;

  function redraw() {
    room.hidden = !is();
    cursor.frame(is() ? bounds : null);
    room.replaceChildren();
    if (!is()) return;
    const top = ROWS * LINE + 6;
    const bottom = top + data.clusters.length * (BAR + 6);
    const svg = draw("svg", room, { viewBox: `0 0 ${WIDTH} ${bottom + 26}`, class: "labkit", "aria-hidden": "true" });
    data.clusters.forEach(([name, spans], place) => {
      const y = top + place * (BAR + 6);
      draw("text", svg, { x: LEFT - 10, y: y + 16, class: "end" }, name);
      spans.forEach(([since, what, words], number) => {
        const from = Math.max(xOf(since), LEFT);
        const to = Math.min(xOf(spans[number + 1]?.[0] ?? data.end), WIDTH - RIGHT);
        if (to <= from) return;
        draw("rect", svg, { x: from, y, width: to - from, height: BAR, class: `bar ${what}` });
        if (words.length * LETTER < to - from - 8) draw("text", svg, { x: from + 4, y: y + 16, class: "on" }, words);
      });
    });
    placed(data, bounds, xOf).forEach(([x, words, row, start, kind]) => {
      draw("path", svg, { d: `M${x} ${row < 0 ? top - 6 : row * LINE + 4}V${bottom}`, class: kind === "fault" ? "mark fault" : "mark" });
      if (row >= 0) draw("text", svg, { x: start, y: row * LINE + 14 }, words);
    });
    draw("path", svg, { d: `M${LEFT} ${bottom}H${WIDTH - RIGHT}`, class: "mark" });
    ticksOf(bounds).forEach((at) => {
      draw("path", svg, { d: `M${xOf(at)} ${bottom}v5`, class: "mark" });
      draw("text", svg, { x: xOf(at), y: bottom + 19, class: "mid" }, `${Number((at / 1e6).toFixed(6))} s`);
    });
    line = draw("path", svg, { d: `M0 0V${bottom}`, class: "cursor" });
    svg.addEventListener("pointerdown", (event) => {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * WIDTH;
      jump(bounds[0] + ((x - LEFT) / (WIDTH - LEFT - RIGHT)) * (bounds[1] - bounds[0]));
    });
    line.setAttribute("transform", `translate(${xOf(shown)})`);
  }

  function put(at) {
    shown = at;
    if (!is()) return;
    if (at < bounds[0] || at > bounds[1]) { bounds = zoomed(bounds, at, 1, data.end); redraw(); }
    line.setAttribute("transform", `translate(${xOf(at)})`);
  }

  function set(next) {
    bounds = next;
    redraw();
    return is() ? `shown large: from ${inSeconds(bounds[0])} to ${inSeconds(bounds[1])}` : "the whole run is shown";
  }

  return {
    load(other, its) { [data, cursor] = [other, its]; if (bounds) redraw(); },
    put,
    by: (factor) => set(zoomed(bounds ?? [0, data.end], shown, factor, data.end)),
    brush(one, other) {
      const words = set(zoomed([Math.min(one, other), Math.max(one, other)], (one + other) / 2, 1, data.end));
      if (shown < bounds[0] || shown > bounds[1]) jump(bounds[0]);
      return words;
    },
    bounds: () => bounds,
  };
}

export { makeZoom, placed, ticksOf, zoomed };
