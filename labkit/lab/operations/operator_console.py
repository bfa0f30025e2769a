"""Operator console: sends operators' requests, from a host beside each cluster, and works through runbooks.

1. An operator's host is never a target of a fault; its link is constant and lossless and draws nothing.
2. It asks the active node, and tries again while there is none, until the time is over; then the answer is silence.
   What may have been carried out is never sent again.  A runbook does not wait for a cluster whose nodes are all down
   or sealed: only another runbook would unseal one.
3. Runbooks are kept as name, arguments and answers; the generator is only a cache of them (R2).
4. What a caller hands over is copied (``bodies``); an answer counts when it comes from the node that was asked.
5. One timer is set for all requests that wait: it comes back at the earliest deadline, so none of those that are
   answered stays in the clock.  A thousand requests in a row leave one timer, not as many as thirty seconds had.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from labkit.lab.operations.runbook_arguments import judge
from labkit.lab.operations.runbook_effects import (
    Ask,
    Credentials,
    KeepValues,
    LookUpClusters,
    LookUpCredentials,
    LookUpNodes,
    LookUpValues,
    Note,
    Pause,
    RunbookError,
    Step,
)
from labkit.lab.operations.runbooks import RUNBOOKS
from labkit.lab.plan.blueprint import Blueprint
from labkit.lab.wire.addresses import active_address, api_address
from labkit.lab.wire.bodies import copied
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import ApiAnswer, ApiRequest, AskAgain, AskDeadline, Correlation, PauseOver, size_of
from labkit.lab.wire.reports import ANSWERED, MESSAGE_REFUSED, REFUSED, UNKNOWN, AskEnded, Noted, Observed, RunbookEnded
from labkit.lab.wire.seen_versions import read_version
from labkit.service.durations import SECOND_NS
from labkit.service.errors import FORWARDING_LOST, NO_ACTIVE_NODE, NO_SUCH_NODE, NOT_ACTIVE, NOT_RUNNING
from labkit.service.message import Request, Response, silence

TIMEOUT_NS = 30 * SECOND_NS
RETRY_NS = SECOND_NS // 4

NOT_SERVED = (NOT_ACTIVE, NO_ACTIVE_NODE)
"""The reason codes of a node that only says that it is not the active one; other refusals are answers."""

ConsoleTimer = AskDeadline | AskAgain | PauseOver


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
    shown: str = ""
    started_ns: int = 0

    @property
    def shown_path(self) -> str:
        """The path as a reader may see it: names stand for kept values."""
        return f"/v1/{self.shown.removeprefix('/v1/').removeprefix('/')}" if self.shown else self.request.path


class RunningRunbook(NamedTuple):
    """A runbook under way: everything it was given so far."""

    number: int
    name: str
    arguments: tuple[tuple[str, Any], ...]
    answers: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"RunningRunbook({self.number}, {self.name})"  # never arguments or answers: they carry tokens


class Finished(NamedTuple):
    """How a runbook ended: its closing sentence, or why it could not go on."""

    ok: bool
    text: str


class OperatorConsole:
    """The operators' console of a lab."""

    __slots__ = (
        "_blueprint",
        "_live",
        "_services",
        "answers",
        "asks",
        "cloud_values",
        "credentials",
        "finished",
        "former",
        "hosts",
        "kept",
        "refused_messages",
        "runbooks",
        "serial",
        "timed_ns",
    )

    def __init__(self, blueprint: Blueprint, services: HostServices, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self._blueprint, self._services = blueprint, services
        self.hosts = {plan.name: plan.operator_host for plan in blueprint.clusters}  # the operator's, beside each
        self.cloud_values: Callable[[], dict[str, Any]] = dict  # what operators have of a cloud, where there is one
        self._live: dict[int, Any] = {}
        self.serial: int = state.get("serial", 0)
        self.timed_ns: int = state.get("timed_ns", 0)  # when the timer for deadlines comes back; 0: none is set
        self.asks: dict[int, PendingAsk] = {row[0]: PendingAsk(*row) for row in state.get("asks", ())}
        self.runbooks: dict[int, RunningRunbook] = {row[0]: RunningRunbook(*row) for row in state.get("runbooks", ())}
        self.answers: dict[int, Response] = dict(state.get("answers", {}))
        self.finished: dict[int, Finished] = dict(state.get("finished", {}))
        self.credentials: dict[str, Credentials] = dict(state.get("credentials", {}))
        self.former: dict[str, Credentials] = dict(state.get("former", {}))
        self.kept: dict[str, Any] = dict(state.get("kept", {}))
        self.refused_messages: int = state.get("refused_messages", 0)

    def ask(self, ask: Ask, timeout_ns: int = TIMEOUT_NS, runbook: int = 0, headers: Any = None) -> int:
        """Begin to ask; return the number under which the answer will be in ``answers``."""
        token = self.credentials[ask.cluster].root_token if ask.token is None else ask.token
        sent = dict(headers) if headers is not None else {}
        if headers is None and token:
            sent["X-Vault-Token"] = token
        sent.update(ask.headers)
        path = ask.path if ask.path.startswith("/v1/") else "/v1/" + ask.path.removeprefix("/")
        request = Request(ask.method, path, sent, copied(ask.body))
        self.serial += 1
        now_ns = self._services.now()
        asked = (self.serial, ask.cluster, ask.node, request, now_ns + timeout_ns, runbook)
        pending = PendingAsk(*asked, shown=ask.shown, started_ns=now_ns)
        self.asks[pending.number] = pending
        self._watch_deadline(pending, now_ns)
        self._try(pending)
        return pending.number

    def start(self, name: str, **arguments: Any) -> int:
        """Begin a runbook; return the number under which its end will be in ``finished``.

        ValueError for a runbook or an argument that is not there, before anything happens.
        """
        name, arguments = judge(self._blueprint, name, arguments)
        kept = {argument: copied(value) for argument, value in sorted(arguments.items())}
        steps = RUNBOOKS[name](**kept)
        self.serial += 1
        number = self.serial
        self.runbooks[number] = RunningRunbook(number, name, tuple(kept.items()))
        self._live[number] = steps
        self._advance(number, None)
        return number

    def receive(self, source: str, answer: ApiAnswer) -> None:
        """Take an answer that reached an operator's host; one that comes too late is ignored."""
        correlation, response = answer
        pending = self.asks.get(correlation.number)
        if pending is None or (pending.asked, pending.tries) != (source, correlation.attempt):
            return
        if response.code in NOT_SERVED and not pending.node:
            self._look_again(pending)
        else:
            self._end(pending, response, correlation)

    def withdraw(self, number: int) -> None:
        """Forget a request whose caller waits no longer; an answer that comes later is ignored."""
        self.asks.pop(number, None)
        self.answers.pop(number, None)

    def refuse(self, host: str, source: str, reason: str) -> None:
        """Count and report a message to an operator's host that is not an answer (R25)."""
        self.refused_messages += 1
        fields = (("reason", reason), ("source", source))
        self._services.emit(Observed(self._services.now(), host, MESSAGE_REFUSED, fields))

    def on_timer(self, timer: ConsoleTimer) -> None:
        """A timer came back: look again for a node, a deadline, or the end of a pause."""
        TIMER_HANDLERS[type(timer)](self, timer)

    def state(self) -> dict[str, Any]:
        """Return the console as plain values."""
        return {
            "serial": self.serial,
            "timed_ns": self.timed_ns,
            "asks": tuple(self.asks.values()),
            "runbooks": tuple(self.runbooks.values()),
            "answers": dict(self.answers),
            "finished": dict(self.finished),
            "credentials": dict(self.credentials),
            "former": dict(self.former),
            "kept": dict(self.kept),
            "refused_messages": self.refused_messages,
        }

    def _try(self, pending: PendingAsk) -> None:
        found = self._services.resolve(api_address(pending.node) if pending.node else active_address(pending.cluster))
        if found is None:
            self._end(pending, silence("no such node", NO_SUCH_NODE))
            return
        if pending.node and not found.running:
            self._end(pending, silence("not running", NOT_RUNNING))
            return
        node = found.node
        pending = pending._replace(tries=pending.tries + 1, asked=node)
        self.asks[pending.number] = pending
        if not node and pending.runbook and not found.running:
            text = f"no node of {pending.cluster} is running and unsealed; restart and unseal one first"
            self._end(pending, silence(text, NOT_RUNNING))
            return
        if not node:
            self._look_again(pending)
            return
        host = self.hosts[pending.cluster]
        message = ApiRequest(Correlation(host, pending.number, pending.tries), pending.request)
        self._services.send(host, node, "request", message, size_of(pending.request.body))

    def _look_again(self, pending: PendingAsk) -> None:
        self._services.after(RETRY_NS, AskAgain(pending.number, pending.tries))

    def _watch_deadline(self, pending: PendingAsk, now_ns: int) -> None:
        """Set the timer for a request, unless it comes back earlier already."""
        if not self.timed_ns or pending.deadline_ns < self.timed_ns:
            self.timed_ns = pending.deadline_ns
            self._services.after(pending.deadline_ns - now_ns, AskDeadline(pending.number))

    def _on_deadline(self, timer: AskDeadline) -> None:
        """End what waited long enough; set the timer for what still waits, if this was the one that was set last."""
        now_ns = self._services.now()
        waiting = [pending for pending in self.asks.values() if _is_due(pending, timer, now_ns)]
        if self.timed_ns <= now_ns:
            self.timed_ns = 0
        for pending in waiting:
            if pending.number in self.asks:
                request = pending.request._replace(path=pending.shown_path)
                self._end(pending, silence(f"no answer from {pending.cluster} to {request!r} in time"))
        if self.asks and not self.timed_ns:
            self._watch_deadline(min(self.asks.values(), key=_deadline), now_ns)

    def _on_ask_again(self, timer: AskAgain) -> None:
        pending = self.asks.get(timer.number)
        if pending is not None and pending.tries == timer.tries:
            self._try(pending)

    def _on_pause_over(self, timer: PauseOver) -> None:
        if timer.number in self.runbooks:
            self._advance(timer.number, True)

    def _end(self, pending: PendingAsk, response: Response, correlation: Correlation | None = None) -> None:
        del self.asks[pending.number]
        self._report(pending, response, correlation or Correlation(self.hosts[pending.cluster], pending.number))
        if pending.runbook:
            self._advance(pending.runbook, response)
        else:
            self.answers[pending.number] = response

    def _report(self, pending: PendingAsk, response: Response, correlation: Correlation) -> None:
        """Report how a request ended; a runbook's request that was never sent is not counted."""
        if not response.status and pending.runbook and not pending.asked:
            return
        unknown = not response.status or response.code == FORWARDING_LOST
        outcome = ANSWERED if response.ok else UNKNOWN if unknown else REFUSED
        path = pending.shown_path.removeprefix("/v1/")
        how = (response.status, "" if response.ok else "; ".join(response.errors), pending.asked)
        ended = (self._services.now(), self.hosts[pending.cluster], path, outcome, correlation, *how)
        seen = None if pending.shown else read_version(pending.request, response)  # a path with a kept value stays here
        self._services.emit(AskEnded(*ended, pending.started_ns, pending.cluster, seen, pending.request.method))

    def _advance(self, number: int, answer: Any) -> None:
        """Play a runbook on with an answer, as far as it goes without waiting."""
        running = self.runbooks[number]
        try:
            steps = self._live.get(number) or self._replay(running)
            self._live[number] = steps
            while True:
                wanted = _played(running, steps, answer)
                if answer is not None:
                    running = running._replace(answers=(*running.answers, answer))
                self.runbooks[number] = running
                if isinstance(wanted, Ask):
                    self.ask(wanted, runbook=number)
                    return
                if isinstance(wanted, Pause):
                    self._services.after(wanted.delay_ns, PauseOver(number))
                    return
                answer = self._look_up(wanted)
        except StopIteration as end:
            self._finish(number, Finished(True, end.value))
        except RunbookError as error:
            self._finish(number, Finished(False, str(error)))

    def values(self) -> dict[str, Any]:
        """Return what is kept, and what operators have of each cluster: ``paris.root``, ``paris.share.1``."""
        found = {**self.kept, **self.cloud_values()}
        for when, credentials in (("", self.credentials), ("former.", self.former)):
            for cluster, keys in credentials.items():
                found[f"{cluster}.{when}root"] = keys.root_token
                shares = enumerate(keys.unseal_keys, 1)
                found.update({f"{cluster}.{when}share.{number}": share for number, share in shares})
        return found

    def _look_up(self, wanted: Step) -> Any:
        if isinstance(wanted, LookUpCredentials):
            return self.credentials[wanted.cluster]
        if isinstance(wanted, LookUpNodes):
            return self._blueprint.cluster(wanted.cluster).node_names
        if isinstance(wanted, LookUpClusters):
            return tuple([plan.name for plan in self._blueprint.clusters])
        if isinstance(wanted, Note):
            self._services.emit(Noted(self._services.now(), wanted.text))
            return True
        if isinstance(wanted, LookUpValues):
            return self.values()
        if isinstance(wanted, KeepValues):
            self.kept.update(copied(dict(wanted.values)))
            return True
        self.former[wanted.cluster] = self.credentials[wanted.cluster]
        self.credentials[wanted.cluster] = self.credentials[wanted.of]
        return True

    def _replay(self, running: RunningRunbook) -> Any:
        steps = RUNBOOKS[running.name](**dict(running.arguments))
        steps.send(None)
        for answer in running.answers:
            steps.send(answer)
        return steps

    def _finish(self, number: int, finished: Finished) -> None:
        del self.runbooks[number]
        self._live.pop(number, None)
        self.finished[number] = finished
        self._services.emit(RunbookEnded(number, finished.ok, finished.text))


def _is_due(pending: PendingAsk, timer: AskDeadline, now_ns: int) -> bool:
    return pending.number == timer.number or pending.deadline_ns <= now_ns


def _deadline(pending: PendingAsk) -> int:
    return pending.deadline_ns


def _played(running: RunningRunbook, steps: Any, answer: Any) -> Any:
    """Return what a runbook wants next; an answer of another shape than it reads ends it (R25)."""
    try:
        return steps.send(answer)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        text = f"{running.name}: the last answer is not of the shape that this step reads"
        raise RunbookError(f"{text} ({type(error).__name__})") from error


TIMER_HANDLERS: dict[type, Callable[[OperatorConsole, Any], None]] = {
    AskDeadline: OperatorConsole._on_deadline,
    AskAgain: OperatorConsole._on_ask_again,
    PauseOver: OperatorConsole._on_pause_over,
}
