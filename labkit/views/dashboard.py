"""Dashboard: a lab's controls in a notebook; let time pass, make faults, and see map, timeline and trace.

1. Each control calls one verb of the lab and shows the line of Python that does the same.
2. The pictures are drawn again after each verb, as HTML; no output is captured.
3. What a lab refuses, or cannot do, is shown as text; no exception reaches the reader.
4. Each control is a button or a list with a text label and can be used with the keyboard only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import ipywidgets

from labkit.service.durations import SECOND_NS
from labkit.views.trace_lines import last_lines

if TYPE_CHECKING:
    from labkit.lab.faults import LabFaults
    from labkit.trace import Trace
    from labkit.views.picture import Picture

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
    "heal": ("Heal", "restore the line between the two sites"),
    "heal all": ("Heal all", "restore every line"),
}


@dataclass(frozen=True, kw_only=True)
class Controls:
    """What a dashboard needs of a lab.

    ``clusters`` gives the nodes of each cluster; ``unseal``, ``promote`` and ``demote`` take a cluster's name.
    """

    sites: tuple[str, ...]
    clusters: Mapping[str, tuple[str, ...]]
    step: Callable[[], object]
    run: Callable[[str], object]
    faults: LabFaults
    unseal: Callable[[str], object]
    promote: Callable[[str], object]
    demote: Callable[[str], object]
    now_ns: Callable[[], int]
    trace: Trace
    pictures: Callable[[], Iterable[Picture]]


def dashboard(controls: Controls) -> Dashboard:
    """Return the controls of a lab; the last expression of a cell shows them."""
    return Dashboard(controls)


class Dashboard:
    """The controls of one lab, and what they show."""

    def __init__(self, controls: Controls) -> None:
        targets = [name for cluster, nodes in controls.clusters.items() for name in (cluster, *nodes)]
        self.controls = controls
        self.target = _choice("Target", targets)
        self.here = _choice("Site", list(controls.sites))
        self.there = _choice("Other site", list(controls.sites), number=1)
        self.buttons = {name: _button(*words) for name, words in WORDS.items()}
        for name, act in self._verbs().items():
            self.buttons[name].on_click(lambda _, act=act: self.carry_out(act))
        self.status = ipywidgets.HTML()
        self.view = ipywidgets.HTML()
        self.box = ipywidgets.VBox(
            [
                self._row("step", "run 1s", "run 10s"),
                self._row(self.target, "crash", "restart", "unseal", "promote", "demote"),
                self._row(self.here, self.there, "partition", "heal", "heal all"),
                self.status,
                self.view,
            ]
        )
        self._show_status("ready", "")
        self._draw()

    def __repr__(self) -> str:
        return f"Dashboard({', '.join(self.controls.clusters)}; {self._now_s:.3f} s)"

    def carry_out(self, act: Callable[[], tuple[str, Any]]) -> None:
        """Call the verb of a control, then show its result and draw the lab again."""
        line, verb = act()
        try:
            result = verb()
        except Exception as error:  # shown to the reader, whatever it is
            self._show_status(line, f"{type(error).__name__}: {error.args[0] if error.args else ''}", failed=True)
        else:
            self._show_status(line, result if isinstance(result, str) else "")
        self._draw()

    def _verbs(self) -> dict[str, Callable[[], tuple[str, Callable[[], Any]]]]:
        """Return for each control how it makes its line of Python, and the call that does the same."""
        controls, target, here, there = self.controls, self.target, self.here, self.there
        faults = controls.faults
        return {
            "step": lambda: ("lab.step()", controls.step),
            "run 1s": lambda: ('lab.run("1s")', lambda: controls.run("1s")),
            "run 10s": lambda: ('lab.run("10s")', lambda: controls.run("10s")),
            "crash": lambda: (f'lab.crash("{target.value}")', lambda: faults.crash(target.value)),
            "restart": lambda: (f'lab.restart("{target.value}")', lambda: faults.restart(target.value)),
            "unseal": lambda: (f'lab["{self._cluster}"].unseal()', lambda: controls.unseal(self._cluster)),
            "promote": lambda: (f'lab["{self._cluster}"].promote()', lambda: controls.promote(self._cluster)),
            "demote": lambda: (f'lab["{self._cluster}"].demote()', lambda: controls.demote(self._cluster)),
            "partition": lambda: (
                f'lab.partition("{here.value}", "{there.value}")',
                lambda: faults.partition(here.value, there.value),
            ),
            "heal": lambda: (
                f'lab.heal("{here.value}", "{there.value}")',
                lambda: faults.heal(here.value, there.value),
            ),
            "heal all": lambda: ("lab.heal()", faults.heal),
        }

    @property
    def _cluster(self) -> str:
        """The chosen cluster, or that of the chosen node."""
        chosen: str = self.target.value
        return next((name for name, nodes in self.controls.clusters.items() if chosen in nodes), chosen)

    @property
    def _now_s(self) -> float:
        return self.controls.now_ns() / SECOND_NS

    def _row(self, *parts: Any) -> Any:
        children = [self.buttons[part] if isinstance(part, str) else part for part in parts]
        return ipywidgets.HBox(children, layout=ipywidgets.Layout(flex_flow="row wrap"))

    def _show_status(self, line: str, result: str, *, failed: bool = False) -> None:
        """Show the line of Python that was run, and its result; a screen reader reads it out."""
        refused = "<strong>refused</strong> · " if failed else ""
        outcome = f" · {refused}{escape(result)}" if result else ""
        self.status.value = f'<p role="status"><code>{escape(line)}</code>{outcome} · now {self._now_s:.3f} s</p>'

    def _draw(self) -> None:
        self.view.value = self._html()

    def _html(self) -> str:
        lines = "\n".join(map(escape, last_lines(self.controls.trace, LINES))) or "nothing yet"
        pictures = "".join(picture._repr_html_() for picture in self.controls.pictures())
        return f'{pictures}<h4>What happened last</h4><pre tabindex="0">{lines}</pre>'

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """Show the widgets in a notebook, and elsewhere what they showed when the cell ran."""
        return {**self.box._repr_mimebundle_(), "text/html": self._html(), "text/plain": repr(self)}


def _button(words: str, hint: str) -> Any:
    return ipywidgets.Button(description=words, tooltip=hint)


def _choice(words: str, names: list[str], number: int = 0) -> Any:
    chosen = names[min(number, len(names) - 1)]
    return ipywidgets.Dropdown(options=names, value=chosen, description=words)
