"""What a client remembers: tokens in turn, uses that are spent and given back, versions; and again from its state."""

from __future__ import annotations

import pickle

import pytest

from labkit.lab.hosts.client_memory import MAX_HELD, SPENT, ClientMemory, ClientToken
from labkit.lab.wire.seen_versions import SeenVersion


def holding(**tokens: int) -> ClientMemory:
    """A memory with tokens and their uses, the oldest first."""
    memory = ClientMemory()
    for text, uses in tokens.items():
        memory.hold({"client_token": text, "num_uses": uses})
    return memory


def held(memory: ClientMemory) -> dict[str, int]:
    return dict(memory.tokens)


def test_each_token_is_used_in_turn() -> None:
    memory = holding(a=0, b=0, c=0)

    assert [memory.use(turn) for turn in range(1, 5)] == ["b", "c", "a", "b"]
    assert held(memory) == {"a": 0, "b": 0, "c": 0}
    assert ClientMemory().use(1) == ""


def test_uses_are_spent_when_they_are_sent_and_the_token_is_forgotten_with_the_last() -> None:
    memory = holding(a=2)

    assert (memory.use(1), held(memory)) == ("a", {"a": 1})
    assert (memory.use(2), held(memory)) == ("a", {"a": SPENT})
    assert memory.use(3) == "", "the last use is under way"
    assert memory.revoke() == "", "nor is there anything to be revoked"
    memory.used("a", had_effect=True)
    assert held(memory) == {}


def test_a_use_that_had_no_effect_is_there_again() -> None:
    memory = holding(a=1, b=3)
    memory.use(0), memory.use(1)
    for text in ("a", "b"):
        memory.used(text, had_effect=False)

    assert held(memory) == {"a": 1, "b": 3}


def test_a_use_of_a_token_without_limit_or_of_one_that_is_gone_changes_nothing() -> None:
    memory = holding(a=0)
    memory.used("a", had_effect=False)
    memory.used("b", had_effect=False)

    assert held(memory) == {"a": 0}


def test_a_token_that_was_refused_is_forgotten() -> None:
    memory = holding(a=0, b=2)
    memory.drop("a")
    memory.drop("a")

    assert held(memory) == {"b": 2}


def test_the_oldest_is_revoked_and_comes_back_where_that_was_refused() -> None:
    memory = holding(a=5, b=0)

    assert (memory.revoke(), held(memory)) == ("a", {"b": 0})
    memory.revoked("a", had_effect=False)
    assert list(held(memory).items()) == [("a", 5), ("b", 0)]
    assert memory.revoke() == "a"
    memory.revoked("a", had_effect=True)
    memory.revoked("a", had_effect=False)
    assert held(memory) == {"b": 0}


@pytest.mark.parametrize(
    "auth", [None, {}, {"client_token": ""}, {"client_token": 5}, ["client_token"], "hvs.x", {"client_token": ["x"]}]
)
def test_an_answer_of_another_shape_issues_no_token(auth: object) -> None:
    memory = ClientMemory()
    memory.hold(auth)

    assert held(memory) == {}


@pytest.mark.parametrize("uses", [None, -1, True, "3", 0])
def test_uses_of_another_shape_are_no_limit(uses: object) -> None:
    memory = ClientMemory()
    memory.hold({"client_token": "a", "num_uses": uses})

    assert held(memory) == {"a": 0}


def test_of_very_many_tokens_the_oldest_are_forgotten() -> None:
    memory = holding(**{f"t{number}": 0 for number in range(MAX_HELD + 3)})

    assert len(memory.tokens) == MAX_HELD
    assert memory.revoke() == "t3"


def test_the_version_that_was_named_last_counts() -> None:
    memory = ClientMemory()
    for version in (4, 6, 5):
        memory.see(SeenVersion("secret/data/a", version, ""))
    memory.see(None)

    assert memory.versions == {"secret/data/a": 5}


def test_turns_are_counted_by_workload() -> None:
    memory = ClientMemory()

    assert [memory.take_turn(number) for number in (0, 0, 1, 0)] == [1, 2, 1, 3]


def test_it_is_plain_values_and_the_same_again() -> None:
    memory = holding(a=2, b=0, c=1)
    memory.take_turn(1), memory.revoke(), memory.use(1)
    memory.see(SeenVersion("secret/data/a", 3, ""))
    again = ClientMemory(pickle.loads(pickle.dumps(memory.state())))

    assert again.state() == memory.state()
    again.revoked("a", had_effect=False)
    assert again.tokens[0] == ClientToken("a", 2)


def test_what_goes_down_remembers_nothing_but_its_turns() -> None:
    memory = holding(a=0, b=0)
    memory.revoke(), memory.take_turn(0)
    memory.see(SeenVersion("secret/data/a", 3, ""))
    memory.clear()

    assert memory.state() == {**ClientMemory().state(), "turns": {0: 1}}


def test_it_shows_no_token() -> None:
    memory = holding(secret=2)

    assert repr(memory) == "ClientMemory(1 tokens, 0 versions)"
    assert repr(memory.tokens) == "[ClientToken(2 uses)]"
