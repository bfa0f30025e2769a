"""The zoo: every mistake that is planted, in one list, and the controls; ``prove`` shares its own with it."""

from __future__ import annotations

from labkit.lab.nodes import election, replication_link
from labkit.proof.planted_bugs import PLANTED_BUGS
from labkit.vault.replication.events import Announced, Event
from labkit.vault.replication.state import State, Step
from labkit.vault.replication.sync import on
from labkit.vault.walk import clearances
from tests.zoo.node_mistakes import OF_NODES, OF_PROVE
from tests.zoo.planting import Mistake
from tests.zoo.vault_mistakes import OF_THE_VAULT


def _announcement_ignored(state: State, event: Event) -> Step:
    return (state, []) if isinstance(event, Announced) else on(state, event)


ZOO: dict[str, Mistake] = {**OF_PROVE, **OF_NODES, **OF_THE_VAULT}
"""{name: the mistake}."""

CONTROLS: dict[str, Mistake] = {
    "stale-push": Mistake(
        PLANTED_BUGS["stale-push"].about,
        ((replication_link, "on", PLANTED_BUGS["stale-push"].on),),
        harmless=PLANTED_BUGS["stale-push"].harmless,
    ),
    "announcements-ignored": Mistake(
        "a secondary does not act on announcements",
        ((replication_link, "on", _announcement_ignored),),
        harmless="a connection on which nothing is answered is given up anyway, only later",
    ),
    "long-lease": Mistake(
        "a lease lasts for ten seconds",
        ((election, "LEASE_NS", 10 * election.RENEW_NS),),
        harmless="another node leads later; nobody writes who does not lead",
    ),
    "nothing-remembered": Mistake(
        "no request is cleared by what an earlier one showed",
        ((clearances, "give", lambda ctx: None),),
        harmless="each is judged in full, which takes longer",
    ),
    "clean": Mistake("none: the shipped code", (), harmless="nothing is planted"),
}
"""What a campaign must not complain of."""
