"""An operator's host: an answer goes to the console; anything else is counted there under the host's name."""

from __future__ import annotations

from typing import Any

from labkit.lab.operations.operator_console import OperatorConsole
from labkit.lab.operations.operator_host import OperatorHost
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import pair
from labkit.lab.wire.host_services import ResolvedNode
from labkit.lab.wire.messages import ApiAnswer, Correlation
from labkit.lab.wire.reports import MESSAGE_REFUSED, Observed
from labkit.service.message import Response


def test_an_answer_is_the_consoles_and_anything_else_is_refused(outside):
    outside.known = {"active://paris": ResolvedNode("paris-1", "paris", True)}
    console = OperatorConsole(pair(), outside.services)
    host = OperatorHost("paris-operator", console)
    number = console.ask(Ask("paris", "GET", "sys/health", token=""))
    asked = Correlation("paris-operator", number, 1)
    not_an_object: Any = []
    message: Any
    for message in ("hello", ApiAnswer(asked, Response(200, {}, not_an_object))):
        host.receive("paris-1", message)

    assert console.refused_messages == 2
    assert [(type(report), report.node) for report in outside.reports] == [(Observed, "paris-operator")] * 2
    assert {report.kind for report in outside.reports} == {MESSAGE_REFUSED}
    assert number in console.asks
    host.receive("paris-1", ApiAnswer(asked, Response(200, {}, {})))
    assert console.answers[number].ok
