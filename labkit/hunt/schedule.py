"""Schedule: the steps of one drawn timeline, each at the instant at which it may begin at the earliest.

1. Faults have instants; what an operator does follows the step above it, and only when that was done.
2. A cluster that an operator fenced stays so: nothing that undoes faults touches its lines and nodes from then on.
3. Every step may be refused, begin late, and have no effect: what becomes of it is seen in the run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.hunt.kinds import Kind, Names
from labkit.lab.fault_table import FAULTS
from labkit.scenario.steps.step_timing import NEVER_REFUSED
from labkit.scenario.value_types import write_duration
from labkit.service.durations import MILLISECOND_NS

StepData = dict[str, Any]
OPENING = frozenset({"heal", "steady", "restart", "unseal"})
"""Verbs that undo what an operator fences with."""

FAULT_VERBS = frozenset({fault.verb for fault in FAULTS})
GUARD_NS, MAX_STEPS = MILLISECOND_NS, 1_000
Blocks = list[tuple[int, int]]


class Placed(NamedTuple):
    """A step, when it may begin at the earliest, its place among those of one instant, and the clusters it touches."""

    at_ns: int
    place: int
    step: StepData
    touches: frozenset[str] = frozenset()
    suppresses: bool = False


class Schedule:
    """The steps drawn so far; ``now_ns`` is when the next may begin, ``demotes`` whether any of them demotes."""

    def __init__(self, names: Names, now_ns: int) -> None:
        self.names, self.now_ns, self.demotes = names, now_ns, False
        self._placed: list[Placed] = []
        self._fenced: list[tuple[int, str]] = []
        self._quiet_from_ns: int | None = None

    def fault(self, kind: Kind, arguments: dict[str, Any], undone_after_ns: int) -> None:
        """Make a fault now, and undo it after a time (0: never)."""
        if kind.verb in FAULT_VERBS:
            self._place(self.now_ns, {"do": kind.verb, **arguments}, arguments)
        else:
            self.begin({"do": kind.verb, **arguments})
        if undone_after_ns:
            at_ns = self.now_ns + undone_after_ns
            for step in undoing(kind, arguments):
                self._place(at_ns, step, arguments, suppresses=True)
                at_ns += 500 * MILLISECOND_NS

    def begin(self, step: StepData) -> None:
        """Begin something with an instant of its own."""
        self._place(self.now_ns, step, {})

    def when(self, condition: dict[str, Any], within: str = "2s") -> None:
        """Look before what follows: those of its steps that say so are skipped unless the condition holds."""
        guard = {"do": "wait", "for": write_duration(GUARD_NS), "when": condition, "within": within}
        self._place(self.now_ns, guard, {})
        self.now_ns += GUARD_NS

    def then(self, step: StepData, after_ns: int = 0, *, if_done: bool = True) -> None:
        """Go on after the step above, if that was done."""
        self.now_ns += after_ns
        when = {"when": "done"} if if_done else {}
        after = {"after": write_duration(after_ns)} if after_ns or not if_done else {}
        self._place(self.now_ns, step | after | when, {})

    def fence(self, cluster: str) -> None:
        """From now on a cluster is fenced by an operator."""
        self._fenced.append((self.now_ns, cluster))

    def end(self) -> list[StepData]:
        """Return the steps so far; from now on what is in force is undone in order, and not when it was drawn to be."""
        self._quiet_from_ns = self.now_ns
        before = self.steps()
        self.begin({"do": "wait", "for": write_duration(GUARD_NS)})
        return before

    @property
    def fenced(self) -> tuple[str, ...]:
        """The clusters that an operator has fenced so far, in order."""
        return tuple(dict.fromkeys(cluster for _, cluster in self._fenced))

    def steps(self, above: int = 0) -> list[StepData]:
        """Return the timeline as a file has it, below so many other steps.

        A fault that falls into a block counts from the beginning of that, for the steps of a block have no instants.
        """
        blocks = self._blocks
        kept = [placed for placed in self._placed if not self._is_left_out(placed)]
        ordered = sorted([_after_blocks(placed, blocks) for placed in kept], key=lambda placed: placed[:2])
        numbers = {placed.at_ns: number for number, placed in enumerate(ordered, above + 1) if _begins(placed, blocks)}
        return [_written(placed, blocks, numbers) for placed in ordered]

    def _place(self, at_ns: int, step: StepData, arguments: dict[str, Any], *, suppresses: bool = False) -> None:
        touches = frozenset(_clusters_in(arguments, self.names))
        self._placed.append(Placed(at_ns, len(self._placed), step, touches, suppresses))

    @property
    def _blocks(self) -> Blocks:
        """From when to when the steps are that follow one another, in order."""
        found: Blocks = []
        for placed in self._placed:
            if placed.suppresses or _is_beside(placed.step):
                continue
            if _is_chained(placed.step) and found:
                found[-1] = (found[-1][0], placed.at_ns)
            else:
                found.append((placed.at_ns, placed.at_ns))
        return found

    def _is_left_out(self, placed: Placed) -> bool:
        """Whether something would be undone too late, or against an operator's fence."""
        if not placed.suppresses:
            return False
        if self._quiet_from_ns is not None and placed.at_ns >= self._quiet_from_ns:
            return True
        if placed.step["do"] not in OPENING:
            return False
        return any(at_ns <= placed.at_ns and cluster in placed.touches for at_ns, cluster in self._fenced)


def undoing(kind: Kind, arguments: dict[str, Any]) -> list[StepData]:
    """Return the steps that undo a fault with these arguments."""
    where: StepData = {key: arguments[key] for key in ("target", "between", "cluster") if key in arguments}
    if "from" in arguments:
        where = {"between": [arguments["from"], arguments["to"]]}
    steps: list[StepData] = [{"do": kind.undo, **where}]
    if kind.undo == "restart":  # it starts sealed
        steps.append({"do": "unseal", "cluster": arguments["target"].rpartition("-")[0] or arguments["target"]})
    return steps


def _clusters_in(arguments: dict[str, Any], names: Names) -> list[str]:
    """Return the clusters that arguments name, by themselves, by a node or by a site of theirs."""
    values = [one for value in arguments.values() for one in (value if isinstance(value, list) else [value])]
    return [
        cluster
        for cluster in names.clusters
        for value in values
        if value == cluster or value in names.nodes[cluster] or value == names.sites[cluster]
    ]


def _is_chained(step: StepData) -> bool:
    """Whether a step follows the one above it, and has no instant."""
    return "after" in step or step.get("when") == "done"


def _is_beside(step: StepData) -> bool:
    """Whether a step is a fault with an instant."""
    return step["do"] in FAULT_VERBS and not _is_chained(step)


def _block_around(at_ns: int, blocks: Blocks) -> tuple[int, int] | None:
    return next((block for block in blocks if block[0] < at_ns <= block[1]), None)


def _begins(placed: Placed, blocks: Blocks) -> bool:
    """Whether a step is the first of a block."""
    alone = not placed.suppresses and not _is_beside(placed.step) and not _is_chained(placed.step)
    return alone and any(placed.at_ns == begins_ns for begins_ns, _ in blocks)


def _after_blocks(placed: Placed, blocks: Blocks) -> Placed:
    """Return a step as it is; one that an operator does alone, after the block into which it would fall.

    Where another block begins at once, it comes after that too.
    """
    block = None if _is_chained(placed.step) or _is_beside(placed.step) else _block_around(placed.at_ns, blocks)
    if block is None or any(begins_ns == placed.at_ns < last_ns for begins_ns, last_ns in blocks):
        return placed
    ends_ns = block[1]
    for begins_ns, last_ns in sorted(blocks):
        if begins_ns <= ends_ns < last_ns:
            ends_ns = last_ns
    return placed._replace(at_ns=ends_ns, place=placed.place + MAX_STEPS)


def _written(placed: Placed, blocks: Blocks, numbers: dict[int, int]) -> StepData:
    step, block = placed.step, _block_around(placed.at_ns, blocks)
    if _is_chained(step):
        timing = StepData()
    elif block is not None and _is_beside(step):
        timing = {"after": {"step": numbers[block[0]], "began": write_duration(placed.at_ns - block[0])}}
    else:
        timing = {"at": write_duration(placed.at_ns)}
    may: StepData = {} if step["do"] in NEVER_REFUSED else {"fails": "maybe"}
    may |= {"idle": "fine"} if step["do"] in FAULT_VERBS else {"late": "ok"}
    return {**step, **timing, **may}
