// Ask it: what an event, a lost write or a message was, and what led to it, step by step; each step moves the cursor.
//
// 1. One tab stop: the chosen step.  Up and down choose another, and the cursor goes where it happened.

import { causeOf, inSeconds, messageWords } from "./run.js";

// What is shown of something: a heading, its facts, and the steps [instant, words] that led to it.
function answerOf(run, asked) {
  const { data } = run;
  if (asked.message !== undefined) {
    const cause = causeOf(run, asked.message);
    const steps = [[run.sent[asked.message], `it is sent: ${messageWords(run, asked.message)}`]];
    if (cause >= 0) steps.push([run.end[cause], `because this arrived, row ${run.row[cause]}: ${messageWords(run, cause)}`]);
    else steps.push([run.sent[asked.message], "because its sender's timer or own work said so"]);
    return { heading: messageWords(run, asked.message), facts: `row ${run.row[asked.message]} of the trace`, steps, root: "" };
  }
  if (asked.loss !== undefined) {
    const [written, promoted, client, path, chain] = data.losses[asked.loss];
    const facts = `acknowledged at ${inSeconds(written)}, lost by the promotion at ${inSeconds(promoted)}`;
    return { heading: `the write of ${client} to ${path} is lost`, facts, ...stepsOf(data, chain) };
  }
  const [at, kind, words, row, chain] = data.happenings[asked.happening];
  return { heading: words, facts: `${kind}, at ${inSeconds(at)}, row ${row} of the trace`, ...stepsOf(data, chain) };
}

function stepsOf(data, chain) {
  if (!chain) return { steps: [], root: "the trace says no more of it" };
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
  let buttons = [];

  function choose(number) {
    buttons.forEach((button, place) => {
      button.tabIndex = place === number ? 0 : -1;
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
      button.tabIndex = number === 0 ? 0 : -1;
      button.addEventListener("click", () => choose(number));
      return button;
    });
    element.hidden = false;
    element.focus();
  }

  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const number = buttons.indexOf(document.activeElement) + step;
    if (!step || !buttons[number]) return;
    event.preventDefault();
    choose(number);
  });
  return { show };
}

export { answerOf, makeAnswer };
