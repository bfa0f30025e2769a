"""Announcements: what a primary keeps of its secondaries, what it signs, and what a secondary refuses."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.keymaking import sign
from labkit.seeded import SeededEntropy
from labkit.vault.context import own_work
from labkit.vault.replication.shapes import malformed_announcement
from labkit.vault.replication.tree.merkle import classify
from labkit.vault.replication.trust import activation, announcement

TOKYO = [f"https://tokyo-{number}:8201" for number in (1, 2, 3)]
KEY = activation.addresses_key("tokyo")


@pytest.fixture
def paris(together: Any) -> Any:
    return together.lab.parts.nodes["paris-1"].vault.core


@pytest.fixture
def tokyo(together: Any) -> Any:
    return together.lab.parts.nodes["tokyo-1"].vault.core


@pytest.fixture
def genuine(paris: Any) -> dict[str, Any]:
    """What a new active node of paris sends, under a term that tokyo has not seen."""
    ((_, message),) = announcement.announcements(paris, {})
    return signed(paris, message, term=paris.leadership.term + 1)


def signed(paris: Any, message: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """An announcement as the authority itself would sign it."""
    message = {**message, **changed}
    key = activation.authority_key(own_work(paris))
    return {**message, "signature": sign(key, announcement._signed(message))}


def test_the_addresses_of_who_connected_are_kept_encrypted_and_never_shipped(together, paris):
    stored = together.stored("paris")[KEY]

    assert classify(KEY) == 0
    assert b"tokyo" not in stored
    assert announcement._addresses(paris, KEY) == TOKYO
    assert KEY not in together.stored("tokyo")


def test_addresses_are_written_when_they_change_only(together, paris):
    before = together.stored("paris")[KEY]
    announcement.keep_addresses(paris, "tokyo", list(TOKYO))
    assert together.stored("paris")[KEY] == before
    announcement.keep_addresses(paris, "tokyo", ["https://elsewhere:8201"])
    assert announcement._addresses(paris, KEY) == ["https://elsewhere:8201"]


def test_a_node_that_was_overtaken_keeps_nothing_and_steps_down(together, paris):
    together.lab.parts.stores["paris"].claim(paris.leadership.term + 1)
    announcement.keep_addresses(paris, "tokyo", ["https://elsewhere:8201"])

    assert not paris.leadership.active
    assert announcement._addresses(paris, KEY) == TOKYO


def test_revoking_forgets_the_addresses(together):
    together.post("paris", "primary/revoke-secondary", {"id": "tokyo"}).raise_for_status()

    assert KEY not in together.stored("paris")


def test_who_is_connected_or_never_was_is_not_called(together, paris):
    together.activation("lima")
    ((addresses, message),) = announcement.announcements(paris, {})

    assert (list(addresses), message["secondary_id"]) == (TOKYO, "tokyo")
    assert malformed_announcement(message) == ""
    assert announcement.announcements(paris, {"tokyo": "tokyo-1"}) == []


def test_damaged_addresses_are_reported_and_nobody_is_called(together, paris):
    store = together.lab.parts.stores["paris"]
    store.apply({KEY: b"\0" * 60}, paris.leadership.term)

    assert announcement.announcements(paris, {}) == []
    assert KEY in paris.damaged


def test_a_genuine_announcement_is_acted_on(tokyo, genuine):
    assert announcement.why_refused(tokyo, tokyo.replica.sync, genuine) == ""


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"cluster_id": "another"}, "for another secondary or replication set"),
        ({"secondary_id": "lima"}, "for another secondary or replication set"),
        ({"address": "https://evil-1:8201"}, "address is not one of the primary's"),
        ({"term": 0}, "was seen already"),
        ({"term": 1}, "was seen already"),
    ],
)
def test_even_the_authority_is_not_believed_everything(paris, tokyo, genuine, changed, why):
    message = signed(paris, genuine, **changed)

    assert why in announcement.why_refused(tokyo, tokyo.replica.sync, message)


@pytest.mark.parametrize("changed", [{"term": 99}, {"address": "https://paris-3:8201"}, {"signature": bytes(64)}])
def test_what_was_changed_after_it_was_signed_is_refused(tokyo, genuine, changed):
    message = {**genuine, **changed}

    assert "signature" in announcement.why_refused(tokyo, tokyo.replica.sync, message)


def test_another_authority_is_nobody(tokyo, genuine):
    forged = {**genuine, "signature": sign(SeededEntropy(1, "x", 0)(32), announcement._signed(genuine))}

    assert "signature" in announcement.why_refused(tokyo, tokyo.replica.sync, forged)


def test_who_follows_nobody_acts_on_nothing(paris, tokyo, genuine):
    idle = tokyo.replica.sync._replace(addresses=())

    assert "no primary" in announcement.why_refused(tokyo, idle, genuine)
    assert "no primary" in announcement.why_refused(paris, tokyo.replica.sync, genuine)
