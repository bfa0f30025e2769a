"""Keyboard: a widget without a picture that keeps the keys pressed in a dashboard from the notebook around it.

In JupyterLab single letters are commands while a button has the focus: ``d d`` deletes the cell.  What has the focus in
a widget of labkit is excepted from that; ``static/keyboard.js`` says how.
"""

from __future__ import annotations

from pathlib import Path

import anywidget

NO_COMMANDS = 'data-lm-suppress-shortcuts="true"'
"""The attribute of an element in which no key is a command of the notebook."""


class Keyboard(anywidget.AnyWidget):
    """Has no state and shows nothing; it stands among the controls that it is for."""

    _esm = Path(__file__).with_name("static") / "keyboard.js"
