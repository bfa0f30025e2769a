// What a recorded run was at any instant: read from short lists of numbers.  It draws nothing and says nothing.
//
// 1. Instants are microseconds since the lab was built.  The same data and instant give the same answer.
// 2. A message is on its way from its sending until before its end, or until a fault took it.
// 3. An operation of a client waits from its beginning until before its end; one that is under way never ends.

const LOST_SHOWN = 50000;
const SECOND = 1e6;
const UNDER_WAY = 3;

// The sums of a list of differences.
function summed(differences) {
  const found = new Float64Array(differences.length);
  let sum = 0;
  differences.forEach((difference, place) => { sum += difference; found[place] = sum; });
  return found;
}

const SIGNS = Array.from({ length: 94 }, (_, place) => String.fromCharCode(33 + place)).filter((sign) => !"\"'<\\".includes(sign));
const LAST = 70;
const PLACES = new Map(SIGNS.map((sign, place) => [sign, place]));

// The numbers of a column, which may have been packed as text; `signed` where some may be below 0.
function numbersOf(column, signed) {
  if (typeof column !== "string") return column;
  const found = [];
  let [value, scale] = [0, 1];
  for (const sign of column) {
    const place = PLACES.get(sign);
    value += (place % LAST) * scale;
    scale *= SIGNS.length - LAST;
    if (place < LAST) {
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
  const columns = (part, signed, names = Object.keys(part)) => names.forEach((name) => { part[name] = numbersOf(part[name], signed); });
  data.interesting = numbersOf(data.interesting);
  data.carried = numbersOf(data.carried);
  columns(data.messages, false, ["took", "kind", "row", "cause"]);
  data.messages.at ??= endsOf(data);
  [data.operations, data.silent, data.asks, data.again].forEach((part) => columns(part));
  const apart = data.trees?.apart;
  if (!apart) return;
  columns(apart, true, ["pair", "from", "took"]);
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

const sorted = (values) => Float64Array.from(new Set(values)).sort();

// The data with its lists spelled out: messages by their sending, operations by their ends, and where to stop.
function readRun(data) {
  spellOut(data);
  const { took, kind, cause } = data.messages;
  const end = summed(data.messages.at);
  const sent = end.map((at, place) => at - took[place] - data.kinds[kind[place]][4]);
  const gone = Float64Array.from(end);
  data.gone.forEach(([place, at]) => { gone[place] = at; });
  const root = [];
  kind.forEach((_, place) => root.push(cause[place] ? root[place - cause[place]] : place));
  const bySending = Uint32Array.from(sent.keys()).sort((one, other) => sent[one] - sent[other] || one - other);
  const interesting = new Uint8Array(end.length);
  summed(data.interesting).forEach((place) => { interesting[place] = 1; });
  const ofClients = data.kinds.map(([source, target, , , , shape]) => shape < 2 && [source, target].some((host) => data.hosts[host][1] === "client"));
  const lost = data.messages.kind.flatMap((one, place) => (data.kinds[one][3] ? [place] : []));
  const run = {
    data, end, sent, gone, kind, cause, root, interesting, lost, bySending,
    row: summed(data.messages.row),
    sendings: Float64Array.from(bySending, (place) => sent[place]),
    longest: sent.reduce((most, one, place) => Math.max(most, end[place] - one), 0),
    unheard: lost.filter((place) => ofClients[kind[place]]).map((place) => gone[place]).sort((one, other) => one - other),
    happened: data.happenings.map(([at]) => at),
    asks: summed(data.asks.at),
    askCounts: countsOf(data.asks.how),
    ...carriedBy(data, kind),
  };
  run.operations = operationsOf(run);
  const ended = run.operations.filter(({ how }) => how < UNDER_WAY);
  run.ended = ended.map(({ at }) => at);
  run.counted = countsOf(ended.map(({ how }) => how));
  run.byWay = countsOf(ended.map(({ way }) => way), data.ways);
  const around = (places) => places.flatMap((place) => [sent[place], gone[place]]);
  run.stops = sorted([0, data.end, ...run.happened, ...around([...end.keys()].filter((place) => interesting[place]))]);
  run.moments = sorted([...run.stops, ...sent, ...gone]);
  return run;
}

// What requests are for, by their place, and the attempts before and after them.
function carriedBy(data, kind) {
  const requests = [...kind.keys()].filter((place) => data.whats[data.kinds[kind[place]][2]][0] === "request");
  const paths = new Map(requests.flatMap((place, number) => (data.carried[number] ? [[place, data.paths[data.carried[number] - 1]]] : [])));
  const again = summed(data.again.place);
  return { paths, earlier: new Map(data.again.back.map((back, number) => [again[number], again[number] - back])) };
}

// The operations of clients by their ends: whose, from when to when, how each ended, and by which message (-1: none).
function operationsOf({ data, end, sent, kind, root }) {
  const { operations, silent } = data;
  const answered = [...summed(operations.by)].map((message, place) => ({
    client: data.kinds[kind[message]][1], from: sent[root[message]] - operations.began[place], at: end[message], way: operations.how[place], message,
  }));
  const others = [...summed(silent.at)].map((at, place) => ({
    client: silent.who[place], from: at - silent.took[place], at, way: silent.how[place], message: -1,
  }));
  return [...answered, ...others].map((one) => ({ ...one, how: data.ways[one.way][0] })).sort((one, other) => one.at - other.at);
}

// How many had ended in each way after none, one, two … of them.
function countsOf(how, ways = [0, 1, 2]) {
  const counted = ways.map(() => new Uint32Array(how.length + 1));
  how.forEach((is, place) => counted.forEach((counts, outcome) => { counts[place + 1] = counts[place] + (is === outcome ? 1 : 0); }));
  return counted;
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

// What was so at an instant: clusters, nodes, lines, operations, losses, and the places of what happened last.
function stateAt(run, at) {
  const { data, happened } = run;
  const last = happened[upTo(happened, at) - 1];
  const countAt = (times, counts, instant) => counts.map((sums) => sums[upTo(times, instant)]);
  const counts = countAt(run.ended, run.counted, at);
  const earlier = countAt(run.ended, run.counted, at - SECOND);
  const unheard = upTo(run.unheard, at);
  return {
    happenings: [...happened.keys()].filter((place) => happened[place] === last),
    clusters: data.clusters.map(([name, spans, nodes]) => {
      const [, what, words] = spanAt(spans, at) ?? [0, "", ""];
      const silent = data.silences.find(([of, from, to]) => of === name && from + SECOND < at && at < to);
      const heard = silent ? ` as of ${((at - silent[1]) / SECOND).toFixed(1)} s ago` : "";
      return { name, what, words: words + heard, nodes: nodes.map(([node, states]) => [node, spanAt(states, at)?.[1] ?? ""]) };
    }),
    lines: data.lines.filter(([, , from, to]) => from <= at && at < to).map(([a, b, , , words, cut]) => ({ a, b, words, cut })),
    counts,
    byWay: countAt(run.ended, run.byWay, at),
    lately: counts.map((count, how) => count - earlier[how]),
    waiting: run.operations.filter((one) => one.from <= at && (at < one.at || one.how === UNDER_WAY)).map(({ from }) => from),
    unheard: [unheard, unheard - upTo(run.unheard, at - SECOND)],
    asks: countAt(run.asks, run.askCounts, at),
    lost: data.lost.filter(([written, promoted]) => written <= at && promoted <= at).length,
  };
}

// The next instant to stop at after another, or with -1 the one before it.
function stopBeside(stops, at, direction) {
  if (direction > 0) return stops.find((stop) => stop > at) ?? stops.at(-1);
  return stops.findLast((stop) => stop < at) ?? 0;
}

// The message whose arrival made the sender send another; -1 for none.
function causeOf(run, message) {
  return run.cause[message] ? message - run.cause[message] : -1;
}

export {
  LOST_SHOWN, SECOND, causeOf, justLost, numbersOf, onTheWay, readRun, shareOf, sorted, spellOut, stateAt, stopBeside, upTo,
};
