// Controls: rows of buttons and of tables, each with one tab stop.

// A row of buttons: left and right go from one to the next.
function bar(element, acts) {
  const buttons = [...element.querySelectorAll("button")];
  roving(buttons);
  buttons.forEach((button) => button.addEventListener("click", () => acts[button.id]()));
  element.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const number = buttons.indexOf(document.activeElement) + by;
    if (by && buttons[number]) { event.preventDefault(); buttons[number].focus(); }
  });
}

// Of some elements the one that has the focus, or had it last, is the tab stop.
function roving(elements) {
  elements.forEach((element, number) => {
    element.tabIndex = number ? -1 : 0;
    element.addEventListener("focus", () => elements.forEach((other) => { other.tabIndex = other === element ? 0 : -1; }));
  });
}

// Rows of a table that are asked about: up and down go from row to row.
function table(rows, asked) {
  roving(rows);
  rows.forEach((row, number) => {
    row.classList.add("askable");
    row.addEventListener("click", () => asked(number));
    row.addEventListener("keydown", (event) => {
      const to = { ArrowDown: number + 1, ArrowUp: number - 1, Home: 0, End: rows.length - 1 }[event.key];
      if (event.key === "Enter") asked(number);
      else if (to === undefined || !rows[to]) return;
      else rows[to].focus();
      event.preventDefault();
    });
  });
}

export { bar, roving, table };
