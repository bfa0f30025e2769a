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
from operator import itemgetter
from typing import Any, NamedTuple

from labkit.lab.invariants.rules import VERSION_ORDER
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.wire.messages import Correlation
from labkit.lab.wire.reports import ANSWERED, AskEnded, Committed, OperationEnded, RequestAnswered
from labkit.lab.wire.seen_versions import SeenVersion, made_version
from labkit.service.durations import in_seconds

MAX_ANSWERS = 16
"""How many answers are kept of a secret: of so many at once, and more, the earliest are not compared."""

Secret = tuple[str, int]
"""The path of a secret, and the number of the history that has its versions."""

AnswerRow = tuple[int, int, str, bool]
"""The fields of an answer: nearly all are only compared, and a bare tuple is made in a tenth of the time."""

MadeRow = tuple[int, Secret, int]
"""Which attempt of a write made a version, of which secret, and which."""


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

    __slots__ = ("_answers", "_awaited", "_current", "_lives", "_made")

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        ledger = scene.queries.parts.ledger
        self._current, self._awaited = ledger.histories.current, ledger.awaited
        self._answers: dict[Secret, tuple[AnswerRow, ...]] = dict(state.get("answers", ()))
        self._lives: dict[Secret, int] = dict(state.get("lives", ()))
        self._made: dict[tuple[str, int], tuple[MadeRow, ...]] = {  # the newest attempt first
            asked: tuple([(attempt, *row) for attempt, row in reversed(attempts.items())])
            for asked, attempts in state.get("made", {}).items()
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
            "made": {
                asked: {attempt: AttemptVersion(secret, version) for attempt, secret, version in reversed(rows)}
                for asked, rows in self._made.items()
            },
        }

    def on_committed(self, report: Committed) -> None:
        """Note the version that a write made for who waits; the end of all versions begins another life."""
        made = report.made
        if made is None:
            return
        path, version, _ = made
        secret, correlation = (path, self._current[report.cluster]), report.correlation
        if not version:
            self._lives[secret] = self._scene.queries.now
            self._answers.pop(secret, None)
        elif correlation is not None:
            asker, number, attempt = correlation
            asked = asker, number
            if asked in self._awaited:
                self._made[asked] = ((attempt, secret, version), *self._made.get(asked, ()))

    def on_answered(self, report: RequestAnswered) -> None:
        """Judge a write under check-and-set: the version that it makes is the next after the one that it names."""
        _, _, request, answer, correlation = report
        body = request.body
        if type(body) is not dict or "options" not in body or not answer.ok:
            return
        made, options = made_version(request, answer), body["options"]
        cas = options.get("cas") if isinstance(options, dict) else None
        if made is None or not made.version or type(cas) is not int:
            return
        self.judged += 1
        if made.version != cas + 1:
            what = f"a write of {correlation.asker} that is to follow version {cas} of {made.path}"
            self._scene.found(VERSION_ORDER, f"{what} made version {made.version}")

    def on_operation_ended(self, report: OperationEnded) -> None:
        """Judge what a client was answered."""
        at_ns, started_ns, client, _, _, cluster, outcome, _, _, correlation, seen = report
        if seen is not None:
            self._judge_reading(cluster, seen, started_ns, (at_ns, seen.version, client, False))
        elif self._made:
            made = self._made_for(correlation, outcome)
            if made is not None:
                self._judge(made[1], started_ns, (at_ns, made[2], client, True))

    def on_ask_ended(self, report: AskEnded) -> None:
        """Judge what an operator was answered."""
        at_ns, started_ns, asker, seen = report.at_ns, report.started_ns, report.asker, report.seen
        if seen is not None:
            self._judge_reading(report.cluster, seen, started_ns, (at_ns, seen.version, asker, False))
        elif self._made:
            made = self._made_for(report.correlation, report.outcome)
            if made is not None:
                self._judge(made[1], started_ns, (at_ns, made[2], asker, True))

    def _made_for(self, correlation: Correlation, outcome: str) -> MadeRow | None:
        """Return what an operation that has ended made, if it was answered; it is kept no longer."""
        asker, number, attempt = correlation
        rows = self._made.pop((asker, number), None)
        if rows is None or outcome != ANSWERED:
            return None
        for row in rows:
            if row[0] == attempt:
                return row
        return max(rows, key=itemgetter(0))  # what an earlier attempt made may be answered by a later one

    def _judge_reading(self, cluster: str, seen: SeenVersion, started_ns: int, row: AnswerRow) -> None:
        history = self._current.get(cluster)
        if seen.version and history is not None:
            self._judge((seen.path, history), started_ns, row)

    def _judge(self, secret: Secret, started_ns: int, row: AnswerRow) -> None:
        """Compare an answer with those that came before its operation began, and keep it if it is the newest."""
        if self._lives and self._lives.get(secret, -1) >= started_ns:
            return
        answers = self._answers.get(secret)
        if answers is None:
            self._answers[secret] = (row,)
            return
        self.judged += 1
        _, version, _, is_write = row
        newest_ns, newest, _, _ = answers[-1]
        if newest_ns >= started_ns or version < newest + is_write:  # else it is in order, as nearly all are
            self._look_back(secret[0], answers, started_ns, row)
        if version > newest:
            self._answers[secret] = (*answers[-MAX_ANSWERS + 1 :], row)

    def _look_back(self, path: str, answers: tuple[AnswerRow, ...], started_ns: int, row: AnswerRow) -> None:
        """Compare an answer with the newest of those that it must come after, or that it must not be the same as."""
        _, version, _, is_write = row
        for other in reversed(answers):
            at_ns, earlier, _, was_write = other
            before = at_ns < started_ns
            twice = earlier == version and is_write and was_write
            if before or twice:
                if twice or version < earlier + (is_write and before):
                    self._found(path, VersionAnswered(*other), VersionAnswered(*row), twice=twice)
                return

    def _found(self, path: str, other: VersionAnswered, answer: VersionAnswered, *, twice: bool) -> None:
        if twice:
            text = f"version {answer.version} of {path} was given twice: to {answer.text}, and to {other.text}"
        else:
            text = f"{answer.text}, has version {answer.version} of {path}, and {other.text} before it began, has"
            text += f" version {other.version}"
        self._scene.found(VERSION_ORDER, text)
