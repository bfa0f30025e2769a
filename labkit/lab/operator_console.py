"""Desk: where operators sit, one beside each cluster; asks the active node and works through runbooks.

1. An operator's host is never a target of a fault; its link is constant and lossless and draws nothing.
2. It asks the active node, and tries again while there is none, until the time is over; then the answer is silence.
3. Runbooks are kept as name, arguments and answers; the generator is only a cache of them (R2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.lab.runbooks import RUNBOOKS, Adopt, Ask, Credentials, Keys, Pause, RunbookError
from labkit.service.message import Request, Response, silence

if TYPE_CHECKING:
    from labkit.lab.lab import Lab

SECOND_NS = 1_000_000_000
TIMEOUT_NS = 30 * SECOND_NS
LOOK_AGAIN_NS = SECOND_NS // 4

UNSERVED = (307, 503)
CLUSTER_ARGUMENTS = ("cluster", "primary", "secondary", "to")


class PendingAsk(NamedTuple):
    """A request that waits for its answer, or for a node that can be asked."""

    number: int
    cluster: str
    node: str
    request: Request
    deadline_ns: int
    runbook: int = 0
    asked: str = ""
    tries: int = 0


class Running(NamedTuple):
    """A runbook under way: everything it was given so far."""

    number: int
    name: str
    arguments: tuple[tuple[str, Any], ...]
    answers: tuple[Any, ...] = ()


class Finished(NamedTuple):
    """How a runbook ended: its closing sentence, or why it could not go on."""

    ok: bool
    text: str


class Desk:
    """The operators' desk of a lab."""

    __slots__ = ("_lab", "_live", "answers", "asks", "credentials", "finished", "runbooks", "serial")

    def __init__(self, lab: Lab, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self._lab = lab
        self._live: dict[int, Any] = {}
        self.serial: int = state.get("serial", 0)
        self.asks: dict[int, PendingAsk] = {row[0]: PendingAsk(*row) for row in state.get("asks", ())}
        self.runbooks: dict[int, Running] = {row[0]: Running(*row) for row in state.get("runbooks", ())}
        self.answers: dict[int, Response] = dict(state.get("answers", {}))
        self.finished: dict[int, Finished] = dict(state.get("finished", {}))
        self.credentials: dict[str, Credentials] = dict(state.get("credentials", {}))

    def ask(self, ask: Ask, timeout_ns: int = TIMEOUT_NS, runbook: int = 0, headers: Any = None) -> int:
        """Begin to ask; return the number under which the answer will lie in ``answers``."""
        self.serial += 1
        token = self.credentials[ask.cluster].root_token if ask.token is None else ask.token
        sent = dict(headers) if headers is not None else {}
        if headers is None and token:
            sent["X-Vault-Token"] = token
        path = ask.path if ask.path.startswith("/v1/") else "/v1/" + ask.path.removeprefix("/")
        request = Request(ask.method, path, sent, ask.body)
        pending = PendingAsk(self.serial, ask.cluster, ask.node, request, self._lab.now + timeout_ns, runbook)
        self.asks[pending.number] = pending
        self._lab.clock.after(timeout_ns, ("desk", ask.cluster, ("deadline", pending.number)))
        self._try(pending)
        return pending.number

    def start(self, name: str, **arguments: Any) -> int:
        """Begin a runbook; return the number under which its end will lie in ``finished``.

        Raises KeyError for a cluster that is not there, before anything happens.
        """
        for argument in CLUSTER_ARGUMENTS:
            if argument in arguments:
                self._lab.blueprint.cluster(arguments[argument])
        self.serial += 1
        number = self.serial
        self.runbooks[number] = Running(number, name, tuple(sorted(arguments.items())))
        self._live[number] = RUNBOOKS[name](**arguments)
        self._advance(number, None)
        return number

    def on_timer(self, payload: tuple[Any, ...]) -> None:
        """A timer came back: look again for a node, a deadline, or the end of a pause."""
        kind, number = payload[0], payload[1]
        if kind == "pause":
            self._advance(number, True)
        elif number in self.asks:
            pending = self.asks[number]
            if kind == "deadline":
                wanted = f"no answer from {pending.cluster} to {pending.request!r} in time"
                self._end(pending, silence(wanted))
            elif pending.tries == payload[2]:
                self._try(pending)

    def on_answer(self, correlation: str, response: Response) -> None:
        """An answer reached an operator's host; a late one is nobody's."""
        number, tries = (int(part) for part in correlation.rsplit("/", 2)[1:])
        pending = self.asks.get(number)
        if pending is None or pending.tries != tries:
            return
        unserved = response.status in UNSERVED and not pending.node and _try_elsewhere(response)
        if unserved:
            self._look_again(pending)
        else:
            self._end(pending, response, correlation)

    def state(self) -> dict[str, Any]:
        """Return the desk as plain values."""
        return {
            "serial": self.serial,
            "asks": tuple(self.asks.values()),
            "runbooks": tuple(self.runbooks.values()),
            "answers": dict(self.answers),
            "finished": dict(self.finished),
            "credentials": dict(self.credentials),
        }

    def _try(self, pending: PendingAsk) -> None:
        lab = self._lab
        node = pending.node or lab.active_node(pending.cluster)
        if pending.node and not lab.is_running(pending.node):
            known = pending.node in lab.hosts
            self._end(pending, silence("not running" if known else "no such node"))
            return
        pending = pending._replace(tries=pending.tries + 1, asked=node)
        self.asks[pending.number] = pending
        if not node:
            self._look_again(pending)
            return
        correlation = f"{pending.cluster}-operator/{pending.number}/{pending.tries}"
        lab.send_request(f"{pending.cluster}-operator", node, correlation, pending.request)

    def _look_again(self, pending: PendingAsk) -> None:
        later = ("desk", pending.cluster, ("again", pending.number, pending.tries))
        self._lab.clock.after(LOOK_AGAIN_NS, later)

    def _end(self, pending: PendingAsk, response: Response, correlation: str = "") -> None:
        del self.asks[pending.number]
        self._lab.note_asked(pending, response, correlation)
        if pending.runbook:
            self._advance(pending.runbook, response)
        else:
            self.answers[pending.number] = response

    def _advance(self, number: int, answer: Any) -> None:
        """Play a runbook on with an answer, as far as it goes without waiting."""
        running = self.runbooks[number]
        steps = self._live.get(number) or self._replay(running)
        self._live[number] = steps
        try:
            while True:
                wanted = steps.send(answer)
                if answer is not None:
                    running = running._replace(answers=(*running.answers, answer))
                self.runbooks[number] = running
                if isinstance(wanted, Ask):
                    self.ask(wanted, runbook=number)
                    return
                if isinstance(wanted, Pause):
                    self._lab.clock.after(wanted.delay_ns, ("desk", "", ("pause", number)))
                    return
                answer = self._look_up(wanted)
        except StopIteration as end:
            self._finish(number, Finished(True, end.value))
        except RunbookError as error:
            self._finish(number, Finished(False, str(error)))

    def _look_up(self, wanted: Keys | Adopt) -> Any:
        if isinstance(wanted, Keys):
            return self.credentials[wanted.cluster]
        self.credentials[wanted.cluster] = self.credentials[wanted.of]
        return True

    def _replay(self, running: Running) -> Any:
        steps = RUNBOOKS[running.name](**dict(running.arguments))
        steps.send(None)
        for answer in running.answers:
            steps.send(answer)
        return steps

    def _finish(self, number: int, finished: Finished) -> None:
        del self.runbooks[number]
        self._live.pop(number, None)
        self.finished[number] = finished
        self._lab.runbook_ended(number, finished)


def _try_elsewhere(response: Response) -> bool:
    """Whether a 307 or 503 only says that this node is not the active one; other refusals are answers."""
    return response.status == 307 or any("active" in text for text in response.errors)
