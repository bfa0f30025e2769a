"""Dashboard: a lab's controls in a notebook; let time pass, make faults, and see map, timeline and trace.

1. Everything that a control does is a verb of the lab, and the line of Python that does the same is shown.
2. What is shown is drawn anew after each verb, as HTML; no output is captured.
3. What a lab refuses, or cannot do, is shown as text, and nothing is raised at the reader.
4. Every control is a plain button or list with words on it: it is reached and worked by keyboard alone.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import ipywidgets

from labkit.views.trace_lines import last_lines

if TYPE_CHECKING:
    from labkit.lab.lab import Lab

LINES = 12
WORDS = {
    "step": ("Step", "let the next thing happen"),
    "run 1s": ("Run 1 s", "let a second pass"),
    "run 10s": ("Run 10 s", "let ten seconds pass"),
    "crash": ("Crash", "take the chosen node, or all nodes of the cluster, down"),
    "restart": ("Restart", "start the chosen node, or all nodes of the cluster; they come up sealed"),
    "unseal": ("Unseal", "give the sealed nodes of the chosen cluster their key shares"),
    "promote": ("Promote", "make the chosen secondary the primary"),
    "demote": ("Demote", "make the chosen primary a secondary"),
    "partition": ("Partition", "cut the line between the two sites"),
    "heal": ("Heal", "mend the line between the two sites"),
    "heal all": ("Heal all", "mend every line"),
}


def dashboard(lab: Lab) -> Dashboard:
    """Return the controls of a lab; the last expression of a cell shows them."""
    return Dashboard(lab)


class Dashboard:
    """The controls of one lab, and what they show."""

    def __init__(self, lab: Lab) -> None:
        sites = list(lab.blueprint.sites)
        targets = [name for plan in lab.blueprint.clusters for name in (plan.name, *plan.node_names)]
        self.lab = lab
        self.target = _choice("Target", targets)
        self.here = _choice("Site", sites)
        self.there = _choice("Other site", sites, number=1)
        self.buttons = {name: _button(*words) for name, words in WORDS.items()}
        for name, act in self._verbs().items():
            self.buttons[name].on_click(lambda _, act=act: self.carry_out(act))
        self.told = ipywidgets.HTML()
        self.seen = ipywidgets.HTML()
        self.box = ipywidgets.VBox(
            [
                self._row("step", "run 1s", "run 10s"),
                self._row(self.target, "crash", "restart", "unseal", "promote", "demote"),
                self._row(self.here, self.there, "partition", "heal", "heal all"),
                self.told,
                self.seen,
            ]
        )
        self._tell("ready", "")
        self._draw()

    def __repr__(self) -> str:
        return f"Dashboard({self.lab!r})"

    def carry_out(self, act: Callable[[], tuple[str, Any]]) -> None:
        """Do what a control stands for, then tell what came of it and draw the lab anew."""
        line, verb = act()
        try:
            came = verb()
        except Exception as error:  # the reader is told, whatever it was
            self._tell(line, f"{type(error).__name__}: {error.args[0] if error.args else ''}", failed=True)
        else:
            self._tell(line, came if isinstance(came, str) else "")
        self._draw()

    def _verbs(self) -> dict[str, Callable[[], tuple[str, Callable[[], Any]]]]:
        """Return for each control how it makes its line of Python, and the call that this line stands for."""
        lab, target, here, there = self.lab, self.target, self.here, self.there
        return {
            "step": lambda: ("lab.step()", lab.step),
            "run 1s": lambda: ('lab.run("1s")', lambda: lab.run("1s")),
            "run 10s": lambda: ('lab.run("10s")', lambda: lab.run("10s")),
            "crash": lambda: (f'lab.crash("{target.value}")', lambda: lab.crash(target.value)),
            "restart": lambda: (f'lab.restart("{target.value}")', lambda: lab.restart(target.value)),
            "unseal": lambda: (f'lab["{self._cluster}"].unseal()', lambda: lab[self._cluster].unseal()),
            "promote": lambda: (f'lab["{self._cluster}"].promote()', lambda: lab[self._cluster].promote()),
            "demote": lambda: (f'lab["{self._cluster}"].demote()', lambda: lab[self._cluster].demote()),
            "partition": lambda: (
                f'lab.partition("{here.value}", "{there.value}")',
                lambda: lab.partition(here.value, there.value),
            ),
            "heal": lambda: (f'lab.heal("{here.value}", "{there.value}")', lambda: lab.heal(here.value, there.value)),
            "heal all": lambda: ("lab.heal()", lab.heal),
        }

    @property
    def _cluster(self) -> str:
        """The chosen cluster, or that of the chosen node."""
        chosen: str = self.target.value
        return self.lab.queries.cluster_of(chosen) if chosen in self.lab.parts.nodes else chosen

    def _row(self, *parts: Any) -> Any:
        children = [self.buttons[part] if isinstance(part, str) else part for part in parts]
        return ipywidgets.HBox(children, layout=ipywidgets.Layout(flex_flow="row wrap"))

    def _tell(self, line: str, came: str, *, failed: bool = False) -> None:
        """Show what was done as a line of Python, and what came of it; a screen reader speaks it."""
        mark = "<strong>refused</strong> · " if failed else ""
        said = f" · {mark}{escape(came)}" if came else ""
        self.told.value = f'<p role="status"><code>{escape(line)}</code>{said} · now {self.lab.now / 1e9:.3f} s</p>'

    def _draw(self) -> None:
        self.seen.value = self._html()

    def _html(self) -> str:
        lab = self.lab
        lines = "\n".join(map(escape, last_lines(lab.trace, LINES))) or "nothing yet"
        pictures = (lab.map(), lab.timeline())
        shown = "".join(picture._repr_html_() for picture in pictures)
        return f'{shown}<h4>What happened last</h4><pre tabindex="0">{lines}</pre>'

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """Show the widgets where they live, and elsewhere what they showed when the cell ran."""
        return {**self.box._repr_mimebundle_(), "text/html": self._html(), "text/plain": repr(self)}


def _button(words: str, hint: str) -> Any:
    return ipywidgets.Button(description=words, tooltip=hint)


def _choice(words: str, names: list[str], number: int = 0) -> Any:
    chosen = names[min(number, len(names) - 1)]
    return ipywidgets.Dropdown(options=names, value=chosen, description=words)
