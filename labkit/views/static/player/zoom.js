// Zoom: a stretch of the run, large, in the place of the timeline: hosts as lines, messages as slanted lines between them.
//
// 1. What is shown contains the cursor: when that leaves it, the stretch moves along.  A strip below shows where it is.
// 2. Clusters and nodes are drawn as in the whole timeline: the same tones, patterns and lines.
// 3. Words of what happened stand in rows, none over another nor over a stroke; what finds no room is a stroke only.

import { draw, follow, watch } from "./map.js";
import { drawMarks, drawMessages, messageNear, placeMessages, placesOf } from "./space_time.js";
import { inSeconds } from "./words.js";

const [WIDTH, LEFT, RIGHT, BAR, NODE, ROWS, LINE] = [668, 110, 644, 22, 21, 5, 17];
const LINES = { active: ["line-ink", 4], standby: ["line-faint", 1.5], sealed: ["line-sealed", 3, "2 4"], paused: ["line-faint", 3, "1 6"] };
const LEAST = 2000;
const LETTER = 7.2;
const STEPS = [1, 2, 5];
const WEIGHTS = { outage: -1, leader: 1, address: 1, clients: 2, observed: 2 };
const [WORDY, NAME] = [44, 13];

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

const cut = (words, most) => (words.length > most ? `${words.slice(0, most - 1)}…` : words);

// What happened in a stretch: [x, words, row, start, kind]; without room the row is -1.  What weighs most comes first.
// Words stand right of their stroke, or left of it where the picture ends; two letters part them from others.
function placed(data, [from, to], xOf) {
  const taken = [];
  const found = data.happenings.filter(([at]) => from <= at && at <= to);
  const weight = ([, kind]) => WEIGHTS[kind] ?? 0;
  found.sort((one, other) => weight(one) - weight(other));
  return found.map(([at, kind, said]) => {
    const x = xOf(at);
    const words = cut(kind === "outage" ? said.split(":")[0] : said, WORDY);
    const wide = words.length * LETTER;
    const start = x + 3 + wide <= WIDTH ? x + 3 : x - 3 - wide;
    const end = start + wide + 2 * LETTER;
    const isFree = (row) => taken.every((other) => (
      other.row === row ? start > other.end || end < other.start
        : other.row > row ? x <= other.start || x >= other.end : other.x <= start || other.x >= end
    ));
    const row = start < 0 ? -1 : [...Array(ROWS).keys()].findIndex(isFree);
    if (row >= 0) taken.push({ row, start, end, x });
    return [x, words, row, start, kind];
  });
}

// The rows of a stretch, each [name, spans, y, kind], and where they end: clusters with their nodes, then other hosts.
function rowsOf(clusters, others, top) {
  const rows = [];
  let y = top;
  clusters.forEach(([name, spans, nodes]) => {
    rows.push([name, spans, y, "cluster"]);
    y += BAR + 2;
    nodes.forEach(([node, states]) => { rows.push([node, states, y, "node"]); y += NODE; });
    y += 6;
  });
  others.forEach((name) => { rows.push([name, [], y, "host"]); y += NODE; });
  return [rows, y];
}

// What a row was in a stretch: [from, to, what, words], as places.
function piecesOf(spans, xOf, end) {
  return spans.map(([since, what, words], number) => [
    Math.max(xOf(since), LEFT), Math.min(xOf(spans[number + 1]?.[0] ?? end), RIGHT), what, words,
  ]).filter(([from, to]) => to > from);
}

// The parts of stretches without a write that are shown: [from, to, words], as places.
function gapsIn(data, xOf) {
  return data.gaps.flatMap(([from, , , parts]) => parts.map(([to, words], number) => (
    [Math.max(LEFT, xOf(parts[number - 1]?.[0] ?? from)), Math.min(RIGHT, xOf(to)), words]
  ))).filter(([from, to]) => to > from);
}

// What a stretch shows, once: everything but the cursor and the chosen message.  It returns the messages' places.
function drawStretch(svg, run, bounds, xOf) {
  const { data } = run;
  const line = (d, name, width = 1, dashes = "none") => draw("path", svg, { d, class: name, "stroke-width": width, "stroke-dasharray": dashes });
  const words = (x, y, said, name = "halo") => draw("text", svg, { x, y, class: name }, said);
  const inside = (x, to, y, said, name) => { if (said.length * LETTER < to - x - 8) words(x + 4, y, said, name); };
  const gaps = gapsIn(data, xOf);
  const top = ROWS * LINE + 6;
  const { messages, others, note } = placeMessages(run, bounds);
  const [rows, bottom] = rowsOf(data.clusters, others, top + (gaps.length ? BAR : 0));
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${bottom + 60}`);
  placed(data, bounds, xOf).forEach(([x, said, row, start, kind]) => {
    line(`M${x} ${row < 0 ? top - 6 : row * LINE + 4}V${bottom}`, kind === "fault" ? "line-down" : "line-faint");
    if (row >= 0) words(start, row * LINE + 14, said);
  });
  const ends = { xOf, heights: new Map(rows.map(([name, , y]) => [name, y + NODE / 2])), left: LEFT, right: RIGHT };
  const places = placesOf(run, messages, ends);
  drawMessages(run, places, ends, line);
  gaps.forEach(([x, to, said]) => {
    line(`M${x} ${top - 2}H${to}v16H${x}z`, "fill-paper line-down");
    inside(x, to, top + 11, said);
  });
  if (gaps.length) words(LEFT - 10, top + 11, "no write", "end");
  rows.forEach(([name, spans, y, kind]) => {
    words(LEFT - 10, y + 15, cut(name, NAME), "end");
    if (kind === "host") line(`M${LEFT} ${y + NODE / 2}H${RIGHT}`, "line-faint");
    piecesOf(spans, xOf, data.end).forEach(([x, to, what, said]) => {
      if (kind === "node") { if (LINES[what]) line(`M${x} ${y + NODE / 2}H${to}`, ...LINES[what]); return; }
      const solid = what === "primary" || what === "secondary";
      const tone = what === "disabled" ? "faint" : what;
      line(`M${x} ${y}H${to}v${BAR}H${x}z`, solid ? `fill-${tone}` : `fill-paper line-${tone}`, 1.5, what === "sealed" ? "3 3" : "none");
      inside(x, to, y + 16, said, solid ? "fill-on" : "");
    });
  });
  const mark = line("", "line-ink", 4);
  drawMarks(run, places, ends, line);
  line(`M${LEFT} ${bottom}H${RIGHT}`, "line-faint");
  ticksOf(bounds).forEach((at) => {
    line(`M${xOf(at)} ${bottom}v5`, "line-faint");
    words(xOf(at), bottom + 19, `${Number((at / 1e6).toFixed(6))} s`, "mid");
  });
  words(LEFT, bottom + 36, note, "faint");
  const [first, last] = bounds.map((at) => LEFT + ((RIGHT - LEFT) * at) / data.end);
  words(LEFT - 10, bottom + 53, "whole run", "end");
  line(`M${LEFT} ${bottom + 49}H${RIGHT}`, "line-faint", 2);
  line(`M${first - 2} ${bottom + 49}H${last + 2}`, "line-ink", 8);
  return { top, bottom, places, mark };
}

function makeZoom(room, point) {
  watch(room);
  let [bounds, run, line, shown, chosen, drawn] = [null, null, null, 0, -1, null];
  const xOf = (at) => LEFT + ((RIGHT - LEFT) * (at - bounds[0])) / (bounds[1] - bounds[0]);
  const is = () => bounds !== null && bounds[1] - bounds[0] < run.data.end;

  function redraw() {
    room.hidden = !is();
    room.parentNode.classList.toggle("zoomed", is());
    room.replaceChildren();
    if (!is()) return;
    const svg = draw("svg", room, { class: "labkit", "aria-hidden": "true" });
    drawn = drawStretch(svg, run, bounds, xOf);
    line = draw("path", svg, { d: `M-5 ${drawn.top - 10}h10l-5 8V${drawn.bottom}v-${drawn.bottom - drawn.top + 2}z`, class: "cursor fill-ink" });
    const pressed = (event) => {
      const box = svg.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top].map((one) => (one / box.width) * WIDTH);
      const message = event.type === "pointerdown" ? messageNear(drawn.places, x, y) : -1;
      const at = bounds[0] + ((x - LEFT) / (RIGHT - LEFT)) * (bounds[1] - bounds[0]);
      if (event.type === "pointerdown" || event.buttons) point(Math.max(bounds[0], Math.min(bounds[1], at)), message);
    };
    ["pointerdown", "pointermove"].forEach((kind) => svg.addEventListener(kind, pressed));
    put(shown, chosen);
  }

  function put(at, message) {
    [shown, chosen] = [at, message];
    if (!is()) return;
    if (at < bounds[0] || at > bounds[1]) { bounds = zoomed(bounds, at, 1, run.data.end); redraw(); return; }
    line.setAttribute("transform", `translate(${xOf(at)})`);
    const place = drawn.places.find((one) => one.message === message);
    drawn.mark.setAttribute("d", place ? `M${place.ends.slice(0, 2)}L${place.ends.slice(2)}` : "");
    follow(room, [xOf(at) / WIDTH]);
  }

  function set(next) {
    bounds = next;
    redraw();
    return is() ? `shown large: from ${inSeconds(bounds[0])} to ${inSeconds(bounds[1])}` : "the whole run is shown";
  }

  return {
    load(other) { run = other; if (bounds) redraw(); },
    put,
    by: (factor) => set(zoomed(bounds ?? [0, run.data.end], shown, factor, run.data.end)),
    brush(one, other) {
      const words = set(zoomed([Math.min(one, other), Math.max(one, other)], (one + other) / 2, 1, run.data.end));
      if (shown < bounds[0] || shown > bounds[1]) point(bounds[0], -1);
      return words;
    },
    bounds: () => bounds,
  };
}

export { gapsIn, makeZoom, piecesOf, placed, rowsOf, ticksOf, zoomed };
