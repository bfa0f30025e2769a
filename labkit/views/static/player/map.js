// The map of a played run: sites, lines and hosts stand still; nodes, lines and messages are drawn for an instant.
//
// 1. What something is, a shape, a letter or a word says; colour only repeats it.
// 2. Messages of interest are large, others small.  Of several at one place how many they are stands beside them.  Each direction of a line is a line of its own, and what has gone half
//    of its way stands in the middle of what is drawn of it.

import { justLost, onTheWay, shareOf } from "./run.js";
import { percent } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const LETTERS = { active: "A", standby: "s", sealed: "#", paused: "‖", down: "d" };
const BESIDE = 5;
const WIDE = 668;
const ASIDE = 24;
const SHAPES = ["M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z", "M0-6L6 5H-6z", "M-5-5H5V5H-5z", "M0-6L6 0L0 6L-6 0z"];
const CROSS = "M-5-5L5 5M-5 5L5-5";

function draw(name, parent, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  parent.append(made);
  return made;
}

// The way from one host to another: the line between their sites where there is one.
function pathOf(data, source, target) {
  const [[, , x1, y1, from], [, , x2, y2, to]] = [data.hosts[source], data.hosts[target]];
  const line = data.stage.lines.find(([a, b]) => (a === from && b === to) || (a === to && b === from));
  if (from === to || !line) return [x1, y1, x2, y2];
  const [, , , ax, ay, bx, by] = line;
  return line[0] === from ? [ax, ay, bx, by] : [bx, by, ax, ay];
}

// The point after a share of a way, a little beside it: each direction has its own side.
function pointOn([x1, y1, x2, y2], share) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  return [x1 + dx * length * share - dy * BESIDE, y1 + dy * length * share + dx * BESIDE];
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
    const lanes = [[b, [x1, y1, x2, y2]], [a, [x2, y2, x1, y1]]].map(([to, way]) => (
      [to, draw("path", ways, { d: `M${pointOn(way, 0)}L${pointOn(way, 1)}`, "stroke-dasharray": words ? "" : "2 5" })]
    ));
    draw("text", svg, { x, y: y + 4, class: "words faint" }, words);
    lineOf.set(`${a} ${b}`, { lanes, words: draw("text", svg, { x, y: y + 20, class: "words alarm" }) });
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
  const [left, top, width, height] = data.stage.view;
  const svg = draw("svg", room, { viewBox: data.stage.view.join(" "), class: "labkit map", role: "presentation" });
  room.style.setProperty("--least", `${Math.ceil((width * 12) / 13)}px`);
  watch(room);
  room.closest(".stage").classList.toggle("wide", width > WIDE);
  room.style.setProperty("--widest", `${Math.round(width * 1.4)}px`);
  const still = drawStill(svg, data);
  const legs = draw("path", svg, { class: "legs" });
  const air = draw("g", svg);
  const many = draw("g", svg);
  const share = draw("text", svg, { class: "words" });
  const paths = data.kinds.map(([source, target]) => pathOf(data, source, target));
  const pool = [];
  let drawn = [];

  function put(number, message, at, crossed, isChosen) {
    const element = pool[number] ?? (pool[number] = draw("path", air));
    const [x, y] = pointOn(paths[run.kind[message]], shareOf(run, message, at));
    const isLarge = run.interesting[message] || crossed || isChosen;
    element.setAttribute("d", crossed ? CROSS : SHAPES[data.kinds[run.kind[message]][5]]);
    element.setAttribute("class", `message${crossed ? " crossed" : ""}${isLarge ? "" : " small"}${isChosen ? " chosen" : ""}`);
    element.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})${isLarge ? "" : " scale(.7)"}`);
    element.setAttribute("visibility", "visible");
    return [x, y];
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
    still.lineOf.forEach(({ lanes, words }, key) => {
      const fault = faults.get(key) ?? faults.get(key.split(" ").reverse().join(" "));
      lanes.forEach(([to, lane]) => {
        const isCut = fault?.cut === "both ways" || fault?.cut === to;
        lane.setAttribute("class", `way${isCut ? " cut" : fault && !fault.cut ? " bad" : ""}`);
      });
      words.textContent = fault ? fault.words : "";
    });
  }

  function show(at, state, chosen = -1) {
    const flying = onTheWay(run, at);
    drawn = [...flying, ...justLost(run, at)];
    const looked = drawn.includes(chosen) ? chosen : drawn.find((message) => run.interesting[message]);
    legs.setAttribute("d", "");
    share.textContent = "";
    many.replaceChildren();
    const spots = new Map();
    drawn.forEach((message, number) => {
      const [x, y] = put(number, message, at, number >= flying.length, message === chosen);
      const spot = [x, y].map(Math.round).join(" ");
      spots.set(spot, (spots.get(spot) ?? 0) + 1);
      if (message === looked) follow(room, [(x - left) / width, (y - top) / height]);
      if (message === chosen) showChosen(message, at, x, y);
    });
    spots.forEach((count, spot) => {
      if (count > 1) draw("text", many, { transform: `translate(${spot})`, x: 14, y: -7, class: "words" }, `${count}×`);
    });
    pool.slice(drawn.length).forEach((element) => element.setAttribute("visibility", "hidden"));
    showState(state);
    return drawn;
  }

  // How far the chosen message has come, and the ways from its hosts to the ends of the line that it is on.
  function showChosen(message, at, x, y) {
    const [source, target] = data.kinds[run.kind[message]].map((place) => data.hosts[place]);
    const path = paths[run.kind[message]];
    legs.setAttribute("d", `M${source.slice(2, 4)}L${pointOn(path, 0)}M${pointOn(path, 1)}L${target.slice(2, 4)}`);
    share.textContent = percent(shareOf(run, message, at));
    share.setAttribute("transform", `translate(${x} ${y - 14})`);
  }

  // The message that is pressed, or -1.
  function messageAt(event) {
    return drawn[pool.indexOf(event.target)] ?? -1;
  }

  return { show, messageAt };
}

const [sizes, shares] = [new WeakMap(), new WeakMap()];

// Keep in mind how large a box and what it holds are, and how far it is scrolled: to ask at each frame would take long.
function watch(room) {
  const look = () => sizes.set(room, [
    ["scrollLeft", room.scrollLeft, room.scrollWidth, room.clientWidth],
    ["scrollTop", room.scrollTop, room.scrollHeight, room.clientHeight],
  ]);
  new ResizeObserver(() => { look(); follow(room); }).observe(room);
  room.addEventListener("scroll", look);
}

// Scroll a box so far that what stands after shares of its width and height is seen, where it is not.
function follow(room, found = shares.get(room) ?? []) {
  sizes.get(room)?.forEach(([name, scrolled, whole, seen], axis) => {
    const place = found[axis] * whole - scrolled;
    if (whole > seen && (place < ASIDE || place > seen - ASIDE)) room[name] += place - seen / 2;
  });
  shares.set(room, found);
}

export { draw, follow, makeMap, pathOf, pointOn, watch };
