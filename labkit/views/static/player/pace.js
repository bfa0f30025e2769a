// Pace: which instant of a run is on screen after so many milliseconds of playing, and how fast that is, in words.

import { upTo } from "./run.js";

// The stretches as ends: in microseconds of the run, and in milliseconds on screen.
function readPace(stretches) {
  const pace = { to: [0], shown: [0], kinds: [] };
  stretches.forEach(([length, shown, kind], place) => {
    pace.to.push(pace.to[place] + length);
    pace.shown.push(pace.shown[place] + shown);
    pace.kinds.push(kind);
  });
  return pace;
}

function between(value, from, to, onto) {
  const place = Math.max(0, Math.min(upTo(from, value), from.length - 1) - 1);
  const length = from[place + 1] - from[place];
  return length > 0 ? onto[place] + ((value - from[place]) / length) * (to[place + 1] - onto[place]) : onto[place];
}

// The instant after so many milliseconds on screen, and the other way.
function instantAt(pace, shown) {
  return between(shown, pace.shown, pace.to, pace.to);
}

function shownAt(pace, at) {
  return between(at, pace.to, pace.shown, pace.shown);
}

// How many milliseconds of the lab pass in one on screen at an instant.
function speedAt(pace, at) {
  const place = Math.max(0, Math.min(upTo(pace.to, at), pace.to.length - 1) - 1);
  const shown = pace.shown[place + 1] - pace.shown[place];
  return shown > 0 ? (pace.to[place + 1] - pace.to[place]) / 1000 / shown : 1;
}

function rounded(value) {
  return value >= 10 ? Math.round(value) : Number(value.toPrecision(2));
}

// A speed in words, such as "1 s of the lab takes 20 s".
function speedWords(speed) {
  if (Math.abs(speed - 1) < 0.05) return "true pace: 1 s of the lab takes 1 s";
  return speed < 1 ? `1 s of the lab takes ${rounded(1 / speed)} s` : `${rounded(speed)} s of the lab take 1 s`;
}

// The stretches that pass quickly, as [from, to].
function breaksOf(pace) {
  return pace.kinds.map((kind, place) => [kind, pace.to[place], pace.to[place + 1]])
    .filter(([kind]) => kind === "quiet").map(([, from, to]) => [from, to]);
}

export { breaksOf, instantAt, readPace, shownAt, speedAt, speedWords };
