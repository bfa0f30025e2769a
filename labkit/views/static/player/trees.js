// The trees of a played run: of each secondary the pages that differ from its upstream's at an instant.
//
// 1. Page 4d stands in row 4, column d.  A filled page differs, a cross is damage on purpose that no reindex ended.
// 2. Nothing is known before the record began.  Who follows nobody is compared with nobody: of such a cluster it is said
//    in which pages it differed when it ceased to follow, until the two are compared again.

import { draw } from "./map.js";
import { inSeconds } from "./words.js";

const CELL = 9;
const SIDE = 16;
const EDGE = 14;
const SHOWN = 6;
const NAMED = 5;
const TREE_NAMES = ["replicated", "local"];

const hex = (number) => number.toString(16).padStart(2, "0");

function summedUp(differences) {
  let sum = 0;
  return differences.map((difference) => { sum += difference; return sum; });
}

// The lists of a tree record spelled out.
function readTrees(data) {
  const { apart } = data.trees;
  const took = summedUp(apart.took);
  const spans = summedUp(apart.from).map((from, place) => ({
    pair: apart.pair[place], from, to: from + took[place], pages: summedUp(apart.pages[place]),
  }));
  const compared = data.trees.compared.map(([pair, from, to, left]) => ({ pair, from, to, pages: summedUp(left) }));
  [...spans, ...compared].filter((span) => span.to === data.end).forEach((span) => { span.to += 1; });  // not over yet
  return { ...data.trees, spans, compared };
}

// What each pair is at an instant: its pages that differ while it is compared; when it parted and in which pages, once
// it is not compared any more, either way; and the damage of its secondary.
function treesAt(trees, at) {
  const isNow = ({ from, to }) => from <= at && at < to;
  const now = trees.compared.filter(isNow).map(({ pair }) => trees.pairs[pair]);
  return trees.pairs.map(([cluster, upstream], pair) => {
    const together = now.some((ends) => ends.includes(cluster) && ends.includes(upstream));
    const parted = together ? undefined : trees.compared.filter((one) => one.pair === pair && one.to <= at).pop();
    return {
      cluster,
      upstream,
      compared: trees.compared.some((one) => one.pair === pair && isNow(one)),
      parted: parted ? parted.to : null,
      pages: (parted ? [parted] : trees.spans.filter((span) => span.pair === pair && isNow(span)))
        .flatMap((span) => span.pages).sort((one, other) => one - other),
      damaged: trees.damaged.filter(([name, from, to]) => name === cluster && from <= at && at <= to),
    };
  });
}

// The first few pages by their trees: "replicated 0b, 4d, local 03".
function pageNames(pages) {
  return pages.slice(0, NAMED).map((page, place) => {
    const goesOn = place > 0 && pages[place - 1] >> 8 === page >> 8;
    return `${goesOn ? "" : `${TREE_NAMES[page >> 8]} `}${hex(page & 255)}`;
  }).join(", ");
}

function damageName([, , , layer, tree, page, subpage]) {
  if (layer === "root") return "composite root";
  if (layer === "subtree") return `${TREE_NAMES[tree - 1]} root`;
  const where = tree > 0 ? `${TREE_NAMES[tree - 1]} page ${hex(page)}` : "";
  if (layer === "storage") return where ? `a stored value of ${where}` : "a stored value";
  return layer === "subpage" ? `${where}, subpage ${hex(subpage)}` : where;
}

// Whether anything is to be said of a pair: it is or was compared, or its secondary was damaged.
function isShown({ compared, parted, damaged }) {
  return compared || parted !== null || damaged.length > 0;
}

// One pair in words; `down` are the clusters without an active node.
function pairWords({ cluster, upstream, compared, parted, pages, damaged }, down = []) {
  const struck = damaged.length ? `; damaged on purpose, no reindex since: ${damaged.map(damageName).join("; ")}` : "";
  const tree = `${cluster}'s tree`;
  if (!compared && parted === null) return `${tree} is not compared with ${upstream}'s${struck}`;
  const more = pages.length > NAMED ? ` and ${pages.length - NAMED} more` : "";
  const names = pages.length ? `: ${pageNames(pages)}${more}` : "";
  const count = `${pages.length} page${pages.length === 1 ? "" : "s"}`;
  if (parted !== null) {
    const when = `when it ceased to follow ${upstream}, at ${inSeconds(parted)}`;
    return `${tree}: ${when}, ${pages.length ? `${count} differed` : `every page was as in ${upstream}'s`}${names}${struck}`;
  }
  const whose = down.includes(upstream) ? `what ${upstream} held when it went down` : `${upstream}'s`;
  if (!pages.length) return `${tree}: every page as in ${whose}${damaged.length ? " but where damaged" : ""}${struck}`;
  return `${tree}: ${count} differ${pages.length === 1 ? "s" : ""} from ${whose}${names}${struck}`;
}

function drawGrid(room, words) {
  const size = CELL * SIDE;
  const left = EDGE + 2;
  const [width, height] = [left + size + 2, size + EDGE + 20];
  const svg = draw("svg", room, { viewBox: `0 0 ${width} ${height}`, width, class: "labkit tree", "aria-hidden": "true" });
  draw("text", svg, { x: left, y: 12, class: "start" }, words);
  [0, 4, 8, 12].forEach((step) => {
    const middle = (step + 0.5) * CELL;
    draw("text", svg, { x: left + middle, y: EDGE + 14 }, step.toString(16));
    draw("text", svg, { x: left - 7, y: EDGE + 18 + middle + 4 }, step.toString(16));
  });
  const lines = Array.from({ length: SIDE + 1 }, (_, step) => {
    const at = step * CELL;
    return `M${left + at} ${EDGE + 18}v${size}M${left} ${EDGE + 18 + at}h${size}`;
  });
  const cells = draw("path", svg);
  draw("path", svg, { d: lines.join(""), class: "grid" });
  return { left, cells, crosses: draw("path", svg, { class: "cross" }) };
}

function corner(left, page) {
  return [left + (page % SIDE) * CELL, EDGE + 18 + Math.floor(page / SIDE) * CELL];
}

function drawPair(room, [cluster, upstream]) {
  const figure = document.createElement("figure");
  const grids = TREE_NAMES.map((name) => drawGrid(figure, `${name}: 256 pages`));
  const caption = document.createElement("figcaption");
  figure.append(caption);
  room.append(figure);
  caption.textContent = `${cluster} beside ${upstream}`;
  return { figure, grids, caption };
}

// The trees beside the map; `show` draws an instant and says it, and says nothing where nothing was recorded.
function makeTrees(room, data) {
  const trees = readTrees(data);
  const panels = trees.pairs.slice(0, SHOWN).map((pair) => drawPair(room, pair));
  const note = document.createElement("p");
  room.append(note);
  let shown = null;

  function showPair({ figure, grids, caption }, state, words) {
    figure.hidden = !isShown(state);
    grids.forEach(({ left, cells, crosses }, tree) => {
      const mine = state.pages.filter((page) => page >> 8 === tree).map((page) => page & 255);
      const struck = state.damaged.filter(([, , , , of, page]) => of === tree + 1 && page >= 0).map((one) => one[5]);
      cells.setAttribute("class", state.compared ? "apart" : "parted");
      cells.setAttribute("d", mine.map((page) => { const [x, y] = corner(left, page); return `M${x} ${y}h${CELL}v${CELL}h-${CELL}z`; }).join(""));
      crosses.setAttribute("d", struck.map((page) => { const [x, y] = corner(left, page); return `M${x - 2} ${y - 2}l${CELL + 4} ${CELL + 4}m0-${CELL + 4}l-${CELL + 4} ${CELL + 4}`; }).join(""));
    });
    caption.textContent = `${words}.`;
  }

  // What the signs in the grids mean, of those that are there.
  function legend(states) {
    const signs = [];
    if (states.some(({ compared, pages }) => compared && pages.length)) signs.push("filled: differs");
    if (states.some(({ compared, pages }) => !compared && pages.length)) signs.push("outlined: differed then");
    if (states.some(({ damaged }) => damaged.length)) signs.push("cross: damaged on purpose");
    const left = trees.pairs.length - panels.length;
    if (left > 0) signs.push(`and ${left} more in the sentence`);
    return signs.join("; ");
  }

  function show(at, down) {
    if (at < trees.since) return "The trees were not recorded yet.";
    const states = treesAt(trees, at);
    const words = states.map((state) => pairWords(state, down));
    const said = words.filter((_, place) => isShown(states[place])).map((one) => `${one}.`).join(" ");
    if (said !== shown) {
      panels.forEach((panel, place) => showPair(panel, states[place], words[place]));
      note.textContent = said ? legend(states.filter(isShown)) : "no cluster follows another";
      shown = said;
    }
    return said;
  }

  return { show };
}

export { makeTrees, pairWords, readTrees, treesAt };
