"""Dashboard now: which controls of a dashboard make no sense with what is chosen, and why; the others are not named."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import NamedTuple

from labkit.lab.fault_table import AROUND, LINE, NODE, WAY
from labkit.views.acts_now import ActNow
from labkit.views.dashboard_faults import names_of_buttons
from labkit.views.dashboard_words import OF_TIME, WORDS

PAST = "an earlier instant is shown: press Now, or Go on from here"


class Chosen(NamedTuple):
    """What is chosen in a dashboard, and the verbs that undo the chosen faults."""

    target: str
    cluster: str
    other: str
    here: str
    there: str
    node_undoing: str
    line_undoing: str


OF_TARGET = dict.fromkeys(names_of_buttons(NODE), ("target", "target"))
OF_CLUSTER = dict.fromkeys(("seal", "unseal", "promote", "demote", "reindex"), ("cluster", "cluster"))
CONTROLS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    **{name: (name, (pair,)) for name, pair in (OF_TARGET | OF_CLUSTER).items()},
    "step down": ("seal", (("cluster", "cluster"),)),
    "replicate": ("replicate", (("primary", "cluster"), ("secondary", "other"))),
    "repoint": ("repoint", (("cluster", "cluster"), ("to", "other"))),
    "failover": ("failover", (("old", "cluster"), ("new", "other"))),
    "heal": ("heal", ()),
    "heal all": ("heal", ()),
}
"""The verb whose rule a control has, and which of its parameters are what is chosen where."""
BETWEEN_SITES = (*names_of_buttons(LINE, WAY, AROUND), "make line fault", "undo line fault")
SHOWN = 3


def not_now(acts: Mapping[str, ActNow], chosen: Chosen) -> dict[str, str]:
    """Return why each control makes no sense now that does not."""
    found = {name: _why(acts.get(verb), pairs, chosen) for name, (verb, pairs) in CONTROLS.items()}
    found["undo node fault"] = _why(acts.get(chosen.node_undoing), (("target", "target"),), chosen)
    found["undo line fault"] = _why(acts.get(chosen.line_undoing), (), chosen)
    if chosen.here == chosen.there:
        found |= dict.fromkeys(BETWEEN_SITES, "choose two sites")
    return {name: why for name, why in found.items() if why}


def _why(act: ActNow | None, pairs: tuple[tuple[str, str], ...], chosen: Chosen) -> str:
    if act is None or act.why_not:
        return "" if act is None else act.why_not
    for parameter, field in pairs:
        name, choices = getattr(chosen, field), act.choices.get(parameter, [])
        if parameter in act.choices and name not in choices:
            more = ", …" if len(choices) > SHOWN else ""
            return f"not for {name}, but for {', '.join(choices[:SHOWN])}{more}"
    return ""


def reasons_of(senseless: Mapping[str, str]) -> str:
    """Return in HTML which controls make no sense now, and, to be opened, why."""
    if not senseless:
        return ""
    if set(senseless.values()) == {PAST}:
        return f"<p>Not now: {PAST}</p>"
    names = ", ".join(WORDS[name][0] for name in WORDS if name in senseless and name not in OF_TIME)
    reasons = "".join(f"<li>{WORDS[name][0]}: {escape(senseless[name])}</li>" for name in WORDS if name in senseless)
    return f"<details><summary>Not now{': ' * bool(names)}{names}</summary><ul>{reasons}</ul></details>"
