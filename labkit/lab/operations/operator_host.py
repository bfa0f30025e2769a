"""Operator host: the host beside a cluster from which operators ask; the answers that reach it are the console's."""

from __future__ import annotations

from labkit.lab.operations.operator_console import OperatorConsole
from labkit.lab.wire.messages import ApiAnswer, malformed_answer


class OperatorHost:
    """One operator's host, by its name."""

    __slots__ = ("_console", "name")

    def __init__(self, name: str, console: OperatorConsole) -> None:
        self.name, self._console = name, console

    def receive(self, source: str, answer: ApiAnswer) -> None:
        """Hand an answer to the console, which counts a message that is not one as refused (R25)."""
        wrong = malformed_answer(answer)
        if wrong:
            self._console.refuse(self.name, source, wrong)
        else:
            self._console.receive(source, answer)
