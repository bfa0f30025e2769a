// Beside: another run under the first, shown at the same instant; where the two part is marked in both timelines.

import { makeMap } from "./map.js";
import { gotAt, readRun, sentenceAt } from "./run.js";

// The other run of a page; `makeCursor` draws the cursor of its timeline, `point` is called with an instant chosen there.
function makeBeside(data, pace, makeCursor, point) {
  const run = readRun(data);
  const find = (name) => document.getElementById(`${name}-beside`);
  const map = makeMap(find("map"), run);
  const cursor = makeCursor(find("time"), data, pace);
  cursor.onPoint(point);

  function show(instant) {
    const at = Math.min(instant, data.end);
    map.show(at);
    const ended = instant > data.end ? "This run has ended. " : "";
    const sentence = `${ended}${sentenceAt(run, at)} Clients and operators: ${gotAt(run, at)}`;
    cursor.put(at, sentence);
    find("said").textContent = sentence;
    return sentence;
  }

  return { run, show };
}

export { makeBeside };
