// What a run was at an instant in words, and its messages.

import { justLost, onTheWay, shareOf, stateAt } from "./run.js";

const SAID = 8;
const DOOMED = 3;
const OUTCOMES = ["answered", "refused", "in doubt"];

// An instant or a length, to the millisecond: a half goes up, as in what is said beside the script.
function inSeconds(at) {
  return `${(Math.round(at / 1000) / 1000).toFixed(3)} s`;
}

const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

// The parts of a message: what it is, as the trace has it and in words, between whom, and what it is for.
function partsOf(run, message) {
  const [source, target, what, lost, , shape] = run.data.kinds[run.kind[message]];
  const [name, one] = run.data.whats[what];
  const path = run.paths.get(run.root[message]);
  const carries = !path ? "" : shape < 2 ? ` for ${path}` : name === "stream" ? ` with what ${path.split(" ").pop()} changed` : "";
  const [from, to] = [source, target].map((host) => run.data.hosts[host]);
  return { one, lost, carries, path: carries && path, source: from, target: to, ends: ` from ${from[0]} to ${to[0]}` };
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}

// Messages counted by kind, in words: "3 requests, 1 stream message".
function countedIn(run, messages) {
  const counts = new Map();
  messages.map((message) => partsOf(run, message).one).forEach((one) => counts.set(one, (counts.get(one) ?? 0) + 1));
  return [...counts].map(([one, count]) => counted(count, one)).join(", ");
}

// Lost messages in words: how far each had come that was on its way, between whom, and for what.
function lostIn(run, messages) {
  const moving = messages.filter((message) => run.gone[message] > run.sent[message]);
  const groups = new Map();
  moving.forEach((message) => {
    const { one, path, ends } = partsOf(run, message);
    const far = percent(shareOf(run, message, run.gone[message]));
    groups.set(one + ends, [...groups.get(one + ends) ?? [], path ? `${far} (${path})` : far]);
  });
  const said = [...groups].map(([key, its]) => `${key} after ${its.join(", ")} of the way`);
  const rest = countedIn(run, messages.filter((message) => !moving.includes(message)));
  return [...(moving.length > SAID ? [countedIn(run, moving)] : said), rest && `at once ${rest}`].filter(Boolean).join("; ");
}

// One sentence for an instant.
function sentenceAt(run, at, state = stateAt(run, at)) {
  const all = state.happenings.map((place) => run.data.happenings[place]);
  const when = all.length && at > all[0][0] ? `last, at ${inSeconds(all[0][0])}: ` : "";
  const parts = [`${inSeconds(at)}: ${all.length ? when + all.map(([, , words]) => words).join("; ") : "nothing has happened yet"}`];
  const gap = run.data.gaps.find(([from, to]) => from < at && at < to);
  if (gap) parts.push(`no write succeeds from ${inSeconds(gap[0])} to ${inSeconds(gap[1])}, this part ${gap[3].find(([to]) => to > at)[1]}`);
  const clusters = state.clusters.map(({ name, words }) => `${name}: ${words}`);
  const lines = state.lines.map(({ a, b, words }) => (a === b ? `inside ${a}: ${words}` : `${a} to ${b}: ${words}`));
  parts.push([...clusters, ...lines].join("; "));
  const doomed = run.data.losses.filter(([written, promoted]) => written <= at && at < promoted).map(([, , client, path]) => `${client} to ${path}`);
  if (doomed[0]) parts.push(`acknowledged, and lost later: ${doomed.slice(0, DOOMED).join(", ")}${doomed[DOOMED] ? `, and ${doomed.length - DOOMED} more` : ""}`);
  parts.push(`on the way: ${countedIn(run, onTheWay(run, at)) || "nothing"}`);
  const lost = justLost(run, at);
  if (lost.length) parts.push(`just lost: ${lostIn(run, lost)}`);
  return `${parts.join(".\n")}.`;
}

// What clients and operators got up to an instant, in words.
function gotAt(run, at, state = stateAt(run, at)) {
  const list = (counts) => counts.map((count, how) => (count ? `${count} ${OUTCOMES[how]}` : "")).filter(Boolean).join(", ") || "none answered";
  const { counts, byWay, lately, waiting, unheard, asks, lost } = state;
  const all = counts.map((count, outcome) => {
    const statuses = run.data.ways.flatMap(([how, status], way) => (how === outcome && status && byWay[way] ? [`${status}: ${byWay[way]}`] : []));
    return `${count} ${OUTCOMES[outcome]}${statuses.length ? ` (${statuses.join(", ")})` : ""}`;
  }).join(", ");
  const waits = waiting.length ? `; ${counted(waiting.length, "waits", "wait")}, the longest for ${inSeconds(at - Math.min(...waiting))}` : "";
  const silent = unheard[0] ? `; ${unheard[1]} requests and answers lost on the way, ${unheard[0]} in all` : "";
  const clients = run.operations.length || silent ? `Clients: ${all}${waits}. In the last second: ${list(lately)}${silent}. ` : "";
  return `${clients}${lost ? `${counted(lost, "acknowledged write is", "acknowledged writes are")} lost. ` : ""}Operators: ${list(asks)}.`;
}

// A message in words: what it is for, between whom, when; and at an instant how far it has come.
function messageWords(run, message, at) {
  const { one, carries, lost, ends } = partsOf(run, message);
  const [sent, gone, end] = [run.sent, run.gone, run.end].map((times) => times[message]);
  const far = (instant, left) => `${percent(shareOf(run, message, instant))} of the way, ${Math.round((end - instant) / 1000)} ms ${left}`;
  const now = sent <= at && at < gone ? `: ${far(at, "left")}` : lost && gone > sent ? ` after ${far(gone, "before its end")}` : "";
  return `${one}${carries}${ends}, sent at ${inSeconds(sent)}, ${lost ? "lost" : "arrived"} at ${inSeconds(gone)}${now}`;
}

export { counted, gotAt, inSeconds, messageWords, partsOf, percent, sentenceAt };
