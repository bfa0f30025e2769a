// The player: one instant, shown by map, timeline, table and sentence; it moves by playing, by steps and by a click.
//
// 1. Space plays and pauses; left and right step by event, with the shift key by a millisecond; comma and point by what
//    any message does; Page Up and Down to what happened; Home and End to the ends.  t: true pace; + and -: faster,
//    slower; z and x: zoom about the cursor; Enter asks, Escape closes the answer; < and > scroll; on the map
//    up and down choose a message.
// 2. While it plays nothing is spoken: the sentence goes to the live region at pauses only.
// 3. Where motion is to be reduced, playing goes from event to event.

import { makeAnswer } from "./answer.js";
import { makeBeside } from "./beside.js";
import { bar, table } from "./controls.js";
import { makeMap } from "./map.js";
import { instantAt, readPace, shownAt, speedAt, speedWords } from "./pace.js";
import { readRun, sorted, stateAt, stopBeside } from "./run.js";
import { makeCursor } from "./timeline.js";
import { makeTrees } from "./trees.js";
import { gotAt, inSeconds, messageWords, sentenceAt } from "./words.js";
import { makeZoom } from "./zoom.js";

const STEP_MS = 1200;
const FACTORS = [0.1, 0.25, 0.5, 1, 2, 4, 10];
const MILLISECOND = 1000;
const find = (name) => document.getElementById(name);

function startPlayer(given) {
  let data, run, pace, map, trees, cursor, rows, happenings, answer, beside, end, stops;
  const room = find("zoom");
  const zoom = makeZoom(room, (instant, message) => (message < 0 ? point(instant) : choose(message)));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let [at, playing, truly, factor, chosen, drawn, then, marked] = [0, false, false, 3, -1, [], 0, []];

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
    cursor.onPoint(point, (...ends) => speak(zoom.brush(...ends)));
    find("time").append(room);
    zoom.load(run);
    end = Math.max(data.end, data.beside?.end ?? 0);
    beside = data.beside && makeBeside(data.beside, pace, point);
    stops = beside ? sorted([...run.stops, ...beside.run.stops, data.apart ?? 0]) : run.stops;
    rows = [...document.querySelectorAll("#happened tbody tr")];
    happenings = sorted(run.happened);
    answer = makeAnswer(find("answer"), run, (instant) => { pause(); show(instant); });
    [chosen, marked] = [-1, []];
    table(rows, lookAt);
    table([...document.querySelectorAll("#lost tbody tr")], (loss) => { point(data.losses[loss][0]); ask({ loss }); });
    const others = [...document.querySelectorAll("[data-happening]")];
    table(others, (number) => lookAt(Number(others[number].dataset.happening)));
  }

  function show(instant, spoken = true) {
    at = Math.max(0, Math.min(instant, end));
    const own = Math.min(at, data.end);
    const state = stateAt(run, own);
    drawn = map.show(own, state, chosen);
    const other = beside?.show(at);
    const down = state.clusters.filter(({ what }) => what === "down").map(({ name }) => name);
    const ended = at > data.end ? "This run has ended. " : "";
    const about = chosen >= 0 ? `Chosen: ${messageWords(run, chosen, own)}.\n` : "";
    const sentence = ended + about + sentenceAt(run, own, state);
    const pages = trees?.show(own, down) ?? "";
    cursor.put(own, sentence);
    zoom.put(own, chosen);
    find("said").textContent = sentence;
    find("got").textContent = gotAt(run, own, state);
    const speed = (truly ? 1 : speedAt(pace, at)) * FACTORS[factor];
    find("speed").textContent = playing && !truly ? "slow where it matters, else quick" : speedWords(speed);
    mark(state.happenings.map((place) => rows[place]).filter(Boolean));
    if (spoken) speak(other ? `Here: ${sentence} ${pages} There: ${other}` : `${sentence} ${pages}`.trim());
  }

  function mark(now) {
    if (now[0] === marked[0]) return;
    marked.forEach((row) => row.removeAttribute("aria-current"));
    now.forEach((row) => row.setAttribute("aria-current", "true"));
    marked = now;
    const box = now[0]?.closest(".table");
    if (box && !box.matches(":hover, :focus-within")) box.scrollTop = now[0].offsetTop - box.clientHeight / 2;
  }

  function frame(now) {
    if (!playing) return;
    const passed = Math.min(100, now - then);
    if (still.matches) {
      if (now - then >= STEP_MS) { then = now; show(stopBeside(stops, at, 1), false); }
    } else {
      then = now;
      const forward = truly ? at + passed * 1000 * FACTORS[factor] : instantAt(pace, shownAt(pace, at) + passed * FACTORS[factor]);
      show(Math.max(forward, at), false);
    }
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
    leave();
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

  // Nothing is chosen any more, and what was asked is not of now.
  function leave() {
    chosen = -1;
    answer.hide();
  }

  function point(instant) {
    pause();
    leave();
    show(instant);
  }

  function go(stops, direction) {
    point(stopBeside(stops, at, direction));
  }

  function change(by) {
    factor = Math.max(0, Math.min(FACTORS.length - 1, factor + by));
    show(at, !playing);
  }

  // Choose a message, and say what it is; the cursor goes where it is on its way, or was lost.
  function choose(message) {
    pause();
    chosen = message;
    const isHere = run.sent[message] <= at && at < run.gone[message];
    show(isHere || drawn.includes(message) ? at : run.sent[message] + (run.gone[message] - run.sent[message]) / 2);
    ask({ message });
  }

  // Choose the next message on the map.
  function chooseNext(by) {
    pause();
    if (!drawn.length) { speak("no message is on its way"); return; }
    answer.hide();
    chosen = drawn[(drawn.indexOf(chosen) + by + drawn.length) % drawn.length] ?? drawn[0];
    show(at, false);
    speak(messageWords(run, chosen, at));
  }

  function ask(asked) {
    pause();
    answer.show(asked);
  }

  function lookAt(happening) {
    point(run.happened[happening]);
    ask({ happening });
  }

  function askHere() {
    if (chosen >= 0) { ask({ message: chosen }); return; }
    const [happening] = stateAt(run, at).happenings;
    if (happening !== undefined) ask({ happening });
  }

  function scroll(by) {
    [find("map"), find("time")].forEach((element) => { element.scrollLeft += by; });
  }

  const acts = {
    " ": play,
    t: () => { truly = !truly; label(); show(at, !playing); },
    "+": () => change(1),
    "-": () => change(-1),
    ArrowRight: () => go(stops, 1),
    ArrowLeft: () => go(stops, -1),
    ShiftArrowRight: () => point(at + MILLISECOND),
    ShiftArrowLeft: () => point(at - MILLISECOND),
    ".": () => go(run.moments, 1),
    ",": () => go(run.moments, -1),
    PageDown: () => go(happenings, 1),
    PageUp: () => go(happenings, -1),
    Home: () => go([0], -1),
    End: () => go([end], 1),
    z: () => speak(zoom.by(0.5)),
    x: () => speak(zoom.by(2)),
    "<": () => scroll(-100),
    ">": () => scroll(100),
    d: () => go([data.apart ?? at], 1),
    Enter: askHere,
  };

  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const moves = event.currentTarget === find("map") && { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const act = moves ? () => chooseNext(moves) : acts[`${event.shiftKey && event.key.startsWith("Arrow") ? "Shift" : ""}${event.key}`];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  ["map", "time", "map-beside", "time-beside"].forEach((name) => find(name)?.addEventListener("keydown", onKey));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") answer.hide(); });
  find("map").addEventListener("click", (event) => {
    const message = map.messageAt(event);
    if (message >= 0) choose(message);
  });
  const buttons = { play, previous: acts.PageUp, next: acts.PageDown, back: acts.ArrowLeft, forward: acts.ArrowRight, slower: acts["-"], faster: acts["+"], true: acts.t, ask: askHere, apart: acts.d, in: acts.z, out: acts.x };
  bar(find("controls"), buttons);
  load(given);
  document.body.classList.remove("still");
  show(data.apart ?? data.first, false);
  return { load, show, pause, at: () => at, end: () => end, drawn: () => drawn, playing: () => playing, get run() { return run; }, zoom };
}

export { inSeconds, startPlayer };
