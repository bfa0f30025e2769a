// Forms: one for each kind of verb; its choices are those that make sense in the lab as it is.

import { forbid, make } from "/asking.js";

const LONGEST_EXAMPLE = 15;

// A form of verbs: `done` is called with a verb's name, its line and what is sent; `say` with why it is not.
function actForm(title, verbs, done, say) {
  const chosen = make("select", {}, ...verbs.map((verb) => make("option", { value: verb.name, textContent: verb.name.replaceAll("_", " ") })));
  const words = make("p", { className: "why" }), fields = make("div"), hints = make("div");
  const button = make("button", { textContent: "Do it" });
  const id = `why-${title.toLowerCase()}`;
  words.id = id;
  button.setAttribute("aria-describedby", id);
  const element = make("form", { autocomplete: "off" }, make("h2", { textContent: title }),
    make("label", { className: "field verb" }, "Verb", chosen), words, fields, button, hints);
  const form = { element, chosen, words, button, acts: {}, verb: () => verbs.find((one) => one.name === chosen.value) };
  form.fill = () => {
    const { parameters } = form.verb();
    fields.replaceChildren(...parameters.map((parameter) => field(parameter, id)));
    hints.replaceChildren(...parameters.filter(isWritten).map((parameter) => hint(parameter, id)));
    fit(form);
  };
  chosen.onchange = () => { form.touched = true; form.fill(); };
  element.onsubmit = (event) => {
    event.preventDefault();
    const verb = form.verb();
    if (button.dataset.why) return say(`${verb.name}: ${button.dataset.why}`, true);
    const sent = {};
    for (const parameter of verb.parameters) {
      const value = valueOf(parameter, (part) => element.elements[`${parameter.name}${part}`]);
      if (value !== undefined) sent[parameter.name] = value;
    }
    const line = [verb.name, ...Object.entries(sent).map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`)].join(" ");
    return done(verb.name, line, sent);
  };
  form.fill();
  return form;
}

// Let a form offer what makes sense now.
function fitActs(form, acts) {
  form.acts = acts;
  const first = [...form.chosen.options].find((option) => !acts[option.value]?.why_not);
  if (!form.touched && first && acts[form.chosen.value]?.why_not) { form.chosen.value = first.value; form.fill(); }
  for (const option of form.chosen.options) {
    const why = acts[option.value]?.why_not;
    option.textContent = option.value.replaceAll("_", " ") + (why ? " (not now)" : "");
  }
  fit(form);
}

function fit({ element, words, button, acts, verb }) {
  const now = acts[verb().name] || { why_not: "", choices: {} };
  const undo = verb().undo ? ` Undone by ${verb().undo.replaceAll("_", " ")}.` : "";
  const text = now.why_not ? `Not now: ${now.why_not}.` : verb().about + undo;
  if (words.textContent !== text) words.textContent = text;
  forbid(button, now.why_not);
  for (const [parameter, names] of Object.entries(now.choices)) {
    const select = element.elements[parameter];
    if (!select?.options) continue;
    for (const option of select.options) option.disabled = option.value !== "" && !names.includes(option.value);
    if (select.selectedOptions[0]?.disabled && names.length) select.value = [...select.options].find((option) => !option.disabled && option.value)?.value;
  }
}

// Whether what is wanted is written, not chosen.
function isWritten({ shape, choices }) {
  return shape !== "flag" && !choices.length;
}

const hintId = (id, name) => `${id}-${name.replaceAll(" ", "-")}`;

// What is to be written, below the button: in the field there is room for an example only.
function hint({ name, expected }, id) {
  return make("p", { className: "hint faint", id: hintId(id, name), textContent: `${name.replaceAll("_", " ")}: ${expected}` });
}

function field(parameter, id) {
  const words = parameter.name.replaceAll("_", " ");
  const inputs = parameter.shape === "pair" ? [input(parameter, "0", 0), input(parameter, "1", 1)] : [input(parameter, "", 0)];
  if (isWritten(parameter)) inputs.forEach((one) => one.setAttribute("aria-describedby", hintId(id, parameter.name)));
  inputs.slice(1).forEach((second) => second.setAttribute("aria-label", `${words}, the other`));
  return make("label", { className: `field ${parameter.shape}` }, words + (parameter.required ? "" : " (optional)"), make("span", { className: "inputs" }, ...inputs));
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
  const [, example = ""] = title.match(/such as (\[.*?\]|\{.*?\}|[^ ,]+)/) || [];
  return make("input", { name, title, placeholder: example.length > LONGEST_EXAMPLE ? "" : example, required: parameter.required });
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

export { actForm, fitActs };
