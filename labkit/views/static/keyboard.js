// Keeps the keys that are pressed in a dashboard from the notebook around it, whose letters are commands of its own.
//
// 1. JupyterLab looks for a command from the focused element outwards; one with this attribute ends the search, so the
//    attribute is put onto whatever gets the focus.
// 2. No key is handled here: each keeps the meaning that the browser gives it in a button or a list.

const OURS = ".labkit-board, .labkit-page";
const KEEP = "data-lm-suppress-shortcuts";

function keep(event) {
  if (event.target.closest(OURS)) event.target.setAttribute(KEEP, "true");
}

// A listener that is added again is the same one: any number of dashboards have one, for as long as the page is open.
function render({ el }) {
  el.style.display = "none";
  document.addEventListener("focusin", keep);
}

export default { render };
