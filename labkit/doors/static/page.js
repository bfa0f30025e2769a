// The page of a served lab or vault: what it shows comes from /page/, what it does goes to /control/.
//
// 1. The one-time key after # in the address is exchanged for this tab's own and taken out of the address.
// 2. Text of the server is shown as text; only its pictures are markup.
// 3. What a reader is in the middle of is not drawn again: a focused picture, a form.
// 4. Each request that fails is said in the status line; the page goes on asking.

const KEY = "labkit-key", POLL_MS = 1000;
const $ = (id) => document.getElementById(id);
const make = (tag, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), attributes);
  made.append(...children);
  return made;
};

let about = {}, shownAt = null, shownSpan = null, busy = false, looks = 0, shownLook = 0;

async function ask(method, path, body) {
  const headers = { "X-Labkit-Key": sessionStorage.getItem(KEY) || "" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { method, headers, cache: "no-store", body: body === undefined ? undefined : JSON.stringify(body) });
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const text = (found.errors || []).join("; ") || `${answer.status} ${answer.statusText}`;
    throw Object.assign(new Error(text), { status: answer.status });
  }
  return found;
}

function say(text, refused = false) {
  $("status").textContent = text;
  $("status").classList.toggle("refused", refused);
}

async function enter() {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (!key) return;
  history.replaceState(null, "", location.pathname);
  try {
    sessionStorage.setItem(KEY, (await ask("POST", "/page/session", { key })).key);
  } catch (error) {
    if (error.status !== 403 || !sessionStorage.getItem(KEY)) throw error;  // else this tab opened it before
  }
}

// ---- what is shown ----

function showState(state) {
  const pace = state.speed === undefined ? "" : state.speed ? `, ${state.speed} × real time` : ", the clock stands";
  $("now").textContent = about.serves === "lab" ? `${(state.now_ns / 1e9).toFixed(3)} s${pace}` : state.now;
  if ($("speed") && !$("speed").dataset.shown) {
    $("speed").dataset.shown = $("speed").value = state.speed;
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

async function showPictures(state) {
  const span = Number($("span").value);
  if (about.serves !== "lab" || (shownAt === state.now_ns && shownSpan === span)) return;
  const start = Math.max(0, Math.floor(state.now_ns / 1e9) - span);
  const [map, timeline] = await Promise.all([
    ask("GET", "/page/map"), ask("GET", "/page/timeline" + (span ? `?start=${start}s` : ""))]);
  const drawn = [draw($("map-picture"), map.html), draw($("timeline-picture"), timeline.html)];
  $("map").hidden = $("timeline").hidden = false;
  if (drawn.every(Boolean)) [shownAt, shownSpan] = [state.now_ns, span];
}

function draw(place, html) {
  if (place !== document.activeElement && place.contains(document.activeElement)) return false;
  const left = place.scrollLeft;
  place.innerHTML = html;
  place.scrollLeft = left;
  return true;
}

// ---- what is done ----

// What was done is said once the page shows it.
async function act(line, work) {
  if (busy) return say("the one before is still under way", true);
  busy = true;
  say(`${line} …`);
  let words, refused = false;
  try {
    const result = await work();
    words = `${result.did || line}: ${result.text || "done"}`;
    refused = result.ok === false;
  } catch (error) {
    [words, refused] = [`${line}: ${error.message}`, true];
  }
  await refresh().catch((error) => { words += ` (not up to date: ${error.message})`; });
  busy = false;
  say(words, refused);
}

const button = (text, line, work) => make("button", { type: "button", textContent: text, onclick: () => act(line, work) });

function clockButtons() {
  const advance = (duration) => button(`Run ${duration}`, `run ${duration}`, () => ask("POST", "/control/clock/advance", { duration }));
  const made = [advance("1s"), advance("10s"), advance("1m")];
  if (about.serves === "lab") {
    made.unshift(button("Step", "step", async () => {
      const clock = await ask("POST", "/control/clock/step", {});
      return { text: clock.happened || "nothing is due" };
    }));
    const speeds = [[0, "the clock stands"], [0.1, "0.1 × real time"], [1, "real time"], [10, "10 × real time"], [60, "60 × real time"]];
    const chosen = make("select", { id: "speed" }, ...speeds.map(([value, textContent]) => make("option", { value, textContent })));
    const speed = () => ask("POST", "/control/clock/speed", { speed: Number(chosen.value) });
    made.push(make("label", {}, "Speed ", chosen), button("Set speed", "set speed", speed));
  }
  if (about.serves === "vault") made.push(button("Fail the next request", "fail the next", () => ask("POST", "/control/fail-next", { status: 503 })));
  made.push(button("Begin again", "begin again", () => ask("POST", "/control/reset", {})));
  $("clock").replaceChildren(...made);
  $("clock").hidden = false;
}

function verbForm(title, verbs) {
  const chosen = make("select", {}, ...verbs.map((verb) => make("option", { value: verb.name, textContent: verb.name.replaceAll("_", " ") })));
  const words = make("p"), fields = make("div");
  const form = make("form", { autocomplete: "off" }, make("h3", { textContent: title }),
    make("label", { className: "field" }, "Verb", chosen), words, fields, make("button", { textContent: "Do it" }));
  const verb = () => verbs.find((one) => one.name === chosen.value);
  const fill = () => {
    words.textContent = verb().about + (verb().undo ? ` Undone by ${verb().undo.replaceAll("_", " ")}.` : "");
    fields.replaceChildren(...verb().parameters.map(field));
  };
  chosen.onchange = fill;
  form.onsubmit = (event) => {
    event.preventDefault();
    const sent = {};
    for (const parameter of verb().parameters) {
      const value = valueOf(parameter, (part) => form.elements[`${parameter.name}${part}`]);
      if (value !== undefined) sent[parameter.name] = value;
    }
    const line = [verb().name, ...Object.entries(sent).map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`)].join(" ");
    act(line, () => ask("POST", `/control/verbs/${encodeURIComponent(verb().name)}`, sent));
  };
  fill();
  return form;
}

function field(parameter) {
  const words = parameter.name.replaceAll("_", " ");
  const inputs = parameter.shape === "pair" ? [input(parameter, "0", 0), input(parameter, "1", 1)] : [input(parameter, "", 0)];
  inputs.slice(1).forEach((second) => second.setAttribute("aria-label", `${words}, the other`));
  return make("label", { className: "field" }, words + (parameter.required ? "" : " (optional)"), make("span", { className: "inputs" }, ...inputs));
}

function input(parameter, part, number) {
  const name = parameter.name + part, title = parameter.expected || "";
  if (parameter.shape === "flag") return make("input", { type: "checkbox", name, title, checked: parameter.default === true });
  if (parameter.choices.length) {
    const options = parameter.choices.map((value) => make("option", { value, textContent: value }));
    if (!parameter.required) options.unshift(make("option", { value: "", textContent: "–" }));
    const made = make("select", { name, title }, ...options);
    if (parameter.default !== null && parameter.choices.includes(parameter.default)) made.value = parameter.default;
    else if (parameter.required) made.selectedIndex = Math.min(number, options.length - 1);
    return made;
  }
  return make("input", { name, title, placeholder: title, required: parameter.required });
}

// Returns undefined for what was left out.
function valueOf(parameter, element) {
  if (parameter.shape === "pair") return element("0").value ? [element("0").value, element("1").value] : undefined;
  if (parameter.shape === "flag") return element("").checked === (parameter.default === true) ? undefined : element("").checked;
  const text = element("").value;
  if (text === "") return undefined;
  if (parameter.shape === "number") return Number.isNaN(Number(text)) ? text : Number(text);
  if (parameter.shape === "mapping") { try { return JSON.parse(text); } catch { return text; } }
  return text;
}

async function offerVerbs() {
  if (!about.control) return;
  clockButtons();
  if (about.serves !== "lab") return;
  const { verbs } = await ask("GET", "/control/verbs");
  const titles = { fault: "Faults", runbook: "Runbooks" };
  const kinds = [...new Set(verbs.map((verb) => verb.kind))];
  $("forms").replaceChildren(...kinds.map((kind) => verbForm(titles[kind] || kind, verbs.filter((verb) => verb.kind === kind))));
  $("verbs").hidden = false;
}

// ---- going on ----

async function readState() {
  if (about.serves === "lab") return ask("GET", "/page/state");
  const [clock, { calls }] = await Promise.all([ask("GET", "/control/clock"), ask("GET", "/control/calls?last=20")]);
  return { ...clock, last: calls.map((call) => `${call.method} ${call.path} ${call.status}`) };
}

async function refresh() {
  const number = ++looks;
  const state = await readState();
  if (number < shownLook) return; // a later look was answered first
  shownLook = number;
  showState(state);
  await showPictures(state);
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
    await enter();
    about = await ask("GET", "/page/");
    if (about.title) { document.title = `${about.title} – labkit`; document.querySelector("h1").textContent = about.title; }
    $("time").hidden = false;
    if (about.serves === "vault") $("last-title").textContent = "The last requests";
    await offerVerbs();
    if (!about.control) say("This page only shows: serve with --control to act here.");
  } catch (error) {
    if (error.status === 404) return; // a vault without a control interface: the page says what this is
    const keyless = error.status === 403 && !hasKey && !sessionStorage.getItem(KEY);
    return say(keyless ? "To see more, open the address that the server printed: it has a key." : error.message, !keyless);
  }
  $("span").onchange = () => refresh().catch((error) => say(error.message, true));
  poll();
}

begin();
