// Beside: another run under the first, shown at the same instant; where the two part is marked in both timelines.

import { makeMap } from "./map.js";
import { readRun, stateAt } from "./run.js";
import { makeCursor } from "./timeline.js";
import { gotAt, sentenceAt } from "./words.js";

// The other run of a page; `point` is called with an instant that is chosen in its timeline.
function makeBeside(data, pace, point) {
  const run = readRun(data);
  const find = (name) => document.getElementById(`${name}-beside`);
  const map = makeMap(find("map"), run);
  const cursor = makeCursor(find("time"), data, pace);
  cursor.onPoint(point);

  function show(instant) {
    const at = Math.min(instant, data.end);
    const state = stateAt(run, at);
    map.show(at, state);
    const ended = instant > data.end ? "This run has ended. " : "";
    const sentence = `${ended}${sentenceAt(run, at, state)} ${gotAt(run, at, state)}`;
    cursor.put(at, sentence);
    find("said").textContent = sentence;
    return sentence;
  }

  return { run, show };
}

export { makeBeside };
