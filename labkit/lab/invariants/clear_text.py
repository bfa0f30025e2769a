"""Clear text: no secret of a lab stands where it is not encrypted (R18).

1. The secrets looked for are those that a lab knows: root tokens, key shares, and what its clients write and encrypt.
2. What nodes observe and operators note is judged as it enters the trace, what replication answers (its status, a
   check, an attempt) when it is answered, and what primaries' journals hold at rest: the newest entries since the last
   look.
3. Texts are searched for the form that secrets have, and only one that has it for each of them: a lab of many
   clusters costs no more.
4. An answer that gives a value to whoever asked for it is not one of these places.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from labkit.lab.invariants.rules import CLEAR_TEXT
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.wire.reports import CallAnswered, NodeTreated, Noted, Observed
from labkit.service.request_path import readable

OF_REPLICATION = "sys/replication/"

MARKS = ("x" * 16, b64encode(b"x" * 12).decode())
"""What is in every value that a lab's clients write, or have encrypted, of 16 bytes or more."""

FORM = re.compile(r"hvs\.|[0-9a-f]{64}")
"""The form of root tokens and key shares: how one begins, and the fewest digits that a share has."""

STORED_FORM = re.compile(FORM.pattern.encode())
STORED_MARKS = re.compile("|".join(map(re.escape, MARKS)).encode())

MAX_ENTRIES = 64
"""How many journal entries of a cluster are looked at, the newest ones."""


class ClearText(StandingRule):
    """How far each cluster's journal was looked at; the secrets are the operators', asked for when one is in doubt."""

    __slots__ = ("_looked",)

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._looked: dict[str, int] = dict(state.get("looked", ()))

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
        if not report.answer.ok or self._is_of_replication(report):
            self._judge(f"what {report.node} answered to {readable(report.request.path)}", (str(report.answer.body),))

    def _is_of_replication(self, report: CallAnswered) -> bool:
        """Whether the path within its namespace is one of replication: that of a secret may have the word in it."""
        if report.request.path.startswith(f"/v1/{OF_REPLICATION}"):  # as nearly all are sent
            return True
        route = self._scene.queries.parts.nodes[report.node].vault.route_of(report.request)
        return route is not None and route.path.startswith(OF_REPLICATION)

    def check_at_rest(self) -> None:
        """Judge the newest entries of the journals of active nodes."""
        queries = self._scene.queries
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
                self.judged += 1
                for key, _, value in entry.changes:
                    if value is not None and self._is_clear(value):
                        what = f"entry {entry.number} of {plan.name} under {key}"
                        self._scene.found(CLEAR_TEXT, f"{what} holds a secret in clear text")

    def _judge(self, where: str, texts: Iterable[str]) -> None:
        self.judged += 1
        text = "\n".join(texts)
        if FORM.search(text) and any(secret in text for secret in self._secrets()):
            self._scene.found(CLEAR_TEXT, f"{where} shows a secret")

    def _is_clear(self, stored: bytes) -> bool:
        if STORED_MARKS.search(stored):
            return True
        return bool(STORED_FORM.search(stored)) and any(secret.encode() in stored for secret in self._secrets())

    def _secrets(self) -> Iterator[str]:
        """Yield the secrets that operators have by now: others when a cluster joins, or is rekeyed."""
        console = self._scene.queries.parts.console
        for row in (*console.credentials.values(), *console.former.values()):
            yield row.root_token
            yield from row.unseal_keys
