"""Invariants: the standing rules of a lab, checked on the events that can break them (R18).

What each rule says, and when it is judged, stands in ``rules``.  Six are judged here; each of the others is a module of
its own, which takes the reports that it judges once the books have taken them.

Violations are recorded and never stop a lab; a check of one's own that raises is a violation too, and one that is
running is not begun again by what it asks.  A cluster *accepts* when its active node is up, unsealed and primary,
and clients reach it: cutting it off from all of them (fencing) ends that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from labkit.lab.invariants.carried_once import CarriedOnce
from labkit.lab.invariants.catching_up import CatchingUp
from labkit.lab.invariants.clear_text import ClearText
from labkit.lab.invariants.crash_memory import CrashMemory
from labkit.lab.invariants.drawn_nonces import DrawnNonces
from labkit.lab.invariants.interrupted_commits import InterruptedCommits
from labkit.lab.invariants.limited_tokens import LimitedTokens
from labkit.lab.invariants.live_certificates import LiveCertificates
from labkit.lab.invariants.operation_calls import OperationCalls
from labkit.lab.invariants.reindex_writes import ReindexWrites
from labkit.lab.invariants.rules import (
    CARRIED_ONCE,
    CATCHING_UP,
    CLEAR_TEXT,
    CRASH_FORGETS,
    LIVE_CERTIFICATES,
    NO_LOSS,
    NO_NONCE_TWICE,
    NOTHING_OWN,
    ONE_PRIMARY,
    ONLY_LEADER,
    OPERATION_TOKEN,
    REINDEX_WRITES,
    ROOTS,
    RULES,
    STANDBY_FORWARDS,
    STANDING,
    SURVIVING_TOKENS,
    TOKEN_OVER,
    VERSION_ORDER,
    WHOLE_COMMIT,
    WHOLE_COMMITS,
    WITHIN_LAG,
)
from labkit.lab.invariants.scene import LabFollower, Scene, StandingRule
from labkit.lab.invariants.standby_answers import StandbyAnswers
from labkit.lab.invariants.surviving_tokens import SurvivingTokens
from labkit.lab.invariants.version_order import VersionOrder
from labkit.lab.invariants.whole_commits import WholeCommits
from labkit.lab.queries import Queries
from labkit.lab.records.loss_and_outage import Promotion
from labkit.trace import Trace

__all__ = [
    "NOTHING_OWN",
    "NO_LOSS",
    "ONE_PRIMARY",
    "ONLY_LEADER",
    "ROOTS",
    "RULES",
    "STANDING",
    "WITHIN_LAG",
    "Arrears",
    "Invariants",
    "Violation",
]

JUDGES: dict[str, type[StandingRule]] = {
    WHOLE_COMMITS: WholeCommits,
    LIVE_CERTIFICATES: LiveCertificates,
    OPERATION_TOKEN: OperationCalls,
    SURVIVING_TOKENS: SurvivingTokens,
    CATCHING_UP: CatchingUp,
    CLEAR_TEXT: ClearText,
    VERSION_ORDER: VersionOrder,
    CARRIED_ONCE: CarriedOnce,
    WHOLE_COMMIT: InterruptedCommits,
    NO_NONCE_TWICE: DrawnNonces,
    CRASH_FORGETS: CrashMemory,
    TOKEN_OVER: LimitedTokens,
    REINDEX_WRITES: ReindexWrites,
    STANDBY_FORWARDS: StandbyAnswers,
}
"""The rules that have a module of their own."""


class Violation(NamedTuple):
    """A rule that was broken: which, when first, and what was seen."""

    name: str
    at_ns: int
    detail: str


class Arrears(NamedTuple):
    """What a survivor had not got: journal entries of the old primary; all commits of the history it followed."""

    entries: int
    commits: int


class Invariants:
    """The rules of one lab and the violations that were found."""

    __slots__ = (
        "_accepting",
        "_judged",
        "_queries",
        "_rivals",
        "_rules",
        "_trace",
        "broken",
        "checking",
        "conditions",
        "corrupted",
        "followers",
        "planned",
        "relink",
        "watched",
    )

    def __init__(self, queries: Queries, trace: Trace, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self._queries, self._trace = queries, trace
        self.broken: dict[str, Violation] = {row[0]: Violation(*row) for row in state.get("broken", ())}
        # clusters that were damaged on purpose, and whether the reindex under way misses it
        self.corrupted: dict[str, bool] = dict(state.get("corrupted", {}))
        self.planned: int = state.get("planned", 0)
        self._judged: dict[str, int] = dict(state.get("judged", {}))  # how often each rule of this file was
        self.watched: dict[str, Callable[[], Any]] = {}
        self.conditions: dict[str, Callable[[], bool]] = {}  # those of one's own, with whether each was judged
        self._accepting: dict[str, str | None] = {}  # of which set each cluster accepts writes, as seen last
        self._rivals: dict[str, dict[str, None]] = {}  # the same by set: who accepts writes of it
        self.checking = ""  # the name of the watched rule whose check runs now
        scene, kept = Scene(queries, self.found, self.corrupted), state.get("rules", {})
        self._rules = {name: rule(scene, kept.get(name, {})) for name, rule in JUDGES.items()}
        self.followers: tuple[LabFollower, ...] = ()
        self.relink: Callable[[], None] = _nothing  # whoever hands over reports is to ask for ``judges`` again

    def __repr__(self) -> str:
        return f"Invariants({len(self.broken)} broken)"

    def watch(self, name: str, check: Callable[[], Any]) -> None:
        """Add a rule of one's own: ``check()`` returns something false, or text, when it is broken."""
        self.watched[name] = check

    @property
    def judges(self) -> dict[type, tuple[Callable[[Any], None], ...]]:
        """For each kind of report what judges it: rules in their order, then what follows the lab."""
        found = _judges(self._rules.values())
        for follower in self.followers:
            for kind, judges in follower.judgements.items():
                found[kind] = (*found.get(kind, ()), *judges)
        return found

    def follow(self, follower: LabFollower) -> None:
        """Hand reports to conditions too, from now on."""
        self.followers = (*self.followers, follower)
        self.relink()

    def leave(self, follower: LabFollower) -> None:
        """Hand them no more."""
        self.followers = tuple([other for other in self.followers if other is not follower])
        self.relink()

    def verdicts(self) -> dict[str, Violation | None]:
        """Return every rule with what broke it first; None for one that held."""
        return {name: self.broken.get(name) for name in (*STANDING, *self.watched, *self.conditions)}

    def applies(self, name: str) -> bool:
        """Whether there was any occasion to break a rule: the one on planned failovers needs a planned failover."""
        if name in self.conditions:
            return self.conditions[name]() or name in self.broken
        if name in self._rules:
            return self._rules[name].occurred or name in self.broken
        return name != NO_LOSS or self.planned > 0

    def judged(self, name: str) -> int | None:
        """Return how often a standing rule was judged; None for one that is judged elsewhere, at each commit."""
        if name in self._rules:
            return self._rules[name].judged
        return None if name in (NOTHING_OWN, ONLY_LEADER) else self._judged.get(name, 0)

    def _judge(self, name: str) -> None:
        self._judged[name] = self._judged.get(name, 0) + 1

    def on_change(self, cluster: str = "") -> None:
        """Something changed who accepts writes, or what a watched rule may look at: of one cluster, or of any."""
        queries = self._queries
        self._judge(ONE_PRIMARY)
        if not cluster:
            self._accepting, self._rivals = {}, {}
        found: set[str] = set()
        for name in [cluster] if cluster else queries.cluster_names:
            before, set_id = self._accepting.get(name), queries.accepts_for(name)
            self._accepting[name] = set_id
            if before is not None:
                self._rivals[before].pop(name)
            if set_id is not None:
                self._rivals.setdefault(set_id, {})[name] = None
                found.add(set_id)
        for set_id in sorted(found):
            rivals = sorted(self._rivals[set_id])
            if len(rivals) > 1:
                self.found(ONE_PRIMARY, f"{' and '.join(rivals)} accept writes of set {set_id[:8]}")
        self.on_outcome()

    def on_write_apart(self, cluster: str, set_id: str) -> None:
        """A disabled cluster acknowledged a write: nobody may be primary of the set that it was of."""
        accepts_for = self._queries.accepts_for
        others = [name for name in self._queries.cluster_names if name != cluster and accepts_for(name) == set_id]
        if others:
            primary = f"of which {' and '.join(others)} is the primary"
            self.found(ONE_PRIMARY, f"{cluster} is disabled and took a write of set {set_id[:8]}, {primary}")

    def on_outcome(self) -> None:
        """An operation ended: only rules of one's own can be broken by that."""
        if self.checking:
            return
        for name, check in self.watched.items():
            self.checking = name
            try:
                result = check()
                broken = result is not None and (isinstance(result, str) or not result)
            except Exception as error:
                broken, result = True, f"the check raised {type(error).__name__}: {error}"
            finally:
                self.checking = ""
            if broken:
                self.found(name, result if isinstance(result, str) else "the check said no")

    def on_promotion(self, promotion: Promotion, lost: int, arrears: Arrears) -> None:
        """A secondary was promoted: ``lost`` acknowledged writes are lost, and ``arrears`` had not arrived."""
        survivor, old_primary = promotion.survivor, promotion.old_primary
        writes = _count(lost, "acknowledged write", "acknowledged writes")
        self.planned += promotion.planned
        self._judge(NO_LOSS if promotion.planned else WITHIN_LAG)
        if promotion.planned and lost:
            entries = _count(arrears.entries, "entry", "entries")
            self.found(
                NO_LOSS,
                f"{entries} of {old_primary} had not arrived at {survivor}: {writes} lost though it was demoted first",
            )
        if not promotion.planned and lost > arrears.commits:
            commits = _count(arrears.commits, "commit", "commits")
            self.found(WITHIN_LAG, f"{writes} lost, but {survivor} lagged by {commits}")
        self.on_change()

    def on_own_entry(self, cluster: str, entry_number: int, keys: tuple[str, ...]) -> None:
        """A secondary committed something of the two trees that its primary did not send."""
        others = f" and {_count(len(keys) - 1, 'other key', 'other keys')}" if len(keys) > 1 else ""
        self.found(NOTHING_OWN, f"{cluster} is a secondary and made entry {entry_number} itself: {keys[0]}{others}")

    def on_overtaken_write(self, cluster: str, node: str, term: int, key: str) -> None:
        """A node that was overtaken committed something."""
        self.found(ONLY_LEADER, f"{node} wrote {key} in {cluster} under term {term}, which is over")

    def on_damage(self, cluster: str, missed: bool) -> None:
        """A cluster was damaged on purpose; ``missed``: where the reindex under way does not look any more."""
        self.corrupted[cluster] = missed or self.corrupted.get(cluster, False)

    def on_reindex_begun(self, cluster: str) -> None:
        """A cluster begins to be reindexed, or begins again: it looks everywhere."""
        if cluster in self.corrupted:
            self.corrupted[cluster] = False

    def on_index_replaced(self, cluster: str) -> None:
        """A cluster was reindexed: what was damaged where it looked afterwards is found, and mended or passed on."""
        if self.corrupted.pop(cluster, False):
            self.corrupted[cluster] = False

    def check_at_rest(self) -> None:
        """The lab stands still: ask the watched rules, and compare roots and contents where nothing is on its way."""
        self.on_outcome()
        for rule in self._rules.values():
            rule.check_at_rest()
        for follower in self.followers:
            follower.check_at_rest()
        primaries: dict[str, dict[str, bytes]] = {}  # what each has is read once, however many follow it
        for first, second in self._queries.streaming_pairs():
            if first in self.corrupted or second in self.corrupted:
                continue
            self._judge(ROOTS)
            same_roots = self._queries.root(first) == self._queries.root(second)
            if first not in primaries:
                primaries[first] = self._queries.contents(first)
            same_contents = primaries[first] == self._queries.contents(second)
            if same_roots != same_contents:
                roots = "equal" if same_roots else "different"
                contents = "equal" if same_contents else "different"
                self.found(ROOTS, f"{first} and {second}: roots {roots}, contents {contents}")

    def state(self) -> dict[str, Any]:
        """Return what was found as plain values; watched rules are the caller's to add again."""
        return {
            "broken": tuple(self.broken.values()),
            "corrupted": dict(self.corrupted),
            "planned": self.planned,
            **({"judged": dict(self._judged)} if self._judged else {}),  # none in files of earlier versions
            "rules": {name: rule.state() for name, rule in self._rules.items()},
        }

    def found(self, name: str, detail: str) -> None:
        """Note what broke a rule, the first time."""
        if name not in self.broken:
            now_ns = self._queries.now
            self.broken[name] = Violation(name, now_ns, detail)
            self._trace.record(("invariant", now_ns, name, "broken", detail))
            for follower in self.followers:
                follower.on_found()


def _nothing() -> None:
    """Nobody hands over reports yet."""


def _judges(rules: Iterable[StandingRule]) -> dict[type, tuple[Callable[[Any], None], ...]]:
    """Return for each kind of report what judges it, in the order of the rules."""
    found: dict[type, tuple[Callable[[Any], None], ...]] = {}
    for rule in rules:
        for kind, judge in rule.judgements.items():
            found[kind] = (*found.get(kind, ()), judge)
    return found


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
