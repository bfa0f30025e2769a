// Asking: what every part of the page needs: elements, and requests with this tab's key.

const KEY = "labkit-key";
const $ = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(tag), attributes);
  if (!made.id) made.removeAttribute("id");
  made.append(...children);
  return made;
}

async function ask(method, path, body) {
  const headers = { "X-Labkit-Key": sessionStorage.getItem(KEY) || "" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { method, headers, cache: "no-store", body: body === undefined ? undefined : JSON.stringify(body) });
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const text = (found.errors || []).join("; ") || `${answer.status} ${answer.statusText}`;
    throw Object.assign(new Error(text), { status: answer.status, keyless: !sessionStorage.getItem(KEY) });
  }
  return found;
}

// Exchange the key in the address for this tab's own.
async function opened() {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (!key) return;
  history.replaceState(null, "", location.pathname);
  try {
    sessionStorage.setItem(KEY, (await ask("POST", "/page/session", { key })).key);
  } catch (error) {
    if (error.status !== 403 || !sessionStorage.getItem(KEY)) throw error;  // else this tab opened it before
  }
}

// A button that makes no sense now stays where it is and says why; empty words let it act again.
function forbid(button, why) {
  button.dataset.why = why || "";
  if (why) button.setAttribute("aria-disabled", "true");
  else button.removeAttribute("aria-disabled");
  button.title = why || "";
}

export { $, ask, forbid, make, opened };
