"""Clear text: no secret of a lab stands where it is not encrypted (R18).

1. The secrets looked for are those that a lab knows: root tokens, key shares, and what its clients write and encrypt.
2. What nodes observe and operators note is judged as it enters the trace, what replication answers (its status, a
   check, an attempt) when it is answered, and what primaries' journals hold at rest: the newest entries since the last
   look.
3. A value that the API gives to whoever has asked for it is none of these places.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from labkit.lab.invariants.rules import CLEAR_TEXT
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.node import OF_REPLICATION
from labkit.lab.reports import CallAnswered, NodeTreated, Noted, Observed
from labkit.service.request_path import readable

MARKS = ("x" * 16, b64encode(b"x" * 12).decode())
"""What is in every value that a lab's clients write, or have encrypted, of 16 bytes or more."""

NOTHING = "(?!)"
"""Matches nothing."""

MAX_ENTRIES = 64
"""How many journal entries of a cluster are looked at, the newest ones."""


class ClearText(StandingRule):
    """How far each cluster's journal was looked at; the secrets are the operators', asked for at each look."""

    __slots__ = ("_looked", "_secrets", "_stored", "_text")

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._looked: dict[str, int] = dict(state.get("looked", ()))
        self._secrets: tuple[str, ...] = ()
        self._text = re.compile(NOTHING)
        self._stored = re.compile(NOTHING.encode())

    @property
    def judgements(self) -> Judgements:
        """What enters the trace, and what replication answers."""
        return {
            Observed: lambda report: self._judge(
                f"what {report.node} observed", map(str, dict(report.fields).values())
            ),
            Noted: lambda report: self._judge("a note", (report.text,)),
            NodeTreated: lambda report: self._judge(f"what happened to {report.node}", (report.detail,)),
            CallAnswered: self.on_answered,
        }

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values: no secret is among them."""
        return {**super().state(), "looked": tuple(self._looked.items())}

    def on_answered(self, report: CallAnswered) -> None:
        """Judge what replication answered, and refusals of all kinds."""
        if OF_REPLICATION in report.request.path or not report.answer.ok:
            self._judge(f"what {report.node} answered to {readable(report.request.path)}", (str(report.answer.body),))

    def check_at_rest(self) -> None:
        """Judge the newest entries of the journals of active nodes."""
        queries = self._scene.queries
        self._learn()
        for plan in queries.blueprint.clusters:
            name = queries.active_node(plan.name)
            node = queries.parts.nodes[name] if name else None
            if node is None or node.mode.mode != "primary":  # a secondary's entries are its primary's
                continue
            journal = node.journal
            if not journal.on or journal.last == self._looked.get(plan.name):
                continue
            after = max(self._looked.get(plan.name, 0), journal.last - MAX_ENTRIES, journal.oldest)
            self._looked[plan.name] = journal.last
            for entry in journal.since(after) or ():
                self.occurred = True
                for key, _, value in entry.changes:
                    if value is not None and self._stored.search(value):
                        what = f"entry {entry.number} of {plan.name} under {key}"
                        self._scene.found(CLEAR_TEXT, f"{what} holds a secret in clear text")

    def _learn(self) -> None:
        """Note the secrets that operators have by now: others when a cluster joins, or is rekeyed."""
        console = self._scene.queries.parts.console
        known = (*console.credentials.values(), *console.former.values())
        secrets = tuple(secret for row in known for secret in (row.root_token, *row.unseal_keys))
        if secrets != self._secrets:
            self._secrets = secrets
            self._text = re.compile("|".join(map(re.escape, secrets)))
            self._stored = re.compile("|".join(map(re.escape, (*secrets, *MARKS))).encode())

    def _judge(self, where: str, texts: Iterable[str]) -> None:
        self.occurred = True
        self._learn()
        if self._text.search("\n".join(texts)):
            self._scene.found(CLEAR_TEXT, f"{where} shows a secret")
