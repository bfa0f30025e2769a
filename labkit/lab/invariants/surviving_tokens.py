"""Surviving tokens: what a secondary holds of its primary's tokens is valid once it is promoted (R18).

1. At a promotion every token's record that the survivor holds opens, and is noted with its expiry.
2. Afterwards none of them is refused as invalid, and none is deleted without a request, before it expires.  What
   counts its uses, was written again, belongs to a namespace, or hangs from such a token is not judged: the last use
   deletes, and may be that of a reading.  Nor is what was deleted by a commit inside which the process ended: who asked
   for it is not known.
3. A cluster that is still a secondary deletes no token: what expires there is its primary's to delete.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from labkit.lab.invariants.rules import SURVIVING_TOKENS
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.wire.reports import INTERRUPTED, CallAnswered, Committed, Corrupted, ModeChanged, UpstreamLeft, Wiped
from labkit.service.limits import is_text
from labkit.service.message import Request
from labkit.vault.storage.barrier import BarrierError
from labkit.vault.token_record import IDS, decode_token, digest_of
from labkit.vault.tokens import INVALID_TOKEN

MAX_HELD = 4_096
"""How many tokens are noted at a promotion, in the order of their digests."""


class HeldToken(NamedTuple):
    """What is noted of a token: when it expires (0: never), from which it hangs, whether it is not judged."""

    expires_ns: int
    hangs_from: str
    spared: bool


class SurvivingTokens(StandingRule):
    """The tokens that each promoted cluster held, by digest, and which clusters are secondaries."""

    __slots__ = ("_damaged", "_held", "_secondaries")

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._held: dict[str, dict[str, HeldToken]] = {
            cluster: {digest: HeldToken(*row) for digest, row in rows} for cluster, rows in state.get("held", ())
        }
        self._secondaries: set[str] = set(state.get("secondaries", ()))
        self._damaged: set[str] = set(state.get("damaged", ()))

    @property
    def judgements(self) -> Judgements:
        """Promotions, and what becomes of tokens afterwards."""
        return {
            UpstreamLeft: self.on_left,
            Committed: self.on_committed,
            CallAnswered: self.on_answered,
            ModeChanged: self.on_mode_changed,
            Wiped: self.on_wiped,
            Corrupted: lambda report: self._damaged.add(report.altered),
        }

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values."""
        return {
            **super().state(),
            "held": tuple(
                [
                    (cluster, tuple([(digest, tuple(row)) for digest, row in rows.items()]))
                    for cluster, rows in self._held.items()
                ]
            ),
            "secondaries": tuple(sorted(self._secondaries)),
            "damaged": tuple(sorted(self._damaged)),
        }

    def on_mode_changed(self, report: ModeChanged) -> None:
        """A cluster that is not a primary any more has tokens of another."""
        if report.mode == "secondary":
            self._secondaries.add(report.cluster)
        else:
            self._secondaries.discard(report.cluster)
        if report.mode != "primary":
            self._held.pop(report.cluster, None)

    def on_wiped(self, report: Wiped) -> None:
        """A cluster's tokens were deleted with all its contents."""
        self._held.pop(report.cluster, None)

    def on_left(self, report: UpstreamLeft) -> None:
        """A secondary was promoted: note the tokens that it holds; each of their records opens."""
        cluster, queries = report.cluster, self._scene.queries
        node = queries.active_node(cluster)
        if report.mode != "primary" or not node:
            return
        self.judged += 1
        core, store = queries.parts.nodes[node].core, queries.parts.stores[cluster]
        held = self._held[cluster] = {}
        for digest in store.list(IDS)[:MAX_HELD]:
            stored = store.get(IDS + digest)
            assert stored is not None, "it is listed"
            try:
                token = decode_token(core.keys.decrypt(IDS + digest, stored))
            except BarrierError:
                if IDS + digest not in self._damaged:
                    self._found(f"a token that {cluster} held when it was promoted does not open: {IDS}{digest}")
            else:
                held[digest] = HeldToken(token.expires_ns, token.parent, bool(token.namespace or token.uses))

    def on_committed(self, report: Committed) -> None:
        """Judge the tokens that a step deleted; one that it wrote again is not judged any more."""
        cluster = report.cluster
        if cluster not in self._held and cluster not in self._secondaries:
            return
        held = self._held.get(cluster)
        for _, changes in report.commits:
            for key, left in changes:
                if not key.startswith(IDS):
                    continue
                if left is None and cluster in self._secondaries:
                    self._found(f"{cluster} is a secondary and deleted {key}")
                elif held is not None:
                    asked = report.correlation is not None or report.part == INTERRUPTED
                    if left is None and not asked and not self._may_end(cluster, key[len(IDS) :]):
                        self._found(f"{cluster} deleted {key}, which it held when it was promoted, before it expired")
                    held.pop(key[len(IDS) :], None)

    def on_answered(self, report: CallAnswered) -> None:
        """Judge a request whose token was refused as invalid."""
        held = self._held.get(report.cluster)
        if not held or report.answer.status != 403 or INVALID_TOKEN not in (report.answer.body or {}).get("errors", ()):
            return
        digest = digest_of(_token_of(report.request))
        if digest in held and not self._may_end(report.cluster, digest):
            self._found(
                f"{report.node} of {report.cluster} refused a token that {report.cluster} held when it was promoted"
            )

    def _may_end(self, cluster: str, digest: str) -> bool:
        """Whether a token may be over by now, by itself or with one that it hangs from."""
        held, node = self._held[cluster], self._scene.queries.active_node(cluster)
        now_ns = self._scene.queries.parts.nodes[node].core.now() if node else 0
        while digest:
            row = held.get(digest)
            if (
                row is None
                or row.spared
                or IDS + digest in self._damaged
                or (row.expires_ns and now_ns >= row.expires_ns)
            ):
                return True
            digest = row.hangs_from
        return not node

    def _found(self, detail: str) -> None:
        self._scene.found(SURVIVING_TOKENS, detail)


def _token_of(request: Request) -> str:
    """Return the token that a request sends, by whichever header; empty with a namespace: those have tokens too."""
    sent = {str(name).lower(): value for name, value in request.headers.items()}
    if sent.get("x-vault-namespace"):
        return ""
    scheme, _, bearer = str(sent.get("authorization", "")).partition(" ")
    text = sent.get("x-vault-token") or (bearer.strip() if scheme.lower() == "bearer" else "")
    return text if is_text(text) else ""
