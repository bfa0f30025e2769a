"""Greeting: how a secondary's node begins a connection: it asks by guard, is given a challenge, and asks again.

Until the challenge is here the question is asked again in place of each heartbeat: nothing else is answered yet, and
the question or the challenge may have been lost.
"""

from __future__ import annotations

from typing import Any

from labkit.lab.wire.messages import ConnectionChallenge, ReplicationQuestion
from labkit.vault.core import Core
from labkit.vault.replication.trust import admission
from labkit.vault.replication.trust.challenge import Challenge


class Greeting:
    """The question that waits for a challenge, and the node that was asked."""

    __slots__ = ("node", "question")

    def __init__(self, state: tuple[Any, ...] | None = None) -> None:
        self.node, self.question = state or ("", None)

    def begin(self, node: str, question: ReplicationQuestion) -> None:
        """Remember what was asked of a node without credentials."""
        self.node, self.question = node, question

    def instead_of(self, heartbeat: ReplicationQuestion, node: str) -> ReplicationQuestion:
        """Return what is sent to a node that is not connected yet: the question again, while it waits."""
        return self.question if self.question is not None and self.node == node else heartbeat

    def proven(self, source: str, challenge: ConnectionChallenge, core: Core) -> ReplicationQuestion | None:
        """Return the question with credentials, once the node that was asked wants them; None for any other challenge.

        ValueError says why nothing is shown to it: it is not the upstream that this secondary was activated for.
        """
        question = self.question
        if question is None or (self.node, question.message["serial"]) != (source, challenge.serial):
            return None
        self.question = None
        shown = admission.credentials(core, Challenge(challenge.text, challenge.seal))
        proven: ReplicationQuestion = question._replace(credentials=shown)
        return proven

    def state(self) -> tuple[Any, ...] | None:
        """Return what waits as plain values."""
        return None if self.question is None else (self.node, self.question)
