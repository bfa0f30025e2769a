"""Operator host: the host beside a cluster from which operators ask; the answers that reach it are the console's."""

from __future__ import annotations

from typing import Any

from labkit.lab.operations.operator_console import OperatorConsole
from labkit.lab.wire.messages import ApiAnswer, malformed_answer
from labkit.service.message import Response


class OperatorHost:
    """One operator's host, by its name."""

    __slots__ = ("_console", "name")

    def __init__(self, name: str, console: OperatorConsole) -> None:
        self.name, self._console = name, console

    def receive(self, source: str, answer: ApiAnswer) -> None:
        """Hand an answer to the console, which counts a message that is not one as refused (R25)."""
        wrong = malformed_answer(_without_text(answer))
        if wrong:
            self._console.refuse(self.name, source, wrong)
        else:
            self._console.receive(source, answer)


def _without_text(message: ApiAnswer) -> ApiAnswer:
    """Return an answer whose body is text that says so, as metrics are given, without it; any other as it is."""
    response: Any = message.response if type(message) is ApiAnswer else None
    body: Any = response.body if type(response) is Response else None
    if type(body) is not str or type(response.headers) is not dict:
        return message
    is_text = response.status == 200 and str(response.headers.get("Content-Type")).startswith("text/plain")
    return message._replace(response=response._replace(body=None)) if is_text else message
