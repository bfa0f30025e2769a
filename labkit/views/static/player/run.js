// What a recorded run was at any instant: read from short lists of numbers, and said in words.  It draws nothing.
//
// 1. Instants are microseconds since the lab was built.  The same data and instant give the same answer.
// 2. A message is on its way from its sending until before its end, or until a fault took it.

const LOST_SHOWN = 50000;
const RECENT = 500000;
const OUTCOMES = ["answered", "refused", "in doubt"];

// The sums of a list of differences.
function summed(differences) {
  const found = new Float64Array(differences.length);
  let sum = 0;
  differences.forEach((difference, place) => { sum += difference; found[place] = sum; });
  return found;
}

const SIGNS = Array.from({ length: 94 }, (_, place) => String.fromCharCode(33 + place)).filter((sign) => !"\"'<\\".includes(sign));
const HALF = SIGNS.length >> 1;
const PLACES = new Map(SIGNS.map((sign, place) => [sign, place]));

// The numbers of a column, which may have been packed as text; `signed` where some may be below 0.
function numbersOf(column, signed) {
  if (typeof column !== "string") return column;
  const found = [];
  let [value, scale] = [0, 1];
  for (const sign of column) {
    const place = PLACES.get(sign);
    value += (place % HALF) * scale;
    scale *= HALF;
    if (place < HALF) {
      found.push(!signed ? value : value % 2 ? -(value + 1) / 2 : value / 2);
      [value, scale] = [0, 1];
    }
  }
  return found;
}

// When messages ended, as differences: what has a cause was sent so much later than that ended, others than one another.
function endsOf({ kinds, messages }) {
  const { took, kind, cause } = messages;
  const ends = [];
  let last = 0;
  numbersOf(messages.sent, true).forEach((later, place) => {
    const sent = later + (cause[place] ? ends[place - cause[place]] : last);
    if (!cause[place]) last = sent;
    ends.push(sent + kinds[kind[place]][4] + took[place]);
  });
  delete messages.sent;
  return ends.map((end, place) => end - (ends[place - 1] ?? 0));
}

// Spell out the packed columns of the data, where it has any.
function spellOut(data) {
  const columns = (part, names, signed) => names.forEach((name) => { part[name] = numbersOf(part[name], signed); });
  columns(data, ["interesting"]);
  columns(data.messages, ["took", "kind", "row", "cause"]);
  data.messages.at ??= endsOf(data);
  columns(data.operations, ["at", "how"]);
  const apart = data.trees?.apart;
  if (!apart) return;
  columns(apart, ["pair", "from", "took"], true);
  if (typeof apart.pages === "string") apart.pages = apart.pages ? apart.pages.split(" ").map((row) => numbersOf(row, true)) : [];
}

// How many values of a sorted list are at most so large.
function upTo(list, value) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The data with its lists spelled out: messages by their sending, and where each happening is.
function readRun(data) {
  spellOut(data);
  const { took, kind, cause } = data.messages;
  const end = summed(data.messages.at);
  const sent = end.map((at, place) => at - took[place] - data.kinds[kind[place]][4]);
  const gone = goneOf(data, end);
  const bySending = Uint32Array.from(sent.keys()).sort((one, other) => sent[one] - sent[other] || one - other);
  const interesting = new Uint8Array(end.length);
  summed(data.interesting).forEach((place) => { interesting[place] = 1; });
  return {
    data,
    end,
    sent,
    gone,
    kind,
    cause,
    row: summed(data.messages.row),
    bySending,
    sendings: Float64Array.from(bySending, (place) => sent[place]),
    longest: sent.reduce((most, one, place) => Math.max(most, end[place] - one), 0),
    interesting,
    lost: data.messages.kind.flatMap((one, place) => (data.kinds[one][3] ? [place] : [])),
    happened: data.happenings.map(([at]) => at),
    operations: summed(data.operations.at),
    counted: countsOf(data.operations.how),
    stops: stopsOf(data, sent, gone, interesting),
  };
}

// When each message was gone: where it ended, or earlier where a fault took it.
function goneOf(data, end) {
  const gone = Float64Array.from(end);
  data.gone.forEach(([place, at]) => { gone[place] = at; });
  return gone;
}

// How many operations had ended in each way after none, one, two … of them.
function countsOf(how) {
  const counted = OUTCOMES.map(() => new Uint32Array(how.length + 1));
  how.forEach((is, place) => counted.forEach((counts, outcome) => {
    counts[place + 1] = counts[place] + (is === outcome ? 1 : 0);
  }));
  return counted;
}

// The instants that are stepped through: what happened, and where messages of interest begin and end.
function stopsOf(data, sent, gone, interesting) {
  const stops = new Set([0, data.end]);
  data.happenings.forEach(([at]) => stops.add(at));
  interesting.forEach((is, place) => { if (is) stops.add(sent[place]).add(gone[place]); });
  return Float64Array.from(stops).sort();
}

// The last of some spans, each [since, ...], that began by an instant.
function spanAt(spans, at) {
  let found = spans[0];
  for (const span of spans) {
    if (span[0] > at) break;
    found = span;
  }
  return found;
}

// The messages that are on their way at an instant, by their place in the list.
function onTheWay(run, at) {
  const found = [];
  const first = upTo(run.sendings, at - run.longest - 1);
  for (let place = first; place < run.sendings.length && run.sendings[place] <= at; place += 1) {
    const message = run.bySending[place];
    if (run.gone[message] > at) found.push(message);
  }
  return found;
}

// The messages that were lost a moment ago, at an instant.
function justLost(run, at) {
  return run.lost.filter((message) => run.gone[message] <= at && run.gone[message] > at - LOST_SHOWN);
}

// How much of its way a message has gone.
function shareOf(run, message, at) {
  const length = run.end[message] - run.sent[message];
  return length > 0 ? Math.max(0, Math.min(at, run.gone[message]) - run.sent[message]) / length : 0;
}

// What was so at an instant: clusters, nodes, lines, operations, losses, and what happened last.
function stateAt(run, at) {
  const { data } = run;
  const ended = upTo(run.operations, at);
  const earlier = upTo(run.operations, at - 1e6);
  const counts = run.counted.map((sums, outcome) => data.before[outcome] + sums[ended]);
  const lately = run.counted.map((sums) => sums[ended] - sums[earlier]);
  return {
    happening: upTo(run.happened, at) - 1,
    clusters: data.clusters.map(([name, spans, nodes]) => ({
      name,
      what: spanAt(spans, at)?.[1] ?? "",
      words: spanAt(spans, at)?.[2] ?? "",
      nodes: nodes.map(([node, states]) => [node, spanAt(states, at)?.[1] ?? ""]),
    })),
    lines: data.lines.filter(([, , from, to]) => from <= at && at < to).map(([a, b, , , words, cut]) => ({ a, b, words, cut })),
    counts,
    lately,
    lost: data.lost.filter(([written, promoted]) => written <= at && promoted <= at).length,
  };
}

function inSeconds(at) {
  return `${(at / 1e6).toFixed(3)} s`;
}

// Messages counted by kind, in words: "3 request, 1 stream".
function countedIn(run, messages) {
  const counts = new Map();
  messages.forEach((message) => {
    const what = run.data.whats[run.data.kinds[run.kind[message]][2]].replaceAll("_", " ");
    counts.set(what, (counts.get(what) ?? 0) + 1);
  });
  return [...counts].map(([what, count]) => `${count} ${what}`).join(", ");
}

// One sentence for an instant.
function sentenceAt(run, at) {
  const state = stateAt(run, at);
  const last = run.data.happenings[state.happening];
  const when = last && at - last[0] > RECENT ? `last, at ${inSeconds(last[0])}: ` : "";
  const parts = [inSeconds(at), last ? when + last[2] : "nothing has happened yet"];
  state.clusters.forEach(({ name, words }) => parts.push(`${name}: ${words}`));
  state.lines.forEach(({ a, b, words }) => parts.push(a === b ? `inside ${a}: ${words}` : `${a} to ${b}: ${words}`));
  run.data.losses.filter(([written]) => written <= at && at - written < LOST_SHOWN).slice(0, 3)
    .forEach(([, , client, path]) => parts.push(`acknowledged, and lost later: the write of ${client} to ${path}`));
  parts.push(`on the way: ${countedIn(run, onTheWay(run, at)) || "nothing"}`);
  const lost = justLost(run, at);
  if (lost.length) parts.push(`just lost: ${countedIn(run, lost)}`);
  return `${parts.join(". ")}.`;
}

// What clients and operators got up to an instant, in words.
function gotAt(run, at) {
  const state = stateAt(run, at);
  const lost = state.lost ? `; ${state.lost} acknowledged ${state.lost === 1 ? "write is" : "writes are"} lost` : "";
  const lately = state.lately.map((count, how) => (count ? `${count} ${OUTCOMES[how]}` : "")).filter(Boolean);
  const counts = state.counts.map((count, how) => `${count} ${OUTCOMES[how]}`).join(", ");
  return `${counts}${lost}. In the last second: ${lately.join(", ") || "none"}.`;
}

// The first instant of interest: a fault or broken rule, or before it what is lost; else a message of interest.
function firstOfInterest(run) {
  const { data } = run;
  const marked = data.happenings.filter(([, kind]) => kind === "fault" || kind === "rule").map(([at]) => at);
  const weighty = [...marked.slice(0, 1), ...data.lost.map(([written]) => written)];
  if (weighty.length) return Math.min(...weighty);
  const message = run.interesting.indexOf(1);
  return message < 0 ? 0 : run.sent[message];
}

// The next instant to stop at after another, or with -1 the one before it.
function stopBeside(stops, at, direction) {
  if (direction > 0) return stops[Math.min(upTo(stops, at), stops.length - 1)];
  let place = upTo(stops, at) - 1;
  if (place >= 0 && stops[place] >= at) place -= 1;
  return stops[Math.max(0, place)] ?? 0;
}

// A message in words: between whom, when, its row, and what made its sender send it.
function messageWords(run, message) {
  const [source, target, what, lost] = run.data.kinds[run.kind[message]];
  const hosts = run.data.hosts;
  const ended = lost ? "lost" : "arrived";
  const between = `${run.data.whats[what].replaceAll("_", " ")} from ${hosts[source][0]} to ${hosts[target][0]}`;
  return `${between}, sent at ${inSeconds(run.sent[message])}, ${ended} at ${inSeconds(run.gone[message])}`;
}

// The message whose arrival made the sender send another; -1 for none.
function causeOf(run, message) {
  return run.cause[message] ? message - run.cause[message] : -1;
}

export {
  LOST_SHOWN, causeOf, firstOfInterest, numbersOf, spellOut, gotAt, inSeconds, justLost, messageWords, onTheWay, readRun, sentenceAt, shareOf, stateAt, stopBeside, upTo,
};
