// Space and time: the messages of a stretch as slanted lines between the lines of their hosts, and operations as marks.
//
// 1. A message begins where it was sent and ends where it arrived, or with a cross where it was lost;
//    what was lost at once is a cross at its sender.  No cross stands on the line of a host that had no part in it.
// 2. Of too many messages those of interest are drawn, or none, and that is said; of too many operations none is marked.
//    Hosts that sent and got nothing that is drawn have no line, unless they are nodes.

import { upTo } from "./run.js";
import { counted } from "./words.js";

const MOST_MESSAGES = 260;
const MOST_HOSTS = 12;
const REACH = 6;
const [NEAR, BESIDE_LINE] = [7, 10];
const MARK_CLASSES = ["fill-ink", "fill-down", "fill-paper line-ink"];

// The messages of a stretch that are drawn, the other hosts that these need, and what is left out, in words.
function placeMessages(run, [from, to]) {
  const first = upTo(run.sendings, from - run.longest - 1);
  const last = upTo(run.sendings, to);
  const all = [...run.bySending.slice(first, last)].filter((message) => run.gone[message] >= from);
  const chosen = all.filter((message) => run.interesting[message]);
  const messages = all.length <= MOST_MESSAGES ? all : chosen.length <= MOST_MESSAGES ? chosen : [];
  const needed = new Set(messages.flatMap((message) => run.data.kinds[run.kind[message]].slice(0, 2)));
  const others = run.data.hosts.filter(([, kind], host) => kind !== "node" && needed.has(host)).map(([name]) => name);
  const missing = others.length > MOST_HOSTS ? `; ${counted(others.length - MOST_HOSTS, "host")} left out` : "";
  const which = messages.length === all.length ? counted(all.length, "message")
    : messages.length ? `${counted(messages.length, "message")} of interest of ${all.length}` : `${all.length} messages are too many`;
  const marks = upTo(run.ended, to) - upTo(run.ended, from - 1);
  const marked = marks > MOST_MESSAGES ? `; ${marks} operations are too many` : marks ? "; dots: answered, hollow: in doubt, red: refused" : "";
  return { messages, others: others.slice(0, MOST_HOSTS), note: `${which}${missing}${marked}` };
}

// A message's line, from [x, y] to [x, y], or null where a host has none; what is outside of the stretch is cut off.
function lineOf(run, message, { xOf, heights, left, right }) {
  const [from, to] = run.data.kinds[run.kind[message]].map((host) => heights.get(run.data.hosts[host]?.[0]));
  if (from === undefined || to === undefined) return null;
  const [x1, x2] = [xOf(run.sent[message]), xOf(run.end[message])];
  const gone = xOf(run.gone[message]);
  if (run.sent[message] === run.end[message] && run.data.kinds[run.kind[message]][3]) return [x1, from, x1, from];
  const yOf = (x) => (x2 > x1 ? from + ((to - from) * (x - x1)) / (x2 - x1) : to);
  const [start, stop] = [Math.max(x1, left), Math.min(gone, right)];
  const isLost = gone <= right && run.data.kinds[run.kind[message]][3];
  const y = gone > right || gone < x2 ? yOf(stop) : to;
  return [start, x1 < left ? yOf(start) : from, stop, isLost ? beside(y, from, to, heights) : y];
}

// Where the cross of a lost message stands: not on the line of another host than its two.
function beside(y, from, to, heights) {
  const near = [...heights.values()].find((line) => line !== from && line !== to && Math.abs(line - y) < NEAR);
  return near === undefined ? y : near - Math.sign(to - from) * BESIDE_LINE;
}

// Where each message is, of those that have a place.
function placesOf(run, messages, ends) {
  return messages.map((message) => ({ message, ends: lineOf(run, message, ends) })).filter((one) => one.ends);
}

// Draw messages by `line`: those of interest, others, and lost ones.
function drawMessages(run, places, ends, line) {
  const strokes = ["", "", ""];
  places.forEach(({ message, ends: [x1, y1, x2, y2] }) => {
    strokes[run.data.kinds[run.kind[message]][3] ? 2 : run.interesting[message]] += `M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}`;
  });
  [["line-faint"], ["line-primary", 2], ["line-down", 1.6, "5 3"]].forEach((style, number) => line(strokes[number], ...style));
}

// Draw a cross where a message was lost, and a mark where an operation of a client ended.
function drawMarks(run, places, { xOf, heights, left, right }, line) {
  const lost = places.filter(({ message }) => run.data.kinds[run.kind[message]][3] && xOf(run.gone[message]) <= right);
  const crosses = lost.map(({ ends: [, , x, y] }) => `M${x - 4} ${y - 4}l8 8m0-8l-8 8`).join("");
  line(crosses, "line-paper", 5);
  line(crosses, "line-down", 2.4);
  const ended = run.operations.filter(({ at, how }) => MARK_CLASSES[how] && xOf(at) >= left && xOf(at) <= right);
  MARK_CLASSES.forEach((name, how) => {
    const mine = ended.filter((one) => one.how === how && heights.has(run.data.hosts[one.client][0]));
    if (ended.length <= MOST_MESSAGES) line(mine.map(({ client, at }) => `M${xOf(at) - 3.5} ${heights.get(run.data.hosts[client][0])}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z`).join(""), name);
  });
}

// The message whose line is nearest to a point, if it is near; -1 for none.
function messageNear(places, x, y) {
  const distance = ({ ends: [x1, y1, x2, y2] }) => {
    const length = (x2 - x1) ** 2 + (y2 - y1) ** 2 || 1;
    const share = Math.max(0, Math.min(1, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length));
    return Math.hypot(x1 + share * (x2 - x1) - x, y1 + share * (y2 - y1) - y);
  };
  const near = places.map((place) => [distance(place), place.message]).sort(([one], [other]) => one - other)[0];
  return near && near[0] <= REACH ? near[1] : -1;
}

export { drawMarks, drawMessages, lineOf, messageNear, placeMessages, placesOf };
