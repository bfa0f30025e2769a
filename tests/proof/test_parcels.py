"""Messages as values, and serials by their role."""

from __future__ import annotations

from labkit.proof.parcels import (
    ANSWER,
    BEGUN_AGAIN,
    LIFE,
    NOW,
    OLD,
    OLD_LIFE,
    PUSH,
    QUESTION,
    REFUSAL,
    STREAM,
    UNCHANGED,
    Roles,
    parcel,
    renamed,
    role,
    roles_after,
)
from labkit.vault.replication.state import State

BEFORE = State(life=LIFE, serial=NOW, stream=STREAM)


def test_a_message_is_the_same_value_whatever_its_order_and_comes_back_as_lists() -> None:
    one = parcel(ANSWER, "a", False, "fetch_keys", {"serial": NOW, "values": [["x", b"1"]]})
    other = parcel(ANSWER, "a", False, "fetch_keys", {"values": [["x", b"1"]], "serial": NOW})

    assert one == other
    assert one.message() == {"serial": NOW, "values": [["x", b"1"]]}
    assert not one.goes_up
    assert one._replace(kind=QUESTION).goes_up


def test_a_serial_stands_by_its_role() -> None:
    assert [role(BEFORE, serial) for serial in (0, 1, STREAM, NOW)] == [0, OLD, STREAM, NOW]


def test_a_step_gives_serials_other_roles() -> None:
    asked = BEFORE._replace(serial=NOW + 1)
    assert roles_after(BEFORE, BEFORE) == UNCHANGED
    assert roles_after(BEFORE, asked) == Roles(OLD, STREAM, LIFE)
    assert roles_after(BEFORE._replace(stream=NOW), asked._replace(stream=NOW)) == Roles(STREAM, STREAM, LIFE)
    assert roles_after(BEFORE, asked._replace(stream=0)) == Roles(OLD, OLD, LIFE)
    assert roles_after(BEFORE, asked._replace(life=NOW)) == BEGUN_AGAIN


def test_messages_in_flight_follow() -> None:
    roles = Roles(STREAM, OLD, LIFE)
    push = parcel(PUSH, "a", False, "stream", {"serial": NOW, "entries": []})
    echo = parcel(ANSWER, "a", True, "echo", {"serial": LIFE, "asked": NOW, "stream": STREAM})
    refusal = parcel(REFUSAL, "a", True, "echo", {"serial": NOW, "addresses": ["a"]})

    assert renamed(push, UNCHANGED) is push
    assert renamed(push, roles).message()["serial"] == STREAM
    assert renamed(echo, roles).message() == {"serial": LIFE, "asked": STREAM, "stream": OLD}
    assert renamed(echo, BEGUN_AGAIN).message() == {"serial": OLD_LIFE, "asked": OLD, "stream": OLD}
    assert renamed(refusal, roles).message()["serial"] == STREAM


def test_no_role_is_taken_for_another_or_for_none() -> None:
    assert len({0, OLD, STREAM, NOW}) == 4
    assert State().life == OLD_LIFE != LIFE
    assert Roles() == UNCHANGED == Roles(NOW, STREAM, LIFE)
