"""Turns: one thread at a time, the one that waits longest next; every verb of a lab takes one."""

from __future__ import annotations

import threading
import time
from types import FunctionType

from labkit import Lab
from labkit.front.lab_cluster import LabCluster
from labkit.lab.bench import Bench
from labkit.lab.cluster import Cluster
from labkit.lab.faults import LabFaults
from labkit.lab.wire.turns import EachInTurn, Turns


def test_a_thread_may_take_its_turn_again_and_others_wait_for_its_end():
    turns, seen = Turns(), []

    def other() -> None:
        with turns:
            seen.append("other")

    with turns:
        thread = threading.Thread(target=other)
        thread.start()
        with turns:
            seen.append("inside")
        time.sleep(0.01)
        seen.append("outside")
    thread.join(10)

    assert seen == ["inside", "outside", "other"]
    assert repr(turns) == "Turns(of one thread)"


def test_who_has_had_a_turn_stands_behind_who_waits():
    turns, seen = Turns(), []

    def other() -> None:
        for _ in range(100):
            with turns:
                seen.append("other")

    thread = threading.Thread(target=other)
    with turns:
        thread.start()
    for _ in range(100):
        with turns:
            seen.append("here")
            for _ in range(20):
                if seen.count("other") == 100 or turns._next.locked():  # the other one waits
                    break
                time.sleep(0.000_1)
    thread.join(10)

    while "other" in seen[seen.index("here") :]:
        seen = seen[seen.index("here") + 1 :]
        assert seen[0] == "other"


def test_an_error_ends_a_turn():
    turns = Turns()
    try:
        with turns:
            raise ValueError
    except ValueError:
        pass
    thread = threading.Thread(target=turns.__enter__)
    thread.start()
    thread.join(10)

    assert not thread.is_alive()


class CountedTurns(Turns):
    """Counts how often a turn is taken from outside."""

    __slots__ = ("taken",)

    def __init__(self) -> None:
        super().__init__()
        self.taken = 0

    def __enter__(self) -> None:
        super().__enter__()
        self.taken += 1


class Guarded(EachInTurn, but="run"):
    """Something of a lab, with a verb, a reading that can be set, and a run that takes its turns itself."""

    def __init__(self) -> None:
        self.counted = CountedTurns()
        self._number = 2

    @property
    def _turns(self) -> Turns:
        return self.counted

    def verb(self, number: int) -> int:
        """Do it."""
        return number

    @property
    def reading(self) -> int:
        """Read it."""
        return self._number

    @reading.setter
    def reading(self, number: int) -> None:
        self._number = number

    def run(self) -> int:
        return 3


def test_public_methods_and_properties_take_a_turn_but_those_that_are_named():
    thing = Guarded()

    assert (thing.verb(1), thing.reading, thing.run(), thing.counted.taken) == (1, 2, 3, 2)
    thing.reading = 5
    assert (thing.reading, thing.counted.taken) == (5, 4)
    assert (Guarded.verb.__doc__, Guarded.reading.__doc__) == ("Do it.", "Read it.")


def test_what_a_subclass_adds_takes_a_turn_as_well():
    class More(Guarded, but="wait"):
        def added(self) -> int:
            return 4

        def run(self) -> int:
            return super().run() + 1

        def wait(self) -> int:
            return 6

    class Most(More):
        @property
        def last(self) -> int:
            return 7

        def wait(self) -> int:
            return 8

    thing = Most()

    assert (thing.added(), thing.last, thing.counted.taken) == (4, 7, 2)
    assert (thing.run(), thing.wait(), thing.counted.taken) == (4, 8, 2), "what took turns itself still does"
    assert (Guarded().run(), Guarded._without_turn) == (3, frozenset({"run"})), "a subclass changes nothing above it"


def test_a_verb_that_somebody_adds_to_a_lab_or_a_cluster_takes_a_turn(quiet):
    def held(turns: Turns) -> bool:
        return turns._owner == threading.get_ident()

    class Own(Lab):
        def is_held(self) -> bool:
            return held(self.parts.turns)

    class OwnCluster(Cluster):
        def is_held(self) -> bool:
            return held(self._driver.turns)

    assert Own.pair().is_held()
    assert OwnCluster(quiet["paris"]._driver, quiet["paris"].plan).is_held()
    assert not held(quiet.parts.turns)


def test_every_verb_of_a_lab_takes_turns():
    alone = {
        Bench: "run work_through replicate failover seal unseal",
        Lab: "dashboard serve",
        Cluster: "request promote demote repoint disable enable_primary enable_secondary seal unseal operation_token"
        " rekey merkle_check reindex status",
        LabCluster: "",
        LabFaults: "",
    }
    for kind, names in alone.items():
        members = {name: member for name, member in vars(kind).items() if not name.startswith("_")}
        without = [name for name, member in members.items() if isinstance(member, FunctionType)]
        without = [name for name in without if not hasattr(members[name], "__wrapped__")]
        assert sorted(without) == sorted(names.split()), kind
