"""Exercise counter: other writers come in where it hurts, and what is said of a function names what it did."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault
from labkit.lessons.judging import judge
from labkit.lessons.secret_versions.counter import (
    COUNT,
    COUNTER,
    MAX_REQUESTS,
    BusyVault,
    TooManyRequests,
    five_times_at_most,
    look,
    play,
    until_it_passes,
    untouched,
)


def test_others_come_in_after_reads_as_often_as_wanted():
    vault = Vault.dev(seed=1)
    vault.post(COUNT, {"data": {"n": 40}})
    busy = BusyVault(vault, 2)

    assert [busy.get(COUNT).data["data"]["n"] for _ in range(4)] == [40, 41, 42, 42]
    assert busy.came == 2


def test_where_nothing_is_read_others_were_there_before():
    vault = Vault.dev(seed=1)
    vault.post(COUNT, {"data": {"n": 40}})
    busy = BusyVault(vault, 2)
    busy.post(COUNT, {"data": {"n": 41}})

    assert (busy.came, vault.get(COUNT).data["metadata"]["version"]) == (2, 4)


def test_a_careful_function_counts_everybody():
    counts = [(one.others, one.count, one.wanted, one.error) for one in look(until_it_passes)]

    assert counts == [(0, 41, 41, ""), (1, 42, 42, ""), (2, 43, 43, ""), (9, 50, 50, "")]


def test_one_that_gives_up_says_so_and_leaves_what_others_wrote():
    crowd = look(five_times_at_most)[-1]

    assert (crowd.others, crowd.count, crowd.wanted, crowd.gave_up_aloud) == (5, 45, 46, True)
    assert crowd.error == "RuntimeError: five other writers were faster"


def test_a_function_without_an_end_is_stopped():
    busy = BusyVault(Vault.dev(seed=1), 0)
    for _ in range(MAX_REQUESTS):
        busy.get("sys/health")
    with pytest.raises(TooManyRequests):
        busy.get("sys/health")
    assert "100 requests were not enough" in play(lambda vault: [vault.get(COUNT) for _ in range(101)], 0).error


def test_what_a_function_raises_is_its_own_answer():
    assert play(lambda vault: [].pop(), 0).error == "IndexError: pop from empty list"
    assert not untouched(until_it_passes)
    assert untouched(lambda vault: None)


def test_what_is_called_without_being_a_function_is_judged_too():
    class AddOne:
        def __call__(self, vault: Any) -> None:
            until_it_passes(vault)

    assert judge(COUNTER, (AddOne(),)).outcome == "right"


def test_a_secret_that_is_gone_has_no_count():
    assert play(lambda vault: vault.delete(COUNT), 0).count is None


def writes(body: dict[str, Any], tail: str = "") -> Any:
    """A function that reads and writes once; ``v`` stands for the version, ``n`` for the count and one."""

    def add_one(vault: Any) -> None:
        found = vault.get(COUNT).data
        values = {"v": found["metadata"]["version"], "n": found["data"]["n"] + 1}
        filled = {
            name: {key: values.get(value, value) for key, value in part.items()}
            if isinstance(part, dict)
            else values[part]
            for name, part in body.items()
        }
        vault.post(COUNT + tail, filled)

    return add_one


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (writes({"data": {"n": "n"}}), "no write named `cas` in its `options`"),
        (writes({"data": {"n": "n"}, "cas": "v"}), "no write named `cas` in its `options`, and `cas` was ignored"),
        (writes({"data": {"n": "n"}}, "?cas=1"), "no write named `cas` in its `options`, and `cas` was ignored"),
        (writes({"data": {"n": "n", "cas": "v"}}), "no write named `cas` in its `options`"),
        (
            writes({"data": {"n": "n"}, "options": {"cas": "v"}}),
            "your last write was refused with 400, and none came after it",
        ),
    ],
)
def test_what_is_said_names_what_the_function_did(function, said):
    judged = judge(COUNTER, (function,))

    assert judged.seen == f"beside 1 more writer the count became 41, and has to be 42; {said}"


def test_one_that_gives_up_without_a_word_is_refused():
    def four_times(vault: Any) -> None:
        for _ in range(4):
            found = vault.get(COUNT).data
            body = {"options": {"cas": found["metadata"]["version"]}, "data": {"n": found["data"]["n"] + 1}}
            if vault.post(COUNT, body).ok:
                return

    assert judge(COUNTER, (four_times,))[1:3] == (
        "says so",
        "beside 4 more writers the count became 44, and has to be 45; it gave up, and raised no error",
    )


def tries(times: int, error: Exception) -> Any:
    """A careful function that tries so often, and raises an error then."""

    def add_one(vault: Any) -> None:
        for _ in range(times):
            found = vault.get(COUNT).data
            body = {"options": {"cas": found["metadata"]["version"]}, "data": {"n": found["data"]["n"] + 1}}
            if vault.post(COUNT, body).ok:
                return
        raise error

    return add_one


@pytest.mark.parametrize(("times", "beside"), [(1, "1 more writer"), (2, "2 more writers")])
def test_one_that_gives_up_too_soon_hears_beside_how_many_it_has_to_succeed(times, beside):
    judged = judge(COUNTER, (tries(times, RuntimeError()),))

    assert judged[1:3] == ("holds out", f"beside {beside} it raised RuntimeError without a text")
    assert "up to 2 other writers" in COUNTER.conditions[0].asks


def test_one_that_tries_once_more_than_others_come_may_give_up_then():
    assert judge(COUNTER, (tries(3, RuntimeError("busy")),)).outcome == "right"


def test_an_error_that_is_no_giving_up_is_called_an_error():
    def misread(vault: Any) -> None:
        vault.get(COUNT).data["n"]

    assert judge(COUNTER, (misread,))[1:3] == ("returns", "beside no other writer it raised KeyError: 'n'")


def test_one_that_tries_again_with_what_it_read_before_hears_so():
    def same_again(vault: Any) -> None:
        found = vault.get(COUNT).data
        body = {"options": {"cas": found["metadata"]["version"]}, "data": {"n": found["data"]["n"] + 1}}
        while not vault.post(COUNT, body).ok:
            pass

    def next_number(vault: Any) -> None:
        cas = vault.get(COUNT).data["metadata"]["version"] + 1
        while not vault.post(COUNT, {"options": {"cas": cas}, "data": {"n": 41}}).ok:
            vault.get(COUNT)

    said = [judge(COUNTER, (function,))[1:3] for function in (same_again, next_number)]
    error = "it raised TooManyRequests: 100 requests were not enough"

    assert said[0] == (
        "returns",
        f"beside 1 more writer {error}: 99 writes were refused with 400, 98 of them sent without a new read",
    )
    assert said[1] == ("returns", f"beside no other writer {error}: 50 writes were refused with 400")
