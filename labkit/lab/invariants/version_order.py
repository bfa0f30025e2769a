"""Version order: the versions of a secret that clients were answered have one order, which is that of time (R18).

1. It is judged by answers, of each path and each history of a cluster: a write that began after another operation was
   answered has a later version than that one, a reading no earlier one, and no version is given twice.
2. Deleting the metadata of a secret begins another life: versions are counted again, and what was under way then is not
   judged.  An operation without an answer says nothing, nor does a reading through a balancer: which cluster's history
   it showed is not known.
3. A write under check-and-set makes the version after the one that it names.
4. Of each secret the newest answers with a higher version than all before are kept, so that each costs the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from labkit.lab.invariants.rules import VERSION_ORDER
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.wire.reports import ANSWERED, AskEnded, Committed, OperationEnded, RequestAnswered
from labkit.lab.wire.seen_versions import made_version
from labkit.service.durations import in_seconds

MAX_ANSWERS = 16
"""How many answers are kept of a secret: of so many at once, and more, the earliest are not compared."""

Secret = tuple[str, int]
"""The path of a secret, and the number of the history that has its versions."""


class VersionAnswered(NamedTuple):
    """An answer that named a version: when it came, to whom, and whether it was a write's."""

    at_ns: int
    version: int
    asker: str
    is_write: bool

    @property
    def text(self) -> str:
        """The operation in words."""
        what = "write" if self.is_write else "reading"
        return f"a {what} of {self.asker}, answered at {in_seconds(self.at_ns)} s"


class AttemptVersion(NamedTuple):
    """The version that one attempt of a write made."""

    secret: Secret
    version: int


class VersionOrder(StandingRule):
    """The newest answers of each secret, when its life began, and what was made for whoever waits for an answer."""

    __slots__ = ("_answers", "_histories", "_lives", "_made")

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._histories = scene.queries.parts.ledger.histories
        self._answers: dict[Secret, tuple[VersionAnswered, ...]] = dict(state.get("answers", ()))
        self._lives: dict[Secret, int] = dict(state.get("lives", ()))
        self._made: dict[tuple[str, int], dict[int, AttemptVersion]] = {
            asked: dict(attempts) for asked, attempts in state.get("made", {}).items()
        }

    @property
    def judgements(self) -> Judgements:
        """Versions that are made, and what clients and operators are answered."""
        return {
            Committed: self.on_committed,
            OperationEnded: self.on_operation_ended,
            AskEnded: self.on_ask_ended,
            RequestAnswered: self.on_answered,
        }

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values."""
        return {
            **super().state(),
            "answers": dict(self._answers),
            "lives": dict(self._lives),
            "made": {asked: dict(attempts) for asked, attempts in self._made.items()},
        }

    def on_committed(self, report: Committed) -> None:
        """Note the version that a write made for who waits; the end of all versions begins another life."""
        made = report.made
        if made is None:
            return
        queries = self._scene.queries
        secret = made.path, self._histories.current[report.cluster]
        if not made.version:
            self._lives[secret] = queries.now
            self._answers.pop(secret, None)
        elif report.correlation is not None and queries.is_awaited(report.correlation):
            attempts = self._made.setdefault(report.correlation[:2], {})
            attempts[report.correlation.attempt] = AttemptVersion(secret, made.version)

    def on_answered(self, report: RequestAnswered) -> None:
        """Judge a write under check-and-set: the version that it makes is the next after the one that it names."""
        body = report.request.body
        if type(body) is not dict or "options" not in body or not report.answer.ok:
            return
        made, options = made_version(report.request, report.answer), body["options"]
        cas = options.get("cas") if isinstance(options, dict) else None
        if made is None or not made.version or type(cas) is not int:
            return
        self.judged += 1
        if made.version != cas + 1:
            what = f"a write of {report.correlation.asker} that is to follow version {cas} of {made.path}"
            self._scene.found(VERSION_ORDER, f"{what} made version {made.version}")

    def on_operation_ended(self, report: OperationEnded) -> None:
        """Judge what a client was answered."""
        if report.seen is not None or self._made:
            self._end(report, report.client)

    def on_ask_ended(self, report: AskEnded) -> None:
        """Judge what an operator was answered."""
        if report.seen is not None or self._made:
            self._end(report, report.asker)

    def _end(self, report: OperationEnded | AskEnded, asker: str) -> None:
        seen, correlation = report.seen, report.correlation
        if seen is not None:
            history = self._histories.current.get(report.cluster)
            if seen.version and history is not None:
                answer = VersionAnswered(report.at_ns, seen.version, asker, False)
                self._judge((seen.path, history), report.started_ns, answer)
            return
        attempts = self._made.pop(correlation[:2], None)
        if attempts is not None and report.outcome == ANSWERED:
            # What an earlier attempt made may be answered by a later one.
            made = attempts.get(correlation.attempt) or attempts[max(attempts)]
            self._judge(made.secret, report.started_ns, VersionAnswered(report.at_ns, made.version, asker, True))

    def _judge(self, secret: Secret, started_ns: int, answer: VersionAnswered) -> None:
        """Compare an answer with those that came before its operation began, and keep it if it is the newest."""
        if self._lives.get(secret, -1) >= started_ns:
            return
        answers = self._answers.get(secret)
        if answers is None:
            self._answers[secret] = (answer,)
            return
        self.judged += 1
        _, version, _, is_write = answer
        for other in reversed(answers):
            before = other.at_ns < started_ns
            twice = other.version == version and is_write and other.is_write
            if before or twice:
                if twice or version < other.version + (is_write and before):
                    self._found(secret[0], other, answer, twice=twice)
                break
        if version > answers[-1].version:
            self._answers[secret] = (*answers[-MAX_ANSWERS + 1 :], answer)

    def _found(self, path: str, other: VersionAnswered, answer: VersionAnswered, *, twice: bool) -> None:
        if twice:
            text = f"version {answer.version} of {path} was given twice: to {answer.text}, and to {other.text}"
        else:
            text = f"{answer.text}, has version {answer.version} of {path}, and {other.text} before it began, has"
            text += f" version {other.version}"
        self._scene.found(VERSION_ORDER, text)
