"""Version order: the versions of a secret that clients were answered have one order, which is that of time (R18).

1. It is judged by answers, of each path and each history of a cluster: a write that began after another operation was
   answered has a later version than that one, a reading no earlier one, and no version is given twice.
2. Deleting the metadata of a secret begins another life: versions are counted again, and what was under way then is not
   judged.  So does making, moving or ending a mount, ending a namespace, and a deletion inside whose commit the process
   ended: for all secrets of the history, since which ones were ended is not known.
3. An operation without an answer says nothing, nor does a reading through a balancer, or one during which its cluster
   was promoted: which history it showed is not known.
4. A write under check-and-set makes the version after the one that it names.
5. Of each secret the newest answers with a higher version than all before are kept, so that each costs the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from labkit.lab.invariants.rules import VERSION_ORDER
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.records.read_log import ANY_SECRET
from labkit.lab.wire.messages import Correlation
from labkit.lab.wire.reports import ANSWERED, AskEnded, Committed, OperationEnded, RequestAnswered
from labkit.lab.wire.seen_versions import SeenVersion, made_version
from labkit.service.durations import in_seconds
from labkit.service.message import Request

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

    __slots__ = ("_answers", "_awaited", "_current", "_histories", "_lives", "_made", "_promotions", "_versions")

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        ledger = scene.queries.parts.ledger
        self._current, self._histories = ledger.histories.current, ledger.histories.histories
        self._awaited = ledger.awaited
        self._promotions, self._versions = ledger.promotions, ledger.read_log.versions
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
            if report.ends_lives and len(self._versions):  # any was ever made
                self._end_lives(self._current[report.cluster])
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

    def _end_lives(self, history: int) -> None:
        """Begin another life of each secret of a history: which of them were ended is not known."""
        self._lives[ANY_SECRET.path, history] = self._scene.queries.now
        for secret in [secret for secret in self._answers if secret[1] == history]:
            del self._answers[secret]

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
        if seen.version and history is not None and not self._was_promoted(cluster, started_ns):
            self._judge((seen.path, history), started_ns, row)

    def _was_promoted(self, cluster: str, since_ns: int) -> bool:
        """Whether a cluster was promoted since an instant: what was read then may be of the history before."""
        for taken in reversed(self._promotions):
            if taken.at_ns < since_ns:
                return False
            if taken.survivor == cluster:
                return True
        return False

    def _judge(self, secret: Secret, started_ns: int, row: AnswerRow) -> None:
        """Compare an answer with those that came before its operation began, and keep it if it is the newest."""
        if self._lives:
            any_ns = self._lives.get((ANY_SECRET.path, secret[1]), -1)
            if started_ns <= max(any_ns, self._lives.get(secret, -1)):
                return
        answers = self._answers.get(secret)
        if answers is None:
            self._answers[secret] = (row,)
            return
        self.judged += 1
        _, version, _, is_write = row
        newest_ns, newest, _, _ = answers[-1]
        if newest_ns >= started_ns or version < newest + is_write:  # else it is in order, as nearly all are
            self._look_back(secret, answers, started_ns, row)
        if version > newest:
            self._answers[secret] = (*answers[-MAX_ANSWERS + 1 :], row)

    def _look_back(self, secret: Secret, answers: tuple[AnswerRow, ...], started_ns: int, row: AnswerRow) -> None:
        """Compare an answer with the newest of those that it must come after, or that it must not be the same as."""
        path, (_, version, _, is_write) = secret[0], row
        for other in reversed(answers):
            at_ns, earlier, _, was_write = other
            before = at_ns < started_ns
            twice = earlier == version and is_write and was_write
            if before or twice:
                is_wrong = twice or version < earlier + (is_write and before)
                if is_wrong and (is_write or self._is_versioned(secret)):
                    self._found(path, VersionAnswered(*other), VersionAnswered(*row), twice=twice)
                return

    def _is_versioned(self, secret: Secret) -> bool:
        """Whether a path is one of KV version 2, as far as its cluster can say: any value may look like a version."""
        queries = self._scene.queries
        node = queries.active_node(self._histories[secret[1]].cluster)
        route = queries.parts.nodes[node].vault.route_of(Request("GET", secret[0], {})) if node else None
        return route is None or route.mount is None or (route.mount.kind, route.mount.version) == ("kv", "2")

    def _found(self, path: str, other: VersionAnswered, answer: VersionAnswered, *, twice: bool) -> None:
        if twice:
            text = f"version {answer.version} of {path} was given twice: to {answer.text}, and to {other.text}"
        else:
            text = f"{answer.text}, has version {answer.version} of {path}, and {other.text} before it began, has"
            text += f" version {other.version}"
        self._scene.found(VERSION_ORDER, text)
