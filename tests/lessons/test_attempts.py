"""Attempts: one that was changed is another, one that was only looked at or waited for is the same."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab, Vault
from labkit.lessons.attempts import attempt_of, is_blank
from labkit.lessons.two_primaries.fence import start as fence
from labkit.service.silence import Silence

POLICY, ADDED = "sys/policies/acl/a", 1


def test_of_a_vault_what_is_stored_makes_the_difference_and_reading_none():
    vault, other = Vault.dev(seed=5), Vault.dev(seed=5)
    vault.post(POLICY, {"policy": 'path "a" { capabilities = ["read"] }'})
    other.post(POLICY, {"policy": 'path "b" { capabilities = ["read"] }'})
    first = attempt_of(vault)
    vault.get(POLICY)
    vault.advance("1h")

    assert attempt_of(vault) == first
    assert attempt_of(other) != first


def stall(lab: Lab, time: str) -> None:
    lab.pause("paris-1")
    lab.run(time)
    lab.resume("paris-1")


def ask_what_is_dead(lab: Lab, path: str) -> None:
    lab.crash("paris-3")
    with pytest.raises(Silence):
        lab["paris"].request("POST", path, {"data": {}}, node="paris-3", timeout="1s")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda lab: stall(lab, "1s"), lambda lab: stall(lab, "8s")),
        (
            lambda lab: lab["paris"].post("secret/data/a", {"data": {"n": 1}}),
            lambda lab: lab["paris"].post("secret/data/a", {"data": {"n": 2}}),
        ),
        (lambda lab: ask_what_is_dead(lab, "secret/data/a"), lambda lab: ask_what_is_dead(lab, "secret/data/b")),
        (lambda lab: lab["tokyo"].promote(), lambda lab: lab.run("1s") and lab["tokyo"].promote()),
    ],
)
def test_of_a_lab_what_was_done_and_when_makes_the_difference(one, other):
    labs = [fence() for _ in range(3)]
    one(labs[0])
    other(labs[1])
    one(labs[2])
    labs[2].run("5s")
    labs[2]["paris"].get("secret/data/orders/1")

    assert attempt_of(labs[0]) == attempt_of(labs[2])
    assert attempt_of(labs[0]) != attempt_of(labs[1])


def helper(n: int) -> int:
    return n + ADDED


def test_of_a_function_it_is_what_it_does_and_uses(monkeypatch):
    def within(added: int) -> Any:
        return lambda n: n + added

    first = attempt_of(lambda n: helper(n))
    assert attempt_of(lambda n: helper(n)) == first
    assert attempt_of(lambda n: helper(n) * 1) != first
    monkeypatch.setitem(globals(), "ADDED", 2)
    assert attempt_of(lambda n: helper(n)) != first, "a value that a function of the same notebook uses"
    assert attempt_of(within(1)) == attempt_of(within(1)) != attempt_of(within(2))
    assert attempt_of(lambda: [1 for _ in ()]) != attempt_of(lambda: [2 for _ in ()]), "code within code"


def test_of_anything_else_it_is_its_text():
    assert attempt_of("a", 1) == attempt_of("a", 1) != attempt_of("a", 2)
    assert attempt_of(object()) == attempt_of(object())


def test_a_function_as_it_was_handed_out_is_blank():
    def handed_out(lab): ...

    def passes(lab):
        pass  # your steps

    assert [is_blank(one) for one in (handed_out, passes, lambda lab: None, lambda lab: 1)] == [True] * 4


def test_a_function_that_does_anything_with_what_it_is_given_is_not_blank():
    def forgets_to_return(gap_s, one_way_s):
        one_way_s / gap_s  # what people write

    tried = (forgets_to_return, lambda lab: lab, lambda lab: lab.run("1s"), lambda lab: print(lab), print, dict)
    assert [is_blank(one) for one in tried] == [False] * 6
