"""Map signs: the shape of each message on the map of a player, and what its legend names: what occurs, and no more."""

from __future__ import annotations

from collections.abc import Mapping

from labkit.views.player.pace import QUIET
from labkit.views.player.recorded.carried_messages import Carried
from labkit.views.player.recorded.recorded_hosts import NODE
from labkit.views.player.recorded.recording import Recording
from labkit.views.player.stage import over_others

SHAPES = ("circle: request", "triangle: answer", "square: between clusters", "diamond: other message")
"""In the order in which the script has them."""
REQUESTS, ANSWERS = ("request", "forwarded_request"), ("response", "forwarded_answer")
LETTERS = {"active": "A", "standby": "s", "sealed": "#", "paused": "‖", "down": "d"}
"""{the state of a node: the letter that stands for it}, as the script has them."""


def shape_of(message: Carried, kinds: Mapping[str, str]) -> int:
    """Return the place of a message's shape, by what it is and what its ends are; ``kinds`` are those of hosts."""
    if message.what in REQUESTS:
        return 0
    if message.what in ANSWERS:
        return 1
    return 2 if kinds[message.source] == kinds[message.target] == NODE else 3


def legend_of(recording: Recording) -> list[str]:
    """Return what the legend of a run names."""
    kinds = {host.name: host.kind for host in recording.hosts}
    shapes = {shape_of(one, kinds) for one in recording.messages}
    states = {span.what for span in recording.nodes}
    found = [f"{letter} {state}" for state, letter in LETTERS.items() if state in states]
    found += [SHAPES[shape] for shape in sorted(shapes)]
    found += ["large: of interest, slowed down for; small: other"] if recording.interesting else []
    found += ["2×: two there"] if len(recording.messages) > 1 else []
    found += ["cross: lost there"] if any(one.lost for one in recording.messages) else []
    found += ["broken line: cut"] if any(span.cut for span in recording.lines) else []
    found += ["dotted line: over other sites"] if over_others(recording) else []
    found += ["bracket: no write succeeded"] if recording.gaps else []
    found += ["//: passes quickly"] if any(one.kind == QUIET for one in recording.stretches) else []
    return found
