// The player: one instant, shown by map, timeline, table and sentence; it moves by playing, by steps and by a click.
//
// 1. Space plays and pauses; left and right step by event; Page Up and Down to what happened; Home and End to the ends.
//    t: true pace; + and -: faster, slower; Enter asks; on the map up and down choose a message.
// 2. While it plays nothing is spoken: the sentence goes to the live region at pauses only.
// 3. Where motion is to be reduced, playing goes from event to event.

import { makeAnswer } from "./answer.js";
import { makeBeside } from "./beside.js";
import { legendOf, makeMap } from "./map.js";
import { breaksOf, instantAt, readPace, shownAt, speedAt, speedWords } from "./pace.js";
import { makeTrees } from "./trees.js";
import { makeZoom } from "./zoom.js";
import { firstOfInterest, gotAt, inSeconds, messageWords, readRun, sentenceAt, stateAt, stopBeside } from "./run.js";

const STEP_MS = 1200;
const FACTORS = [0.1, 0.25, 0.5, 1, 2, 4, 10];
const find = (name) => document.getElementById(name);

function startPlayer(given) {
  let data, run, pace, map, trees, cursor, rows, happenings, answer, beside, end, stops;
  const zoom = makeZoom(find("zoom"), (instant) => { pause(); chosen = -1; show(instant); });
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const figures = { frames: 0, spent: 0 };
  let [at, playing, truly, factor, chosen, drawn, then, marked] = [0, false, false, 3, -1, [], 0, null];

  // Show another run, or the same one grown, from what its page has of it: its data, its timeline and its tables.
  function load(other) {
    data = other;
    run = readRun(data);
    pace = readPace(data.pace);
    find("map").replaceChildren();
    map = makeMap(find("map"), run);
    if (data.trees) find("trees").replaceChildren();
    trees = data.trees && makeTrees(find("trees"), data);
    cursor = makeCursor(find("time"), data, pace);
    cursor.onPoint((instant) => { pause(); chosen = -1; show(instant); }, (...ends) => speak(zoom.brush(...ends)));
    zoom.load(data, cursor);
    end = Math.max(data.end, data.beside?.end ?? 0);
    beside = data.beside && makeBeside(data.beside, pace, makeCursor, (instant) => { pause(); chosen = -1; show(instant); });
    stops = beside ? Float64Array.from(new Set([...run.stops, ...beside.run.stops, data.apart ?? 0])).sort() : run.stops;
    rows = [...document.querySelectorAll("#happened tbody tr")];
    happenings = Float64Array.from(new Set(run.happened)).sort();
    answer = makeAnswer(find("answer"), run, (instant) => { pause(); show(instant); });
    [chosen, marked] = [-1, null];
    table(rows, (happening) => { show(run.happened[happening]); ask({ happening }); });
    table([...document.querySelectorAll("#lost tbody tr")], (loss) => { show(data.losses[loss][0]); ask({ loss }); });
    find("legend").replaceChildren(...legendOf(data).map((words) => Object.assign(document.createElement("span"), { textContent: words })));
  }

  function show(instant, spoken = true) {
    at = Math.max(0, Math.min(instant, end));
    const own = Math.min(at, data.end);
    drawn = map.show(own, chosen);
    const other = beside?.show(at);
    const sentence = [at > data.end && "This run has ended.", sentenceAt(run, own), trees?.show(own, downAt(own))].filter(Boolean).join(" ");
    cursor.put(own, sentence);
    zoom.put(own);
    find("said").textContent = sentence;
    find("got").textContent = gotAt(run, own);
    const speed = (truly ? 1 : speedAt(pace, at)) * FACTORS[factor];
    find("speed").textContent = truly && FACTORS[factor] === 1 ? speedWords(1) : speedWords(speed);
    mark(stateAt(run, at).happening);
    if (spoken) find("spoken").textContent = other ? `Here: ${sentence} There: ${other}` : sentence;
  }

  function downAt(instant) {
    return stateAt(run, instant).clusters.filter(({ what }) => what === "down").map(({ name }) => name);
  }

  function mark(happening) {
    const row = rows[happening] ?? null;
    if (row === marked) return;
    marked?.removeAttribute("aria-current");
    row?.setAttribute("aria-current", "true");
    marked = row;
    const box = row?.closest(".table");
    if (box && !box.matches(":hover, :focus-within")) box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }

  function frame(now) {
    if (!playing) return;
    const began = performance.now();
    const passed = Math.min(100, now - then);
    if (still.matches) {
      if (now - then >= STEP_MS) { then = now; show(stopBeside(stops, at, 1), false); }
    } else {
      then = now;
      const forward = truly ? at + passed * 1000 * FACTORS[factor] : instantAt(pace, shownAt(pace, at) + passed * FACTORS[factor]);
      show(Math.max(forward, at), false);
    }
    figures.frames += 1;
    figures.spent += performance.now() - began;
    if (at >= end) pause();
    else requestAnimationFrame(frame);
  }

  function pause() {
    if (!playing) return;
    playing = false;
    label();
    show(at);
  }

  function play() {
    if (playing) { pause(); return; }
    if (at >= end) at = 0;
    playing = true;
    then = performance.now();
    label();
    requestAnimationFrame(frame);
  }

  function label() {
    find("play").textContent = playing ? "Pause" : "Play";
    find("true").setAttribute("aria-pressed", String(truly));
  }

  function speak(words) {
    find("spoken").textContent = words;
  }

  function go(stops, direction) {
    pause();
    chosen = -1;
    show(stopBeside(stops, at, direction));
  }

  function change(by) {
    factor = Math.max(0, Math.min(FACTORS.length - 1, factor + by));
    show(at, !playing);
  }

  // Choose the next message on the map, and say what it is.
  function choose(by) {
    pause();
    const messages = map.show(at);
    if (!messages.length) { find("spoken").textContent = "no message is on its way"; return; }
    chosen = messages[(messages.indexOf(chosen) + by + messages.length) % messages.length] ?? messages[0];
    show(at, false);
    find("said").textContent = messageWords(run, chosen);
    find("spoken").textContent = messageWords(run, chosen);
  }

  function ask(asked) {
    pause();
    answer.show(asked);
  }

  function askHere() {
    if (chosen >= 0) { ask({ message: chosen }); return; }
    const { happening } = stateAt(run, at);
    if (happening >= 0) ask({ happening });
  }

  const acts = {
    " ": play,
    t: () => { truly = !truly; label(); show(at, !playing); },
    "+": () => change(1),
    "-": () => change(-1),
    ArrowRight: () => go(stops, 1),
    ArrowLeft: () => go(stops, -1),
    PageDown: () => go(happenings, 1),
    PageUp: () => go(happenings, -1),
    Home: () => go([0], -1),
    End: () => go([end], 1),
    z: () => speak(zoom.by(0.5)),
    x: () => speak(zoom.by(2)),
    d: () => go([data.apart ?? at], 1),
    Enter: askHere,
  };

  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const moves = event.currentTarget === find("map") && { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const act = moves ? () => choose(moves) : acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  find("map").addEventListener("keydown", onKey);
  find("time").addEventListener("keydown", onKey);
  ["map-beside", "time-beside"].forEach((name) => find(name)?.addEventListener("keydown", onKey));
  find("map").addEventListener("click", (event) => {
    const message = map.messageAt(event);
    if (message >= 0) { chosen = message; show(at); ask({ message }); }
  });
  const buttons = { play, previous: acts.PageUp, next: acts.PageDown, back: acts.ArrowLeft, forward: acts.ArrowRight, slower: acts["-"], faster: acts["+"], true: acts.t, ask: askHere, apart: acts.d, in: acts.z, out: acts.x };
  bar(find("controls"), buttons);
  load(given);
  document.body.classList.remove("still");
  show(data.apart ?? firstOfInterest(run), false);
  return { figures, load, show, pause, at: () => at, end: () => end, drawn: () => drawn, playing: () => playing, get run() { return run; }, zoom };
}

// A row of buttons with one tab stop: left and right go from one to the next.
function bar(element, acts) {
  const buttons = [...element.querySelectorAll("button")];
  buttons.forEach((button, number) => {
    button.tabIndex = number ? -1 : 0;
    button.addEventListener("click", () => acts[button.id]());
    button.addEventListener("focus", () => buttons.forEach((other) => { other.tabIndex = other === button ? 0 : -1; }));
  });
  element.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const number = buttons.indexOf(document.activeElement) + by;
    if (by && buttons[number]) { event.preventDefault(); buttons[number].focus(); }
  });
}

// A table whose rows are asked about, with one tab stop: up and down go from row to row.
function table(rows, asked) {
  rows.forEach((row, number) => {
    row.tabIndex = number ? -1 : 0;
    row.classList.add("askable");
    row.addEventListener("click", () => asked(number));
    row.addEventListener("focus", () => rows.forEach((other) => { other.tabIndex = other === row ? 0 : -1; }));
    row.addEventListener("keydown", (event) => {
      const to = { ArrowDown: number + 1, ArrowUp: number - 1, Home: 0, End: rows.length - 1 }[event.key];
      if (event.key === "Enter") asked(number);
      else if (to === undefined || !rows[to]) return;
      else rows[to].focus();
      event.preventDefault();
    });
  });
}

// The cursor of the timeline, which was drawn before: a line at an instant, and marks where time passes quickly.
function makeCursor(element, data, pace) {
  const svg = element.querySelector("svg");
  const { left, right, top, bottom } = data.axis;
  const xOf = (at) => left + ((right - left) * at) / (data.end || 1);
  const add = (attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "path");
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    svg.append(made);
    return made;
  };
  svg.setAttribute("aria-hidden", "true");
  breaksOf(pace).forEach(([from, to]) => {
    const middle = xOf((from + to) / 2);
    add({ d: `M${middle - 5} ${bottom + 6}l4-12M${middle + 1} ${bottom + 6}l4-12`, class: "break" });
  });
  if (data.apart !== undefined && data.apart !== null) add({ d: `M${xOf(data.apart)} ${top - 8}V${bottom + 8}`, class: "apart" });
  const framed = add({ d: "M0 0", class: "frame" });
  const line = add({ d: `M0 ${top}V${bottom + 8}`, class: "cursor" });
  const places = { role: "slider", "aria-label": "time of the run", "aria-valuemin": 0, "aria-valuemax": data.end / 1e6, tabindex: 0 };
  for (const [key, value] of Object.entries(places)) element.setAttribute(key, value);

  function put(at, words) {
    line.setAttribute("transform", `translate(${xOf(at).toFixed(1)})`);
    element.setAttribute("aria-valuenow", (at / 1e6).toFixed(3));
    element.setAttribute("aria-valuetext", words.slice(0, 200));
  }

  // A stretch that is shown large, as [from, to]; null for none.
  function frame(stretch) {
    const [from, to] = (stretch ?? [0, 0]).map(xOf);
    framed.setAttribute("d", stretch ? `M${from} ${top}H${to}V${bottom}H${from}z` : "M0 0");
  }

  // A press or a drag points at an instant; with the shift key a drag takes a stretch.
  function onPoint(point, brush) {
    const instant = (event) => {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
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
      if (began === null) point(instant(event));
      else frame([Math.min(began, instant(event)), Math.max(began, instant(event))]);
    });
    svg.addEventListener("pointerup", (event) => {
      if (began !== null) brush(began, instant(event));
      began = null;
    });
  }

  return { put, onPoint, frame };
}

export { inSeconds, startPlayer };
