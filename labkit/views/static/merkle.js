// Explores a Merkle index level by level: trees, pages, subpages, keys.  The model gives what merkle_explorer.py made.
//
// 1. One tab stop: the chosen item of the level.  Arrows, Home and End move in it, Enter goes down, Esc up, n to the
//    next item that differs, is damaged or is not folded yet.  Where a level has no item, the board has the focus.
// 2. What an item is, it says by a sign and in words; colour only repeats it.
// 3. What was chosen, and what came of it, goes to one live region.

const SIGNS = { damaged: "×", differs: "≠", pending: "…" };
const SIDE = 16;
const LEGEND = "× damaged   ≠ differs   … not folded yet   ▪ has leaves";
const KEYS = "Arrows, Home, End: move. Enter: into it. Esc: back. n: next that is marked.";

function make(name, parent, attributes = {}, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  parent.append(made);
  return made;
}

// The words of an item's states, damage first.
function said(states) {
  return states.map((state) => (state === "pending" ? "not folded yet" : state)).join(", ");
}

function leavesOf(count) {
  return `${count} ${count === 1 ? "leaf" : "leaves"}`;
}

// 256 items of a grid from the few that are not empty, each [number, leaves, states].
function gridItems(cells, what) {
  const known = new Map(cells.map(([number, leaves, states]) => [number, { leaves, states }]));
  return Array.from({ length: SIDE * SIDE }, (_, number) => {
    const { leaves, states } = known.get(number) ?? { leaves: 0, states: [] };
    const words = [`${what} ${number}`, leavesOf(leaves), said(states)].filter(Boolean).join(", ");
    return { text: SIGNS[states[0]] ?? (leaves ? "▪" : ""), words, states, number };
  });
}

// What a place shows: the path to it, a sentence, its items, and in how many columns they stand.
function levelOf(index, page, place) {
  if (place.length === 0) {
    const items = index.trees.map((tree, number) => {
      const words = [`${tree.name} tree`, leavesOf(tree.leaves), said(tree.states)].filter(Boolean).join(", ");
      return { text: `${SIGNS[tree.states[0]] ?? ""} ${words}`, detail: tree.digest, words, states: tree.states, number };
    });
    return { kind: "trees", words: index.summary, columns: 2, items };
  }
  const tree = index.trees[place[0]];
  if (place.length === 1) {
    const words = `${tree.name} tree: 256 pages, ${tree.pages.filter((cell) => cell[2].length).length} marked`;
    return { kind: "pages", words, columns: SIDE, items: gridItems(tree.pages, "page") };
  }
  if (place.length === 2) {
    const marked = page.subpages.filter((cell) => cell[2].length).length;
    const words = `page ${place[1]}: 256 subpages, ${marked} marked, ${leavesOf(page.leaves.length)}`;
    return { kind: "subpages", words, columns: SIDE, items: gridItems(page.subpages, "subpage") };
  }
  const leaves = page.leaves.filter((leaf) => leaf.subpage === place[2]);
  const items = leaves.map((leaf, number) => {
    const states = leaf.differs ? ["differs"] : [];
    const words = [leaf.name, said(states)].filter(Boolean).join(", ");
    const detail = `here ${leaf.here || "nothing"}${leaf.compared ? `, there ${leaf.there || "nothing"}` : ""}`;
    return { text: `${SIGNS[states[0]] ?? "▪"} ${leaf.name}`, detail, words: `${words}, ${detail}`, states, number };
  });
  return { kind: "keys", words: `subpage ${place[2]}: ${items.length} ${items.length === 1 ? "key" : "keys"}`, columns: 1, items };
}

function crumbs(index, place) {
  const names = [`${index.cluster}'s index`];
  if (place.length > 0) names.push(`${index.trees[place[0]].name} tree`);
  if (place.length > 1) names.push(`page ${place[1]}`);
  if (place.length > 2) names.push(`subpage ${place[2]}`);
  return names;
}

// Where a key leads from an item; null for a key that does not move.
function moved(key, at, columns, count) {
  const row = at - (at % columns);
  const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - columns, ArrowDown: at + columns };
  const ends = { Home: row, End: Math.min(row + columns, count) - 1 };
  if (key in ends) return ends[key];
  if (!(key in steps)) return null;
  return steps[key] < 0 || steps[key] >= count ? at : steps[key];
}

function nextMarked(items, at) {
  for (let step = 1; step <= items.length; step += 1) {
    const place = (at + step) % items.length;
    if (items[place].states.length) return place;
  }
  return null;
}

function render({ model, el }) {
  const root = make("div", el, { class: "labkit-merkle", role: "group" });
  const title = make("p", root, { class: "title" });
  const path = make("nav", root, { "aria-label": "where in the index" });
  const words = make("p", root, { class: "words" });
  const board = make("div", root, { class: "board" });
  make("p", root, { class: "legend" }, LEGEND);
  make("p", root, { class: "legend" }, KEYS);
  const live = make("p", root, { class: "live", role: "status", "aria-live": "polite" });
  let place = [];
  let chosen = [0];
  let wanted = null;

  const current = () => levelOf(model.get("index"), model.get("page"), place);
  const say = (text) => { live.textContent = text; };

  function choose(at, focus = true) {
    const cells = board.querySelectorAll("[data-at]");
    cells.forEach((cell, number) => cell.setAttribute("tabindex", number === at ? "0" : "-1"));
    chosen[place.length] = at;
    if (cells.length) board.removeAttribute("tabindex");
    else board.setAttribute("tabindex", "0");
    if (focus) (cells[at] ?? board).focus();
  }

  function draw(focus) {
    const index = model.get("index");
    const level = current();
    title.textContent = index.title;
    root.setAttribute("aria-label", index.title);
    words.textContent = level.words;
    path.replaceChildren();
    crumbs(index, place).forEach((name, depth) => {
      if (depth) make("span", path, { "aria-hidden": "true" }, " › ");
      const here = depth === place.length;
      const crumb = make("span", path, here ? { class: "crumb", "aria-current": "true" } : { class: "crumb up" }, name);
      if (!here) crumb.addEventListener("click", () => goTo(place.slice(0, depth)));
    });
    board.replaceChildren();
    const grid = make("div", board, { role: "grid", class: `grid ${level.kind}`, "aria-label": level.words });
    for (let at = 0; at < level.items.length; at += level.columns) {
      const row = make("div", grid, { role: "row" });
      level.items.slice(at, at + level.columns).forEach((item, step) => drawItem(row, item, at + step));
    }
    choose(Math.min(chosen[place.length] ?? 0, Math.max(0, level.items.length - 1)), focus);
  }

  function drawItem(row, item, at) {
    const name = ["cell", ...item.states].join(" ");
    const cell = make("div", row, { role: "gridcell", class: name, "data-at": at, "aria-label": item.words, title: item.words });
    make("span", cell, { "aria-hidden": "true" }, item.text);
    if (item.detail) make("small", cell, { "aria-hidden": "true" }, item.detail);
    cell.addEventListener("click", () => { choose(at); enter(); });
  }

  function goTo(next) {
    place = next;
    chosen = chosen.slice(0, place.length + 1);
    draw(true);
    say(current().words);
  }

  // Go into the chosen item: a page that is not here yet is asked for, and shown when it comes.
  function enter() {
    const level = current();
    const item = level.items[chosen[place.length]];
    if (!item || level.kind === "keys") return say(item ? item.words : level.words);
    const next = [...place, item.number];
    if (next.length !== 2) return goTo(next);
    const page = model.get("page");
    const tree = model.get("index").trees[next[0]].name;
    if (page.tree === tree && page.number === next[1]) return goTo(next);
    wanted = next;
    say(`page ${next[1]} is asked for`);
    return model.send({ tree, page: next[1] });
  }

  function leave() {
    if (place.length) goTo(place.slice(0, -1));
  }

  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const level = current();
    const at = chosen[place.length] ?? 0;
    const to = event.key === "n" ? nextMarked(level.items, at) : moved(event.key, at, level.columns, level.items.length);
    if (event.key === "Enter" || event.key === " ") enter();
    else if (event.key === "Escape") leave();
    else if (event.key === "n" && to === null) say("nothing is marked here");
    else if (to !== null && level.items.length) choose(to);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function onPage() {
    const page = model.get("page");
    const tree = wanted && model.get("index").trees[wanted[0]].name;
    if (wanted && page.tree === tree && page.number === wanted[1]) {
      const next = wanted;
      wanted = null;
      goTo(next);
    }
  }

  function onNote() {
    wanted = null;
    say(model.get("note"));
  }

  // No key is a command of the notebook around it, which looks for one from the focused element outwards.
  root.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
  board.addEventListener("keydown", onKey);
  model.on("change:page", onPage);
  model.on("change:note", onNote);
  draw(false);
  return () => {
    model.off("change:page", onPage);
    model.off("change:note", onNote);
  };
}

export { levelOf, moved, nextMarked };
export default { render };
