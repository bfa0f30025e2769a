// The map of a played run: sites, lines and hosts stand still; nodes, lines and messages are drawn for an instant.
//
// 1. What something is, a shape, a letter or a word says; colour only repeats it.
// 2. Messages of interest are large, others small.  Each way of a line has its own side.

import { justLost, onTheWay, shareOf, stateAt } from "./run.js";

const SVG = "http://www.w3.org/2000/svg";
const LETTERS = { active: "A", standby: "s", sealed: "#", paused: "‖", down: "d" };
const BESIDE = 6;
const WIDE = 668;
const SHAPES = {
  request: ["circle", "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z"],
  response: ["triangle", "M0-6L6 5H-6z"],
  replication: ["square", "M-5-5H5V5H-5z"],
  other: ["diamond", "M0-6L6 0L0 6L-6 0z"],
};
const WORDS = { request: "request", response: "answer", replication: "between clusters", other: "other message" };
const CROSS = "M-5-5L5 5M-5 5L5-5";

function draw(name, parent, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  parent.append(made);
  return made;
}

// The shape of a message by what it is and between whom.
function shapeOf(data, kind) {
  const [source, target, what] = data.kinds[kind];
  const name = data.whats[what];
  if (name === "request" || name === "forwarded_request") return "request";
  if (name === "response" || name === "forwarded_answer") return "response";
  return data.hosts[source][1] === "node" && data.hosts[target][1] === "node" ? "replication" : "other";
}

// What a legend names: the shapes and node states that occur in a run.
function legendOf(data) {
  const shapes = new Set(data.kinds.map((kind, place) => shapeOf(data, place)));
  const states = new Set(data.clusters.flatMap(([, , nodes]) => nodes.flatMap(([, spans]) => spans.map((span) => span[1]))));
  const words = Object.keys(LETTERS).filter((state) => states.has(state)).map((state) => `${LETTERS[state]} ${state}`);
  Object.keys(SHAPES).filter((shape) => shapes.has(shape)).forEach((shape) => words.push(`${SHAPES[shape][0]}: ${WORDS[shape]}`));
  if (data.kinds.some((kind) => kind[3])) words.push("hollow, then a cross: lost on its way");
  if (data.lines.some((line) => line[5])) words.push("broken line: cut");
  return words;
}

// The corners of the way from one host to another: along the line between their sites where there is one.
function pathOf(data, source, target) {
  const [[, , x1, y1, from], [, , x2, y2, to]] = [data.hosts[source], data.hosts[target]];
  const line = data.stage.lines.find(([a, b]) => (a === from && b === to) || (a === to && b === from));
  if (from === to || !line) return [[x1, y1], [x2, y2]];
  const ends = [[line[3], line[4]], [line[5], line[6]]];
  return [[x1, y1], ...(line[0] === from ? ends : ends.reverse()), [x2, y2]];
}

// The point after a share of a way, a little beside it: each direction has its own side.
function pointOn(path, share) {
  const lengths = path.slice(1).map(([x, y], place) => Math.hypot(x - path[place][0], y - path[place][1]) || 1);
  let left = share * lengths.reduce((sum, one) => sum + one, 0);
  let place = 0;
  while (place < lengths.length - 1 && left > lengths[place]) { left -= lengths[place]; place += 1; }
  const [[x1, y1], [x2, y2]] = [path[place], path[place + 1]];
  const [dx, dy] = [(x2 - x1) / lengths[place], (y2 - y1) / lengths[place]];
  return [x1 + dx * left - dy * BESIDE, y1 + dy * left + dx * BESIDE];
}

function drawStill(svg, data) {
  const { sites, clusters, groups, lines } = data.stage;
  const lineOf = new Map();
  const ways = draw("g", svg);
  sites.forEach(([name, x, y, width, height]) => {
    draw("rect", svg, { x, y, width, height, rx: 10, class: "site" });
    draw("text", svg, { x: x + width / 2, y: y + 24, class: "name" }, name);
  });
  lines.forEach(([a, b, words, x1, y1, x2, y2, x, y]) => {
    const line = draw("path", ways, { d: `M${x1} ${y1}L${x2} ${y2}`, class: "way" });
    draw("text", svg, { x, y: y + 4, class: "words faint" }, words);
    lineOf.set(`${a} ${b}`, { line, words: draw("text", svg, { x, y: y + 20, class: "words alarm" }) });
  });
  groups.forEach(([words, x, y]) => draw("text", svg, { x, y, class: "faint" }, words));
  const said = new Map(clusters.map(([name, x, y]) => [name, [
    draw("text", svg, { x, y }), draw("text", svg, { x, y: y + 17, class: "faint" }),
  ]]));
  const nodes = new Map();
  data.hosts.forEach(([name, kind, x, y]) => {
    if (kind !== "node") {
      draw("rect", svg, { x: x - 6, y: y - 6, width: 12, height: 12, class: "host" });
      return;
    }
    const circle = draw("circle", svg, { cx: x, cy: y, r: 12 });
    nodes.set(name, [circle, draw("text", svg, { x, y: y + 5, class: "letter" })]);
    draw("text", svg, { x, y: y + 27, class: "faint" }, name.slice(name.lastIndexOf("-") + 1));
  });
  return { lineOf, said, nodes };
}

// A map that shows any instant; `show` returns what is on its way then.
function makeMap(room, run) {
  const { data } = run;
  const [, , width] = data.stage.view;
  const svg = draw("svg", room, { viewBox: data.stage.view.join(" "), class: "labkit map", role: "presentation" });
  room.style.setProperty("--least", `${Math.ceil((width * 12) / 13)}px`);
  room.closest(".stage").classList.toggle("wide", width > WIDE);
  room.style.setProperty("--widest", `${Math.round(width * 1.4)}px`);
  const still = drawStill(svg, data);
  const air = draw("g", svg);
  const shapes = data.kinds.map((kind, place) => shapeOf(data, place));
  const paths = data.kinds.map(([source, target]) => pathOf(data, source, target));
  const pool = [];
  let drawn = [];

  function put(number, message, at, crossed, chosen) {
    const element = pool[number] ?? (pool[number] = draw("path", air));
    const [x, y] = pointOn(paths[run.kind[message]], shareOf(run, message, at));
    const lost = data.kinds[run.kind[message]][3];
    const names = ["message", shapes[run.kind[message]]];
    if (lost) names.push(crossed ? "crossed" : "lost");
    if (!run.interesting[message]) names.push("small");
    if (message === chosen) names.push("chosen");
    element.setAttribute("d", crossed ? CROSS : SHAPES[shapes[run.kind[message]]][1]);
    element.setAttribute("class", names.join(" "));
    element.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})${run.interesting[message] || crossed ? "" : " scale(.7)"}`);
    element.setAttribute("visibility", "visible");
    drawn.push(message);
  }

  function showState(state) {
    state.clusters.forEach(({ name, what, words, nodes }) => {
      const [first, second] = still.said.get(name);
      const [mode, ...more] = words.split(/, |: /);
      first.textContent = `${name}: ${mode}`;
      second.textContent = more.join(", ");
      nodes.forEach(([node, is]) => {
        const [circle, letter] = still.nodes.get(node);
        circle.setAttribute("class", `node fill-${is === "active" ? what : is === "sealed" || is === "down" ? is : "paper"}`);
        letter.setAttribute("class", is === "standby" || is === "paused" ? "letter" : "letter on");
        letter.textContent = LETTERS[is] ?? "";
      });
    });
    const faults = new Map(state.lines.map((line) => [`${line.a} ${line.b}`, line]));
    still.lineOf.forEach(({ line, words }, key) => {
      const fault = faults.get(key) ?? faults.get(key.split(" ").reverse().join(" "));
      line.setAttribute("class", fault ? (fault.cut ? "way cut" : "way bad") : "way");
      words.textContent = fault ? fault.words : "";
    });
  }

  function show(at, chosen = -1) {
    drawn = [];
    const flying = onTheWay(run, at);
    const lost = justLost(run, at);
    flying.forEach((message, number) => put(number, message, at, false, chosen));
    lost.forEach((message, number) => put(flying.length + number, message, at, true, chosen));
    for (let number = drawn.length; number < pool.length; number += 1) pool[number].setAttribute("visibility", "hidden");
    showState(stateAt(run, at));
    return drawn;
  }

  // The message that is drawn nearest to a point of the page, or -1.
  function messageAt(event) {
    const number = pool.indexOf(event.target);
    return number >= 0 && number < drawn.length ? drawn[number] : -1;
  }

  return { show, messageAt, pool };
}

export { draw, legendOf, makeMap, pathOf, pointOn, shapeOf };
