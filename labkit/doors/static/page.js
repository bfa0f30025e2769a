// The page of a served lab or vault: what it shows comes from /page/, what it does goes to /control/.
//
// 1. The one-time key after # in the address is exchanged for this tab's own and taken out of the address.
// 2. Text of the server is shown as text; only its pictures and its table of the run are markup.
// 3. What a reader is in the middle of is not drawn again: a focused table, a form, an instant that is looked back at.
// 4. Each request that fails is said in the status line; the page goes on asking.
// 5. What makes no sense now can be reached and read, and does nothing but say why.

import { actForm, fitActs } from "/forms.js";
import { makeRunView } from "/run_view.js";
import { inSeconds } from "/player/words.js";
import { $, ask, forbid, make, opened } from "/asking.js";

const POLL_MS = 1000, BACK_S = 10, AT_MOST = 5;

let about = {}, busy = false, looks = 0, shownLook = 0, view = null, forms = [], plays = true, runMs = 0, runAt = -1, nextRun = 0, nowNs = 0;

function say(text, refused = false) {
  $("status").textContent = text;
  $("status").classList.toggle("refused", refused);
}

// ---- what is shown ----

function showState(state) {
  nowNs = state.now_ns;
  const pace = state.speed === undefined ? "" : state.speed ? `, ${state.speed} × real time` : ", the clock stands";
  $("now").textContent = about.serves === "lab" ? `${inSeconds(state.now_ns / 1e3)}${pace}` : state.now;
  if ($("pace") && !$("pace").dataset.shown) {
    $("pace").dataset.shown = $("pace").value = state.speed;
  }
  const broken = (state.broken || []).map((rule) => `Broken rule: ${rule.name}. ${rule.detail}`).join("\n");
  if ($("broken").dataset.shown !== broken) {
    $("broken").dataset.shown = broken;
    $("broken").replaceChildren(...broken.split("\n").filter(Boolean).map((text) => make("p", { textContent: text })));
  }
  const clusters = (state.sites || []).flatMap((site) => site.clusters.map((cluster) => row(site.name, cluster)));
  $("rows").replaceChildren(...clusters);
  const lines = (state.last || []).join("\n");
  if ($("lines").textContent !== lines) $("lines").textContent = lines;
  $("clusters").hidden = !clusters.length;
  $("last").hidden = !state.last;
}

function row(site, cluster) {
  const nodes = cluster.nodes.map((node) => make("span", { textContent: `${node.name}: ${[node.state, node.more].flat().filter(Boolean).join(", ")}` }));
  const url = ((about.clusters || {})[cluster.name] || {}).url || "";
  return make("tr", {},
    make("th", { scope: "row", textContent: cluster.name }),
    make("td", { textContent: site }),
    make("td", { textContent: [cluster.mode, ...[cluster.damaged].flat().filter(Boolean).map((what) => `damaged: ${what}`)].join(", ") }),
    make("td", { className: "nodes" }, ...nodes),
    make("td", {}, make("code", { textContent: url })));
}

// The run is read again where it went on, nobody looks back, and reading it takes a fifth of the time at most.
async function showRun(now, wanted = false) {
  if (!plays || (!wanted && (runAt === now || performance.now() < nextRun || (view && !view.follows())))) return;
  const began = performance.now();
  let found;
  try {
    found = await ask("GET", "/page/run");
  } catch (error) {
    if (error.status !== 400) throw error;
    plays = false;
    return say(error.message);
  }
  runMs = performance.now() - began;
  nextRun = performance.now() + AT_MOST * runMs;
  runAt = now;
  $("stage").hidden = $("below").hidden = false;
  view = view || await makeRunView(showWhere);
  view.load(found, wanted);
  showWhere();
}

function showWhere() {
  const back = view && !view.follows();
  const at = view ? view.at() : 0;
  $("where").textContent = back ? `Looking back at ${inSeconds(at)}.` : "As it is now.";
  if ($("here")) forbid($("here"), $("here").dataset.never || (back ? "" : "move the cursor of the timeline first"));
  if ($("live")) forbid($("live"), back ? "" : "now is what is shown");
}

async function showActs() {
  if (!about.control || about.serves !== "lab") return;
  const found = await ask("GET", "/page/acts");
  forms.forEach((form) => fitActs(form, found.acts));
  $("here").dataset.never = found.back;
  forbid($("ten"), found.back || (nowNs ? "" : "the lab stands at its beginning"));
  forbid($("again"), found.back);
  forbid($("compare"), found.compare);
  showWhere();
}

async function showAnswers(whole = 0, again = whole > 0) {
  if (!$("answers").open) return;
  const { answers } = await ask("GET", `/page/answers${whole ? `?whole=${whole}` : ""}`);
  const shown = [...$("answer-rows").children].map((item) => item.dataset.shown).join();
  if (!again && shown === answers.map((answer) => answer.number).join()) return;
  const held = document.activeElement.closest("#answer-rows li")?.dataset.shown;
  $("answer-rows").replaceChildren(...answers.map((answer) => {
    const line = `${inSeconds(answer.at_ns / 1e3)}  ${answer.cluster}: ${answer.method} ${answer.path}, ${answer.status || "no answer"}`;
    const is = answer.body !== null;
    const button = make("button", { type: "button", textContent: is ? "Hide values" : "Show values", onclick: () => showAnswers(is ? 0 : answer.number, true).catch((error) => say(error.message, true)) });
    button.setAttribute("aria-label", `${button.textContent} of answer ${answer.number}`);
    const item = make("li", {}, make("span", { textContent: `${line} ` }), button, make("pre", { textContent: is ? JSON.stringify(answer.body, null, 1) : answer.said }));
    item.dataset.shown = answer.number;
    return item;
  }));
  [...$("answer-rows").children].find((item) => item.dataset.shown === held)?.querySelector("button").focus();
}

async function compare() {
  const found = await ask("GET", "/page/compare");
  $("apart-words").textContent = `Here is this run, there the one before.\n${found.text}`;
  $("apart-picture").innerHTML = found.html;
  $("apart").hidden = false;
  return { text: found.text.split("\n")[0], show: $("apart") };
}

// ---- what is done ----

// What was done is said once the page shows it.
async function act(line, work) {
  if (busy) return say("the one before is still under way", true);
  busy = true;
  say(`${line} …`);
  let words, show, refused = false;
  try {
    const result = await work();
    show = result.show;
    words = `${result.did || line}: ${result.text || "done"}`;
    refused = result.ok === false;
  } catch (error) {
    [words, refused] = [`${line}: ${error.message}`, true];
  }
  await refresh(true).catch((error) => { words += ` (not up to date: ${error.message})`; });
  busy = false;
  say(words, refused);
  if (!show) return;
  show.focus({ preventScroll: true });
  show.scrollIntoView();
}

function button(text, line, work, id = "") {
  const made = make("button", { type: "button", textContent: text, id });
  made.onclick = () => (made.dataset.why ? say(`${line}: ${made.dataset.why}`, true) : act(line, work));
  return made;
}

function clockButtons() {
  const advance = (duration) => button(`Run ${duration}`, `run ${duration}`, () => ask("POST", "/control/clock/advance", { duration }));
  const made = [advance("1s"), advance("10s"), advance("1m")];
  if (about.serves === "lab") {
    made.unshift(button("Step", "step", async () => {
      const clock = await ask("POST", "/control/clock/step", {});
      return { text: clock.happened ? "done" : "nothing is due" };
    }));
    const speeds = [[0, "the clock stands"], [0.1, "0.1 × real time"], [1, "real time"], [10, "10 × real time"], [60, "60 × real time"]];
    const chosen = make("select", { id: "pace" }, ...speeds.map(([value, textContent]) => make("option", { value, textContent })));
    const speed = () => ask("POST", "/control/clock/speed", { speed: Number(chosen.value) });
    made.push(make("label", {}, "Speed ", chosen), button("Set speed", "set speed", speed));
  }
  if (about.serves === "vault") made.push(button("Fail the next request", "fail the next", () => ask("POST", "/control/fail-next", { status: 503 })));
  made.push(button("Begin again", "begin again", () => ask("POST", "/control/reset", {}), "again"));
  $("clock").replaceChildren(...made);
  $("clock").hidden = false;
}

function pastButtons() {
  const back = (to) => ask("POST", "/control/clock/back", { to });
  const made = [make("button", { type: "button", textContent: "Now", id: "live" })];
  made[0].onclick = () => (made[0].dataset.why ? say(`now: ${made[0].dataset.why}`, true) : showRun(nowNs, true).catch((error) => say(error.message, true)));
  if (about.control) {
    made.push(
      button(`Back ${BACK_S} s`, `back ${BACK_S} s`, () => back(`${Math.max(0, Math.round(nowNs - BACK_S * 1e9))}ns`), "ten"),
      button("Back to the cursor", "back to the cursor", () => back(`${Math.floor(view.at())}us`), "here"),
      button("Compare", "compare with the run before", compare, "compare"));
  }
  $("past").replaceChildren(...made);
}

async function offerActs() {
  if (about.serves === "lab") pastButtons();
  if (!about.control) return;
  clockButtons();
  if (about.serves !== "lab") return;
  const { verbs } = await ask("GET", "/control/verbs");
  const titles = { fault: "Faults", runbook: "Runbooks" };
  const kinds = [...new Set(verbs.map((verb) => verb.kind))];
  const done = (name, line, sent) => act(line, () => ask("POST", `/control/verbs/${encodeURIComponent(name)}`, sent));
  forms = kinds.map((kind) => actForm(titles[kind] || kind, verbs.filter((verb) => verb.kind === kind), done, say));
  $("forms").replaceChildren(...forms.map((form) => form.element));
}

// ---- going on ----

async function readState() {
  if (about.serves === "lab") return ask("GET", "/page/state");
  const [clock, { calls }] = await Promise.all([ask("GET", "/control/clock"), ask("GET", "/control/calls?last=20")]);
  return { ...clock, last: calls.map((call) => `${call.method} ${call.path} ${call.status}`) };
}

async function refresh(wanted = false) {
  const number = ++looks;
  const state = await readState();
  if (number < shownLook) return; // a later look was answered first
  shownLook = number;
  showState(state);
  if (about.serves === "lab") await Promise.all([showRun(state.now_ns, wanted), showActs(), showAnswers()]);
}

async function poll() {
  if (!document.hidden && !busy) {
    await refresh().catch((error) => say(`not up to date: ${error.message}`, true));
  }
  setTimeout(poll, POLL_MS);
}

async function begin() {
  const hasKey = location.hash.startsWith("#key=");
  try {
    await opened();
    about = await ask("GET", "/page/");
    if (about.title) { document.title = `${about.title} – labkit`; document.querySelector("h1").textContent = about.title; }
    $("moment").hidden = false;
    $("answers").hidden = about.serves !== "lab";
    if (about.serves === "vault") $("last-title").textContent = "The last requests";
    await offerActs();
    if (!about.control) say("This page only shows: serve with --control to act here.");
  } catch (error) {
    if (error.status === 404) return; // a vault without a control interface: the page says what this is
    return say(error.status === 403 && !hasKey && error.keyless ? "To see more, open the address that the server printed: it has a key." : error.message, !error.keyless);
  }
  $("answers").ontoggle = () => showAnswers().catch((error) => say(error.message, true));
  poll();
}

begin();
