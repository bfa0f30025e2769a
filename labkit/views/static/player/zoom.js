// Zoom: a stretch of the timeline, large, below it; the whole timeline shows which stretch that is.
//
// 1. What is shown contains the cursor: when that leaves it, the stretch moves along.
// 2. Clusters and nodes are drawn as in the whole timeline: the same tones, patterns and lines.
// 3. Words of what happened stand in rows, none over another nor over a stroke; what finds no room is a stroke only.

import { draw } from "./map.js";
import { inSeconds, upTo } from "./run.js";

const [WIDTH, LEFT, RIGHT, BAR, NODE, ROWS, LINE] = [668, 110, 24, 22, 16, 4, 17];
const LINES = { active: ["ink", 5], standby: ["faint", 1.5], sealed: ["sealed", 3, "2 4"], paused: ["faint", 3, "1 6"] };
const HATCH = 7;
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
  const taken = [];
  const times = data.happenings.map(([at]) => at);
  const found = data.happenings.slice(upTo(times, from - 1), upTo(times, to));
  const inOrder = [...found.filter(([, kind]) => !MINOR.includes(kind)), ...found.filter(([, kind]) => MINOR.includes(kind))];
  return inOrder.map(([at, kind, words]) => {
    const x = xOf(at);
    const wide = words.length * LETTER;
    const start = x + 3 + wide <= WIDTH ? x + 3 : x - 3 - wide;
    const isFree = (row) => taken.every((other) => (
      other.row === row ? start > other.end || start + wide < other.start
        : other.row > row ? x <= other.start || x >= other.end : other.x <= start || other.x >= start + wide
    ));
    const row = start < 0 ? -1 : [...Array(ROWS).keys()].findIndex(isFree);
    if (row >= 0) taken.push({ row, start, end: start + wide, x });
    return [x, words, row, start, kind];
  });
}

// A name that fits left of the rows: the middle of a long one is left out.
function fitting(name) {
  const most = Math.floor((LEFT - 14) / LETTER);
  return name.length <= most ? name : `${name.slice(0, Math.ceil(most / 2) - 1)}…${name.slice(1 - Math.floor(most / 2))}`;
}

// The rows of a timeline, each [name, spans, y, is a node], and where they end.
function rowsOf(clusters, top) {
  const rows = [];
  let y = top;
  clusters.forEach(([name, spans, nodes]) => {
    rows.push([name, spans, y, false]);
    y += BAR + 2;
    nodes.forEach(([node, states]) => { rows.push([node, states, y, true]); y += NODE; });
    y += 6;
  });
  return [rows, y];
}

// What a row was in a stretch: [from, to, what, words], as places.
function piecesOf(spans, xOf, end) {
  return spans.map(([since, what, words], number) => [
    Math.max(xOf(since), LEFT), Math.min(xOf(spans[number + 1]?.[0] ?? end), WIDTH - RIGHT), what, words,
  ]).filter(([from, to]) => to > from);
}

// Diagonal strokes over a bar; `crossed` both ways.
function hatched(x, y, to, crossed) {
  let strokes = "";
  for (let at = x - BAR; at < to; at += HATCH) {
    const [from, end] = [Math.max(at, x), Math.min(at + BAR, to)];
    const [low, high] = [BAR + at - from, BAR + at - end];
    strokes += `M${from} ${y + low}L${end} ${y + high}`;
    if (crossed) strokes += `M${from} ${y + BAR - low}L${end} ${y + BAR - high}`;
  }
  return strokes;
}

function drawBar(svg, [x, to, what, words], y) {
  const solid = what === "primary" || what === "secondary";
  const tone = what === "disabled" ? "faint" : what;
  draw("rect", svg, { x, y, width: to - x, height: BAR, class: solid ? `fill-${tone} line-paper` : `fill-paper line-${tone}` });
  if (what === "sealed" || what === "down") draw("path", svg, { d: hatched(x, y, to, what === "down"), class: `line-${tone}` });
  if (words.length * LETTER < to - x - 8) draw("text", svg, { x: x + 4, y: y + 16, class: solid ? "fill-on" : "halo" }, words);
}

function drawNode(svg, [x, to, what], y) {
  if (what === "down") { draw("text", svg, { x: x + 1, y: y + 13, class: "halo fill-down" }, "×"); return; }
  const [tone, width, dashes] = LINES[what];
  draw("path", svg, { d: `M${x} ${y + NODE / 2}H${to}`, class: `line-${tone}`, "stroke-width": width, "stroke-dasharray": dashes ?? "none" });
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
    const [rows, bottom] = rowsOf(data.clusters, top);
    const svg = draw("svg", room, { viewBox: `0 0 ${WIDTH} ${bottom + 26}`, class: "labkit", "aria-hidden": "true" });
    rows.forEach(([name, spans, y, isNode]) => {
      draw("text", svg, { x: LEFT - 10, y: y + (isNode ? 12 : 16), "text-anchor": "end" }, fitting(name));
      piecesOf(spans, xOf, data.end).forEach((piece) => (isNode ? drawNode : drawBar)(svg, piece, y));
    });
    placed(data, bounds, xOf).forEach(([x, words, row, start, kind]) => {
      draw("path", svg, { d: `M${x} ${row < 0 ? top - 6 : row * LINE + 4}V${bottom}`, class: kind === "fault" ? "line-down" : "line-faint" });
      if (row >= 0) draw("text", svg, { x: start, y: row * LINE + 14, class: "halo" }, words);
    });
    draw("path", svg, { d: `M${LEFT} ${bottom}H${WIDTH - RIGHT}`, class: "line-faint" });
    ticksOf(bounds).forEach((at) => {
      draw("path", svg, { d: `M${xOf(at)} ${bottom}v5`, class: "line-faint" });
      draw("text", svg, { x: xOf(at), y: bottom + 19, "text-anchor": "middle" }, `${Number((at / 1e6).toFixed(6))} s`);
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

export { fitting, makeZoom, piecesOf, placed, rowsOf, ticksOf, zoomed };
