// Ask it: what an event, a lost write or a message was, and what led to it, step by step; each step moves the cursor.
//
// 1. One tab stop: the chosen step.  Up and down choose another, and the cursor goes where it happened.
// 2. It is about what is chosen now: whoever moves elsewhere closes it.  Escape closes it, and the focus goes back.

import { roving } from "./controls.js";
import { causeOf, shareOf } from "./run.js";
import { inSeconds, messageWords, partsOf, percent } from "./words.js";

// What is shown of something: a heading, its facts, and the steps [instant, words] that led to it.
function answerOf(run, { message, loss, happening }) {
  const { data } = run;
  if (message !== undefined) {
    return { heading: messageWords(run, message), facts: `row ${run.row[message]} of the trace`, steps: causesOf(run, message), root: "" };
  }
  if (loss !== undefined) {
    const [written, promoted, client, path, way, chain] = data.losses[loss];
    const facts = `acknowledged at ${inSeconds(written)}, lost by the promotion at ${inSeconds(promoted)}`;
    const { steps, root } = stepsOf(data, chain);
    const all = [...steps, ...wayOf(run, way)].sort(([one], [other]) => other - one);
    return { heading: `the write of ${client} to ${path} is lost`, facts, steps: all, root };
  }
  const [at, kind, words, row, chain] = data.happenings[happening];
  return { heading: words, facts: `${kind}, at ${inSeconds(at)}${row < 0 ? "" : `, row ${row} of the trace`}`, ...stepsOf(data, chain) };
}

// What made the sender of a message send it: what arrived, an attempt without an answer, or its own work.
function causesOf(run, message) {
  const { source } = partsOf(run, message);
  const [cause, earlier] = [causeOf(run, message), run.earlier.get(message)];
  const sent = [run.sent[message], "it is sent"];
  if (cause >= 0) return [sent, [run.end[cause], `because this arrived, row ${run.row[cause]}: ${messageWords(run, cause)}`]];
  if (earlier === undefined) {
    return [sent, [run.sent[message], source[1] === "node" ? `a timer of ${source[0]} was due` : `${source[0]} had this to do`]];
  }
  const isAnswer = (root, place) => root === earlier && run.data.hosts[run.data.kinds[run.kind[place]][1]] === source && !partsOf(run, place).lost;
  const why = run.root.some(isAnswer) ? "was answered by who does not serve" : `got no answer within ${source[5] / 1e6} s`;
  return [sent, [run.sent[earlier], `because the attempt before it ${why}: ${messageWords(run, earlier)}`]];
}

// How a lost write went, from its request to its acknowledgement, as far as its messages are known.
function wayOf(run, [request, answer, push]) {
  if (answer === undefined) return [];
  const { source, target } = partsOf(run, answer);
  const isPushed = push !== undefined;
  const far = isPushed ? `; the ${partsOf(run, push).one} had gone ${percent(shareOf(run, push, run.end[answer]))} of its way then` : "";
  return [
    [run.end[answer], `the answer is at ${target[0]}: the write is acknowledged${far}`],
    [run.sent[answer], `${source[0]} has carried it out, and sends the answer${isPushed ? `, and a ${partsOf(run, push).one}${partsOf(run, push).ends}` : ""}`],
    [run.sent[request], `${target[0]} asks for it: ${messageWords(run, request)}`],
  ];
}

function stepsOf(data, chain) {
  if (!chain) return { steps: [], root: "" };
  const found = chain[0].map((place) => data.sentences[place]);
  const [at, sentence] = found.at(-1);
  const steps = found.map(([when, words, row]) => [when, row === null ? words : `${words}, row ${row}`]);
  return { steps, root: `root: ${chain[1]}, at ${inSeconds(at)}: ${sentence}` };
}

// An answer in an element: `go` is called with the instant of each step that is chosen.
function makeAnswer(element, run, go) {
  element.replaceChildren();
  element.hidden = true;
  const [heading, facts, list, root] = ["h2", "p", "ol", "p"].map((name) => element.appendChild(document.createElement(name)));
  let [buttons, before] = [[], null];

  function choose(number) {
    buttons.forEach((button, place) => {
      if (place === number) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    buttons[number].focus();
    go(Number(buttons[number].dataset.at));
  }

  function show(asked) {
    const answer = answerOf(run, asked);
    heading.textContent = answer.heading;
    facts.textContent = answer.facts;
    root.textContent = answer.root;
    list.replaceChildren();
    buttons = answer.steps.map(([at, words], number) => {
      const button = list.appendChild(document.createElement("li")).appendChild(document.createElement("button"));
      button.type = "button";
      button.textContent = `${inSeconds(at)}  ${words}`;
      button.dataset.at = at;
      button.addEventListener("click", () => choose(number));
      return button;
    });
    roving(buttons);
    if (!element.contains(document.activeElement)) before = document.activeElement;
    element.hidden = false;
    element.scrollTop = 0;
    element.focus({ preventScroll: true });
    // The map first, so that of both as much is seen as there is room for.
    [document.getElementById("map"), element].forEach((one) => one.scrollIntoView({ block: "nearest" }));
  }

  // Close it; the focus goes back to where it was, if it was in here.
  function hide() {
    if (element.hidden) return;
    const had = element.contains(document.activeElement);
    element.hidden = true;
    if (had) before?.focus();
  }

  element.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const number = buttons.indexOf(document.activeElement) + step;
    if (!step || !buttons[number]) return;
    event.preventDefault();
    choose(number);
  };
  return { show, hide };
}

export { answerOf, makeAnswer };
