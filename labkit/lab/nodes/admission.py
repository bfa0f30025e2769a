"""Admission: what a primary's node answers to hosts that want to join its replication set, or to connect to it.

Any node shows its API's certificate, sealed or not; any unsealed one makes challenges, for its whole cluster; only the
active one gives keys.  All of it goes aside.
"""

from __future__ import annotations

from collections.abc import Callable

from labkit.lab.wire.messages import (
    BootstrapAnswer,
    BootstrapRequest,
    ConnectionChallenge,
    ReplicationQuestion,
)
from labkit.lab.wire.reports import CONNECTION_REFUSED
from labkit.service.errors import NOT_ACTIVE
from labkit.service.message import Response
from labkit.vault.core import Core
from labkit.vault.replication.serving_secondaries import size_bytes
from labkit.vault.replication.trust import admission, api_certificate

NOT_ACTIVE_TEXT = "not the active node"


class Admission:
    """One node's part in admitting secondaries; it keeps nothing.

    ``send(target, what, message, body_bytes, aside=...)`` sends a message of the node.
    """

    __slots__ = ("_core", "_send")

    def __init__(self, core: Core, send: Callable[..., None]) -> None:
        self._core, self._send = core, send

    def answer_bootstrap(self, source: str, message: BootstrapRequest) -> bool:
        """Answer what a host asks for before it can connect: the API's certificate, a challenge, then the keys.

        Return whether it was given that.
        """
        core = self._core
        if message.operation == api_certificate.PRESENT:
            answer = api_certificate.present(core.read_file, message.body["nonce"], source)
        elif message.operation == admission.CHALLENGE:
            answer = admission.answer_challenge(core, source, message.body)
        elif not core.leadership.active:
            answer = Response(503, {}, {"errors": [NOT_ACTIVE_TEXT]}, NOT_ACTIVE)
        else:
            answer = admission.bootstrap(core, source, message.body)
        body_bytes = size_bytes(answer.body or {})
        self._send(source, "bootstrap_answer", BootstrapAnswer(message.number, answer), body_bytes, aside=True)
        return answer.ok

    def greet(self, source: str, question: ReplicationQuestion) -> str:
        """Send a challenge to a host that begins a connection; return why none is made for it, if so."""
        core, secondary_id = self._core, question.secondary_id
        try:
            made = admission.challenge(core, source, secondary_id)
        except ValueError as error:
            core.observe(CONNECTION_REFUSED, secondary=secondary_id, reason=str(error))
            return str(error)
        challenge = ConnectionChallenge(question.message["serial"], *made)
        self._send(source, "challenge", challenge, len(made.text) + len(made.seal), aside=True)
        return ""

    def judge(self, source: str, question: ReplicationQuestion) -> str:
        """Return why the credentials that a host shows are refused; an empty text when they are accepted."""
        core, secondary_id = self._core, question.secondary_id
        why = admission.check_connection(core, secondary_id, source, question.credentials)
        if why:
            core.observe(CONNECTION_REFUSED, secondary=secondary_id, reason=why)
        return why

    def judge_host(self, source: str, secondary_id: str, connected: str | None) -> str:
        """Return why a question is refused on the connection that an id has from some host; an empty text when not."""
        if connected == source:
            return ""
        why = "no connection of that id is open"
        if connected is not None:
            self._core.observe(CONNECTION_REFUSED, secondary=secondary_id, reason=f"{why} from this host")
        return why
