"""Operation calls: no protected call of a secondary is carried out without an operation token that is valid (R18).

1. Which token is valid is known from the answers: the one that the last key share gave, until it was deleted, replaced,
   or the cluster left its set.  Only its digest is kept.
2. A batch token is judged by what it says of itself: it opens, has not expired, and its policies allow the call.
3. Judged is what was carried out, whatever the check of the call said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.lab.invariants.rules import OPERATION_TOKEN
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.wire.reports import CallAnswered, ModeChanged, Wiped
from labkit.service.request_path import split_path
from labkit.vault import tokens
from labkit.vault.context import own_work
from labkit.vault.core import Core
from labkit.vault.policies import UPDATE
from labkit.vault.policies.store import acl_for
from labkit.vault.replication.trust.operation_token import TOKEN
from labkit.vault.token_record import digest_of

PREFIX = "sys/replication/dr/secondary/"
LAST_SHARE, DELETE, REPOINT = "generate-operation-token/update", "operation-token/delete", "update-primary"
PROTECTED = ("promote", "disable", REPOINT, "merkle-check", "reindex", "recover", DELETE)


class OperationCalls(StandingRule):
    """The digest of each cluster's operation token."""

    __slots__ = ("_issued",)

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._issued: dict[str, str] = dict(state.get("issued", ()))

    @property
    def judgements(self) -> Judgements:
        """Answered calls, and what ends a token."""
        return {CallAnswered: self.on_answered, ModeChanged: self.on_mode_changed, Wiped: self.on_wiped}

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values."""
        return {**super().state(), "issued": tuple(self._issued.items())}

    def on_mode_changed(self, report: ModeChanged) -> None:
        """A cluster that leaves its replication set has no operation token any more."""
        if report.mode == "disabled":
            self._issued.pop(report.cluster, None)

    def on_wiped(self, report: Wiped) -> None:
        """Nor has one whose contents were deleted."""
        self._issued.pop(report.cluster, None)

    def on_answered(self, report: CallAnswered) -> None:
        """Judge a call that was carried out; note a token that was given, or deleted."""
        cluster, node, request, answer = report
        if not answer.ok:
            return
        path, query = split_path(request.path)
        if not path.startswith(PREFIX):
            return
        operation, body = path.removeprefix(PREFIX).rstrip("/"), {**query, **(request.body or {})}
        core = self._scene.queries.parts.nodes[node].core
        if operation == LAST_SHARE:
            if (answer.body or {}).get("complete"):
                stored = own_work(core).full_storage.get(TOKEN)
                self._issued[cluster] = "" if stored is None else stored.decode()
            return
        if operation not in PROTECTED:
            return
        self.judged += 1
        given = body.get("dr_operation_token")
        why = self._why_invalid(cluster, core, operation, given if isinstance(given, str) else "")
        if why:
            self._scene.found(OPERATION_TOKEN, f"{node} of {cluster} carried {operation} out {why}")
        if operation == DELETE:
            self._issued.pop(cluster, None)

    def _why_invalid(self, cluster: str, core: Core, operation: str, given: str) -> str:
        """Return what is wrong with the token of a call; an empty text for a valid one."""
        if not given:
            return "without an operation token"
        if self._issued.get(cluster) == digest_of(given):
            return ""
        if not given.startswith("hvb."):
            return "with a token that is not its operation token"
        ctx = own_work(core)
        known = tokens.find(ctx, given)
        if known is None:  # the keys of another primary may be in force by now
            return "" if operation == REPOINT else "with a batch token that is not valid"
        allowed = acl_for(ctx, known[0].policies).allows(UPDATE, PREFIX + operation)
        return "" if allowed else "with a batch token whose policies do not allow it"
