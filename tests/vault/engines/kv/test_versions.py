"""The rules of a secret's versions, as tables and against a model that keeps every version in a dict."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest
from labkit.vault.engines.kv.versions import (
    DELETED,
    DESTROYED,
    LIVE,
    PRUNED,
    STATES,
    Config,
    Key,
    Version,
    add_version,
    after,
    check_cas,
    lifetime_s,
    state_of,
)
from tests.examples import examples

NOW = 1_700_000_000 * SECOND_NS
HOUR_S = 3600

REQUIRED = "check-and-set parameter required for this call"
MISMATCH = "check-and-set parameter did not match the current version"
UNREADABLE = "error parsing check-and-set parameter"


def write(key: Key, config: Config, times: int) -> tuple[Key, list[int], list[int]]:
    """A key after some writes, what was pruned on the way, and ``oldest`` after each."""
    pruned: list[int] = []
    oldest = []
    for _ in range(times):
        key, _, gone = add_version(key, config, NOW)
        pruned += gone
        oldest.append(key.oldest)
    return key, pruned, oldest


def test_what_is_not_set_limits_nothing_and_requires_nothing() -> None:
    assert Config() == (0, False, 0)
    assert Key(1, 2) == (1, 2, 0, 0, 0, False, 0, (), (), "")
    assert Version(1) == (1, None, False)


# ---- pruning -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "writes", "oldest"),
    [
        (0, 12, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3]),  # 0 is ten
        (10, 11, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]),
        (3, 5, [0, 0, 1, 2, 3]),
        (1, 3, [1, 2, 3]),
    ],
)
def test_the_window_begins_to_move_when_it_is_full(limit: int, writes: int, oldest: list[int]) -> None:
    key, pruned, seen = write(Key(NOW, NOW), Config(max_versions=limit), writes)

    assert seen == oldest
    assert pruned == list(range(1, oldest[-1]))
    assert list(key.numbers) == list(range(max(oldest[-1], 1), writes + 1))


def test_a_lower_limit_drops_several_at_the_next_write() -> None:
    key, pruned, _ = write(Key(NOW, NOW, max_versions=5), Config(), 6)
    assert (key.oldest, pruned) == (2, [1])

    key, _, gone = add_version(key._replace(max_versions=2), Config(), NOW)

    assert list(gone) == [2, 3, 4, 5]
    assert (key.oldest, list(key.numbers)) == (6, [6, 7])


def test_a_higher_limit_brings_nothing_back() -> None:
    key, _, _ = write(Key(NOW, NOW, max_versions=2), Config(), 4)

    key, pruned, oldest = write(key._replace(max_versions=4), Config(), 3)

    assert pruned == [3]
    assert oldest == [3, 3, 4]
    assert list(key.numbers) == [4, 5, 6, 7]


@pytest.mark.parametrize(("engine", "own", "kept"), [(5, 2, 2), (2, 5, 5), (5, 0, 5), (0, 3, 3), (0, 0, 10)])
def test_a_keys_limit_stands_before_the_engines_in_both_directions(engine: int, own: int, kept: int) -> None:
    key, _, _ = write(Key(NOW, NOW, max_versions=own), Config(max_versions=engine), 15)

    assert len(key.numbers) == kept


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=40))
def test_pruning_agrees_with_a_dict_of_versions(limits: list[tuple[int, int]]) -> None:
    key = Key(NOW, NOW)
    model: dict[int, int] = {}
    for step, (engine, own) in enumerate(limits):
        key, version, pruned = add_version(key._replace(max_versions=own), Config(max_versions=engine), NOW + step)
        model[key.current] = version.created_ns
        limit = own or engine or 10
        expected = [number for number in sorted(model) if key.current - number >= limit]
        assert list(pruned) == expected
        for number in expected:
            del model[number]
        assert list(key.numbers) == sorted(model)
        assert len(model) <= limit
        assert model[key.current] == key.updated_ns == NOW + step
    assert key.current == len(limits)
    assert key.created_ns == NOW


# ---- states --------------------------------------------------------------------------------------


class TestTable:
    def test_nothing_leads_out_of_pruned_and_only_pruning_out_of_destroyed(self) -> None:
        assert STATES[PRUNED] == {}
        assert {event for event, state in STATES[DESTROYED].items() if state != DESTROYED} == {"prune"}

    def test_every_move_ends_in_a_state_of_the_table(self) -> None:
        assert {state for moves in STATES.values() for state in moves.values()} <= set(STATES)

    def test_every_version_that_is_there_can_be_pruned(self) -> None:
        assert {state: STATES[state]["prune"] for state in (LIVE, DELETED, DESTROYED)} == dict.fromkeys(
            (LIVE, DELETED, DESTROYED), PRUNED
        )


def test_time_alone_deletes() -> None:
    version = Version(NOW, NOW + SECOND_NS)

    assert state_of(version, NOW + SECOND_NS - 1) == LIVE
    assert state_of(version, NOW + SECOND_NS) == STATES[LIVE]["expire"] == DELETED


@pytest.mark.parametrize(
    ("event", "version", "expected"),
    [
        ("delete", Version(NOW), Version(NOW, NOW)),
        ("delete", Version(NOW, NOW + 9), Version(NOW, NOW)),  # a deletion that is due is brought forward
        ("delete", Version(NOW, NOW - 9), Version(NOW, NOW - 9)),
        ("delete", Version(NOW, None, True), Version(NOW, None, True)),
        ("undelete", Version(NOW, NOW - 9), Version(NOW)),
        ("undelete", Version(NOW, NOW + 9), Version(NOW)),
        ("undelete", Version(NOW, NOW - 9, True), Version(NOW, NOW - 9, True)),
        ("destroy", Version(NOW), Version(NOW, None, True)),
        ("destroy", Version(NOW, NOW - 9), Version(NOW, NOW - 9, True)),
        ("destroy", Version(NOW, NOW - 9, True), Version(NOW, NOW - 9, True)),
    ],
)
def test_what_an_event_does(event: str, version: Version, expected: Version) -> None:
    changed = after(event, version, NOW)

    assert changed == expected
    assert (changed is version) == (expected == version), "an unchanged version is the same object"


def test_undelete_sets_the_time_to_deletion_anew() -> None:
    deleted = Version(NOW - 9, NOW - 1)

    assert after("undelete", deleted, NOW, HOUR_S) == Version(NOW - 9, NOW + HOUR_S * SECOND_NS)


EVENTS = st.sampled_from(["delete", "undelete", "destroy"])


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.tuples(EVENTS, st.integers(1, 5), st.integers(0, 3)), max_size=20))
def test_a_version_moves_as_the_table_says(events: list[tuple[str, int, int]]) -> None:
    version, state, now, expires = Version(NOW), LIVE, NOW, None
    for event, seconds, lifetime in events:
        now += seconds * SECOND_NS
        if state == LIVE and expires is not None and expires <= now:
            state = STATES[state]["expire"]
        assert state_of(version, now) == state
        before, version = version, after(event, version, now, lifetime)
        previous, state = state, STATES[state][event]
        if state == LIVE:
            expires = now + lifetime * SECOND_NS if lifetime else None
        assert state_of(version, now) == state
        assert version.created_ns == NOW
        if previous == state != LIVE:
            assert version is before


# ---- time to deletion ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("engine", "own", "expected"),
    [(-1, 0, 0), (-1, 60, 0), (0, 0, 0), (0, 60, 60), (90, 0, 90), (90, 60, 60), (60, 90, 60)],
)
def test_how_long_a_version_lives(engine: int, own: int, expected: int) -> None:
    config, key = Config(delete_after_s=engine), Key(NOW, NOW, delete_after_s=own)

    assert lifetime_s(config, key) == expected
    _, version, _ = add_version(key, config, NOW)
    assert version == Version(NOW, NOW + expected * SECOND_NS if expected else None)


# ---- check-and-set -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "required", "current", "refusal"),
    [
        (None, False, 0, None),
        (None, False, 3, None),
        ({}, False, 3, None),
        (None, True, 0, REQUIRED),
        ({}, True, 3, REQUIRED),
        ({"other": 3}, True, 3, REQUIRED),
        ({"cas": 3}, False, 3, None),
        ({"cas": 3}, True, 3, None),
        ({"cas": 2}, False, 3, MISMATCH),
        ({"cas": 4}, False, 3, MISMATCH),
        ({"cas": 0}, True, 0, None),
        ({"cas": 0}, False, 1, MISMATCH),
        ({"cas": -1}, False, 0, MISMATCH),
        ({"cas": -1}, False, 3, MISMATCH),
        ({"cas": "3"}, False, 3, None),
        ({"cas": "0x3"}, False, 3, None),
        ({"cas": True}, False, 1, None),
        ({"cas": True}, False, 2, MISMATCH),
        ({"cas": ""}, False, 0, None),
        ({"cas": None}, False, 0, None),
        ({"cas": None}, False, 1, MISMATCH),
        ({"cas": "abc"}, False, 3, UNREADABLE),
        ({"cas": 1.5}, False, 1, UNREADABLE),
        ({"cas": {"n": 1}}, False, 1, UNREADABLE),
        ({"cas": [1]}, False, 1, UNREADABLE),
    ],
)
def test_check_and_set(options: dict[str, object] | None, required: bool, current: int, refusal: str | None) -> None:
    if refusal is None:
        check_cas(options, required=required, current=current)
        return
    with pytest.raises(BadRequest) as raised:
        check_cas(options, required=required, current=current)
    assert raised.value.errors == (refusal,)
