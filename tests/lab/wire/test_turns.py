"""Turns: one thread at a time, the one that waits longest next; every verb of a lab takes one."""

from __future__ import annotations

import threading
import time
from types import FunctionType

from labkit import Lab
from labkit.lab.cluster import Cluster
from labkit.lab.faults import LabFaults
from labkit.lab.wire.turns import Turns, each_in_turn


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


def test_public_methods_and_properties_take_a_turn_but_those_that_are_named():
    class Counted(Turns):
        taken = 0

        def __enter__(self) -> None:
            super().__enter__()
            Counted.taken += 1

    @each_in_turn(lambda thing: thing.turns, but="run turns")
    class Thing:
        turns = Counted()

        def verb(self, number: int) -> int:
            """Do it."""
            return number

        @property
        def reading(self) -> int:
            """Read it."""
            return 2

        def run(self) -> int:
            return 3

    thing = Thing()

    assert (thing.verb(1), thing.reading, thing.run(), Counted.taken) == (1, 2, 3, 2)
    assert (Thing.verb.__doc__, Thing.reading.__doc__) == ("Do it.", "Read it.")


def test_every_verb_of_a_lab_takes_turns():
    alone = {
        Lab: "run work_through replicate failover seal unseal dashboard serve",
        Cluster: "request promote demote repoint disable enable_primary enable_secondary seal unseal operation_token"
        " rekey merkle_check reindex status",
        LabFaults: "",
    }
    for kind, names in alone.items():
        members = {name: member for name, member in vars(kind).items() if not name.startswith("_")}
        without = [name for name, member in members.items() if isinstance(member, FunctionType)]
        without = [name for name in without if not hasattr(members[name], "__wrapped__")]
        assert sorted(without) == sorted(names.split()), kind
