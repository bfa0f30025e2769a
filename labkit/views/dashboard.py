"""Dashboard: a lab's controls in a notebook; let time pass, write, make faults, and see map, timeline and trace.

1. Each control calls one verb of the lab and shows the line of Python that does the same.
2. The controls are widgets; below them stands a page of plain HTML that is drawn again after each verb.  The page is an
   output of its own, so a saved or exported notebook shows what was seen last, without a kernel and without widgets.
3. What a lab refuses, or cannot do, is shown as text; no exception reaches the reader.  No answer is *in doubt*.
4. A rule that is broken stands above everything else.
5. Each control is a button or a list with a text label and can be used with the keyboard only; no key that is pressed
   in one is a command of the notebook.  They stand in rows by what they act on; what is seldom needed is chosen from a
   list.
6. What makes no sense now is disabled and says why.  An earlier instant is shown without a change of the lab; going on
   from there gives another lab, ``dashboard.lab``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import ipywidgets
from IPython.display import display, update_display

from labkit.lab.fault_table import AROUND, CLUSTER, LAYERS, LINE, NAMED, NODE, WAY
from labkit.service.durations import SECOND_NS, in_seconds
from labkit.views.acts_now import ActNow
from labkit.views.dashboard_faults import (
    BUTTONS,
    LAYERS_UPWARDS,
    LINE_FAULTS,
    NODE_FAULTS,
    Act,
    FaultForm,
    act,
    form_of,
    names_of_buttons,
)
from labkit.views.dashboard_now import PAST, Chosen, not_now, reasons_of
from labkit.views.dashboard_time import TimeBar
from labkit.views.dashboard_words import ANY_TIME, WORDS
from labkit.views.keyboard import NO_COMMANDS, Keyboard
from labkit.views.trace_lines import last_lines

if TYPE_CHECKING:
    from labkit.lab.cluster import Cluster
    from labkit.lab.faults import LabFaults
    from labkit.lab.invariants import Violation
    from labkit.service.message import Response
    from labkit.trace import Trace
    from labkit.views.picture import Picture

LINES = 12
BACK_NS = 10 * SECOND_NS
PATIENCE = "5s"
NO_ANSWER = "no answer"
STANDBY = 307

# What stands in for a widget that is not there, such as "Loading widget...", is hidden beside the page.  The page
# repeats broken rules for a reader without widgets only.
STYLE = """<style>
.jp-OutputArea-child:has(+ .jp-OutputArea-child .labkit-page):not(:has(.labkit-board)){display:none}
.jp-OutputArea-child:has(.labkit-board)~.jp-OutputArea-child .labkit-broken{display:none}
.labkit-broken{border:2px solid #de1c02;border-left-width:8px;padding:4px 10px;margin:6px 0}
.labkit-page pre[tabindex]{overflow-x:auto;white-space:pre}
.labkit-page svg.labkit{--widest:668px}
.labkit-page p,.labkit-board p,.labkit-board details{margin:2px 0;line-height:1.3}
</style>"""


@dataclass(frozen=True, kw_only=True)
class Controls:
    """What a dashboard needs of a lab; ``clusters`` gives the nodes of each cluster, ``cluster`` a handle of one.

    ``at`` gives the controls of the lab as it was at an instant; ``lab`` is the lab itself, for who asks for it.
    """

    lab: object
    at: Callable[[str], Controls]
    acts_now: Callable[[], Mapping[str, ActNow]]
    sites: tuple[str, ...]
    clusters: Mapping[str, tuple[str, ...]]
    cluster: Callable[[str], Cluster]
    step: Callable[[], object]
    run: Callable[[str], object]
    work_through: Callable[..., str]
    faults: LabFaults
    broken: Callable[[], Iterable[Violation]]
    now_ns: Callable[[], int]
    trace: Trace
    pictures: Callable[[], Iterable[Picture]]


def dashboard(controls: Controls) -> Dashboard:
    """Return the controls of a lab; the last expression of a cell shows them."""
    return Dashboard(controls)


class Dashboard:
    """The controls of one lab, and what they show."""

    def __init__(self, controls: Controls) -> None:
        clusters = list(controls.clusters)
        targets = [name for cluster, nodes in controls.clusters.items() for name in (cluster, *nodes)]
        self.controls = self._shown = controls
        self.time = TimeBar(controls.now_ns(), self._look)
        self.target = _choice("Target", targets)
        self.other = _choice("Other cluster", clusters, number=1)
        self.here = _choice("Site", list(controls.sites))
        self.there = _choice("Other site", list(controls.sites), number=1)
        self.node_fault = _choice("Node fault", [form.words for form in NODE_FAULTS])
        self.line_fault = _choice("Line fault", [form.words for form in LINE_FAULTS])
        self.layer = _choice("Layer of the index", list(LAYERS_UPWARDS))
        self.buttons = {name: _button(*words) for name, words in WORDS.items()}
        for name, button in self.buttons.items():
            button.on_click(lambda _, name=name: self.carry_out(self._acts()[name]()))
        for choice in (self.target, self.other, self.here, self.there, self.node_fault, self.line_fault):
            choice.observe(handler=lambda _: self._offer(), names="value")
        self.status, self.reasons = ipywidgets.HTML(), ipywidgets.HTML()
        self.box = ipywidgets.VBox(
            [
                self._row("step", "run 1s", "run 10s", "back", *self.time.parts, "now", "go on"),
                self._row(self.target, "write", *names_of_buttons(NODE), "seal", "unseal", "step down"),
                self._row(self.node_fault, "make node fault", "undo node fault"),
                self._row(self.other, "replicate", "repoint", "failover", "promote", "demote"),
                self._row(self.here, self.there, *names_of_buttons(LINE, WAY, AROUND), "heal all"),
                self._row(self.line_fault, "make line fault", "undo line fault"),
                self._row(self.layer, *names_of_buttons(CLUSTER), "reindex"),
                self.reasons,
                self.status,
                Keyboard(),
            ]
        )
        self.box.add_class("labkit-board")
        self.page = ""
        self._written = 0
        self._is_shown = False
        self._show_status("ready", "")
        self._draw()

    def __repr__(self) -> str:
        return f"Dashboard({', '.join(self.controls.clusters)}; {self._now_s} s)"

    def carry_out(self, act: Act) -> None:
        """Call the verb of a control, then show its result and draw the lab again."""
        text = verdict = ""
        try:
            result = act.call()
            text = result if isinstance(result, str) else ""
        except Exception as error:  # shown to the reader, whatever it is
            said = str(error.args[0]) if error.args else ""
            verdict = "in doubt" if isinstance(error, TimeoutError) or NO_ANSWER in said else "refused"
            text = f"{type(error).__name__}: {said}"
        self._shown = self.controls
        self._show_status(act.line, text, verdict=verdict)
        self._draw()

    def _acts(self) -> dict[str, Callable[[], Act]]:
        """Return for each control how it makes its act from what is chosen."""
        controls, faults = self.controls, self.controls.faults
        return {
            "back": lambda: self._go_back(controls.now_ns() - BACK_NS),
            "now": lambda: Act("lab.map()", lambda: None),
            "go on": lambda: self._go_back(self._shown.now_ns()),
            "step": lambda: Act("lab.step()", controls.step),
            "run 1s": lambda: Act('lab.run("1s")', lambda: controls.run("1s")),
            "run 10s": lambda: Act('lab.run("10s")', lambda: controls.run("10s")),
            "write": self._write,
            **{name: partial(self._fault, name) for name in BUTTONS},
            "seal": lambda: self._runbook("seal"),
            "unseal": self._unseal,
            "step down": self._step_down,
            "promote": lambda: self._runbook("promote"),
            "demote": lambda: self._runbook("demote"),
            "replicate": lambda: self._pair("replicate", "primary", "secondary"),
            "repoint": self._repoint,
            "failover": lambda: self._pair("failover", "old", "new"),
            "heal all": lambda: act(faults, "heal", (), {}),
            "make node fault": lambda: self._node_form.make(faults, self.target.value),
            "undo node fault": lambda: self._node_form.undo(faults, self.target.value),
            "make line fault": lambda: self._line_form.make(faults, self.here.value, self.there.value),
            "undo line fault": lambda: self._line_form.undo(faults, self.here.value, self.there.value),
            "reindex": lambda: self._runbook("reindex"),
        }

    def _fault(self, name: str) -> Act:
        """Make a fault that has a button, at what is chosen."""
        fault, ends = NAMED[name], (self.here.value, self.there.value)
        targets = {NODE: (self.target.value,), CLUSTER: (self._cluster,)}.get(fault.target, ends)
        layer = {field.name: self.layer.value for field in fault.fields if field.names == LAYERS}
        return act(self.controls.faults, fault.method, targets, layer)

    def _write(self) -> Act:
        """Write a secret whose name was not used by this dashboard yet."""
        self._written += 1
        cluster, path, body = self._cluster, f"secret/data/note-{self._written}", {"data": {"number": self._written}}
        how: dict[str, Any] = {"timeout": PATIENCE, **({"node": self._node} if self._node else {})}
        arguments = "".join(f', {name}="{value}"' for name, value in how.items())
        line = f'lab["{cluster}"].post("{path}", {{"data": {{"number": {self._written}}}}}{arguments})'
        return Act(line, lambda: _said(self.controls.cluster(cluster).post(path, body, **how)))

    def _step_down(self) -> Act:
        cluster, path = self._cluster, "sys/step-down"
        line = f'lab["{cluster}"].post("{path}", timeout="{PATIENCE}")'
        return Act(line, lambda: _said(self.controls.cluster(cluster).post(path, timeout=PATIENCE)))

    @property
    def lab(self) -> object:
        """The lab that the controls act on: after going back another than the one that this was made for."""
        return self.controls.lab

    def _look(self, at_ns: int | None) -> None:
        """Show the lab at an instant, or as it is; what cannot be shown is said."""
        line = "lab.map()" if at_ns is None else f'lab.at("{_instant(at_ns)}").map()'
        try:
            self._shown = self.controls if at_ns is None else self.controls.at(_instant(at_ns))
        except ValueError as error:
            self._show_status(line, str(error), verdict="refused")
            return
        self._show_status(line, "")
        self._draw()

    def _go_back(self, at_ns: int) -> Act:
        """Go on from an earlier instant."""
        instant = _instant(max(self.time.since_ns, at_ns))

        def back() -> None:
            self.controls = self.controls.at(instant)

        return Act(f'lab = lab.at("{instant}")', back)

    def _offer(self) -> None:
        """Disable what makes no sense now, and say why."""
        node, line = self._node_form.undoing, self._line_form.undoing
        undoing = [verb.replace("_", "-") for verb in (node, line)]
        ends = (self.target.value, self._cluster, self.other.value, self.here.value, self.there.value)
        senseless = not_now(self.controls.acts_now(), Chosen(*ends, *undoing))
        if self._shown is not self.controls:
            senseless = {name: PAST for name in self.buttons if name not in ANY_TIME}
        else:
            senseless |= dict.fromkeys(ANY_TIME, "the lab is shown as it is")
        if self.controls.now_ns() <= self.time.since_ns:
            senseless["back"] = "no time has passed that could be gone back by"
        for name, button in self.buttons.items():
            why = senseless.get(name, "")
            button.disabled, button.tooltip = bool(why), f"not now: {why}" if why else WORDS[name][1]
        self.reasons.value = reasons_of(senseless)

    @property
    def _node_form(self) -> FaultForm:
        return form_of(NODE_FAULTS, self.node_fault.value)

    @property
    def _line_form(self) -> FaultForm:
        return form_of(LINE_FAULTS, self.line_fault.value)

    def _unseal(self) -> Act:
        cluster, node, work = self._cluster, self._node, self.controls.work_through
        if not node:
            return self._runbook("unseal")
        line = f'lab.work_through("unseal", cluster="{cluster}", node="{node}")'
        return Act(line, lambda: work("unseal", cluster=cluster, node=node))

    def _runbook(self, verb: str) -> Act:
        cluster = self._cluster
        return Act(f'lab["{cluster}"].{verb}()', lambda: self.controls.work_through(verb, cluster=cluster))

    def _repoint(self) -> Act:
        cluster, to = self._cluster, self.other.value
        work = self.controls.work_through
        return Act(f'lab["{cluster}"].repoint("{to}")', lambda: work("repoint", cluster=cluster, to=to))

    def _pair(self, verb: str, first: str, second: str) -> Act:
        names = {first: self._cluster, second: self.other.value}
        arguments = ", ".join(f'"{name}"' for name in names.values())
        return Act(f"lab.{verb}({arguments})", lambda: self.controls.work_through(verb, **names))

    @property
    def _cluster(self) -> str:
        """The chosen cluster, or that of the chosen node."""
        chosen: str = self.target.value
        return next((name for name, nodes in self.controls.clusters.items() if chosen in nodes), chosen)

    @property
    def _node(self) -> str:
        """The chosen node; empty when a cluster is chosen."""
        chosen: str = self.target.value
        return "" if chosen in self.controls.clusters else chosen

    @property
    def _now_s(self) -> str:
        return in_seconds(self._shown.now_ns())

    def _row(self, *parts: Any) -> Any:
        children = [self.buttons[part] if isinstance(part, str) else part for part in parts]
        # Without that a row has a scroll bar: the words of a choice are a pixel higher than what it says of itself.
        return ipywidgets.HBox(children, layout=ipywidgets.Layout(flex_flow="row wrap", overflow="visible"))

    def _show_status(self, line: str, result: str, *, verdict: str = "") -> None:
        """Show the line of Python that was run, and its result; a screen reader reads it out."""
        marked = f"<strong>{verdict}</strong> · " if verdict else ""
        outcome = f" · {marked}{escape(result)}" if result else ""
        when = "now" if self._shown is self.controls else "shown as it was at"
        words = f'<p role="status"><code>{escape(line)}</code>{outcome} · {when} {self._now_s} s</p>'
        self.status.value = words + self._broken_html()

    def _broken_html(self) -> str:
        """Return a box for each rule that is broken."""
        return "".join(
            f'<div class="labkit-broken" role="alert"><strong>× rule broken: {escape(rule.name)}</strong> '
            f"at {in_seconds(rule.at_ns)} s: {escape(rule.detail)}</div>"
            for rule in self._shown.broken()
        )

    def _draw(self) -> None:
        """Draw what is shown again, and let the controls offer what makes sense now."""
        if self._shown is self.controls:
            self.time.put(self.controls.now_ns())
        self._offer()
        lines = "\n".join(map(escape, last_lines(self._shown.trace, LINES))) or "nothing yet"
        pictures = "".join(picture.figure for picture in self._shown.pictures())
        last = f'<p><strong>What happened last</strong></p><pre tabindex="0" {NO_COMMANDS}>{lines}</pre>'
        self.page = f'{STYLE}<div class="labkit-page">{self._broken_html()}{pictures}{last}</div>'
        if self._is_shown:
            _publish(update_display, self._page_bundle(), display_id=self._page_id)

    @property
    def _page_id(self) -> str:
        return f"labkit-page-{self.box.model_id}"

    def _page_bundle(self) -> dict[str, str]:
        return {"text/html": self.page, "text/plain": repr(self)}

    def _ipython_display_(self) -> None:
        """Show the controls, and the page as an output of its own."""
        view = {**self.box._repr_mimebundle_(), "text/html": "", "text/plain": repr(self)}
        _publish(display, view)
        _publish(display, self._page_bundle(), display_id=self._page_id)
        self._is_shown = True

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """Return the page, for what shows no widgets."""
        return self._page_bundle()


def _instant(at_ns: int) -> str:
    return f"{at_ns / SECOND_NS:.9f}".rstrip("0").rstrip(".") + "s"


def _said(answer: Response) -> str:
    """Return an answer in words."""
    if answer.ok:
        return f"answered {answer.status}"
    why = "; ".join(answer.errors)
    if answer.status == STANDBY:
        why = f"this node is a standby, the active node is {answer.headers.get('Location', '')}"
    return f"refused {answer.status}: {why or 'no text'}"


def _publish(show: Any, bundle: dict[str, Any], **how: str) -> None:
    """Hand IPython what stands in an output, as it is (its own functions are not annotated)."""
    show(bundle, raw=True, **how)


def _button(words: str, hint: str) -> Any:
    layout = ipywidgets.Layout(width="auto", height="26px", padding="0 8px", margin="1px 2px")
    return ipywidgets.Button(description=words, tooltip=hint, layout=layout)


def _choice(words: str, names: list[str], number: int = 0) -> Any:
    chosen = names[min(number, len(names) - 1)]
    layout = ipywidgets.Layout(width="auto", height="26px", margin="1px 2px")
    style = {"description_width": "initial"}
    return ipywidgets.Dropdown(options=names, value=chosen, description=words, layout=layout, style=style)
