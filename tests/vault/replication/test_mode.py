"""Replication modes: the table, what each event keeps and forgets, and status bodies as published."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.vault.replication import mode
from labkit.vault.replication.mode import (
    MODE_KEY,
    TRANSITIONS,
    Mode,
    PeerStatus,
    ReindexProgress,
    TreeStatus,
    UpstreamStatus,
    WrongMode,
)
from labkit.vault.replication.tree import merkle
from tests.examples import examples

ROOT = "d4c2ef6d9f0b2ae0b6ad1f8f3b8e3e0a5f5c9a11"
EVENTS = sorted({event for events in TRANSITIONS.values() for event in events})

PRIMARY = mode.advance(Mode(), "enable_primary", cluster_id="set-1", primary_cluster_addr="https://p:8201")
SECONDARY = mode.advance(
    Mode(),
    "enable_secondary",
    cluster_id="set-1",
    secondary_id="tokyo",
    primary_cluster_addr="https://p:8201",
    upstream_api_addr="https://p:8200",
    upstream_cluster_addrs=("https://p:8201", "https://p2:8201"),
)


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("name", sorted(TRANSITIONS))
def test_the_table_is_followed_and_nothing_else_is_possible(name: str, event: str) -> None:
    following = TRANSITIONS[name].get(event)
    if following is not None:
        assert mode.advance(Mode(name), event).mode == following
        return
    with pytest.raises(WrongMode, match="this cluster") as raised:
        mode.advance(Mode(name), event)
    assert (name if name == "disabled" else f"is a DR {name}") in str(raised.value)
    assert "sys/replication/dr/" in str(raised.value)


def test_the_table_is_the_published_one() -> None:
    """Spec, DR cluster mode: six rows, and an update of the primary that stays a secondary."""
    rows = [(name, event, after) for name, events in TRANSITIONS.items() for event, after in events.items()]

    assert rows == [
        ("disabled", "enable_primary", "primary"),
        ("disabled", "enable_secondary", "secondary"),
        ("primary", "demote", "secondary"),
        ("primary", "disable_primary", "disabled"),
        ("secondary", "promote", "primary"),
        ("secondary", "disable_secondary", "disabled"),
        ("secondary", "update_primary", "secondary"),
    ]


def test_the_record_is_this_clusters_own() -> None:
    assert merkle.classify(MODE_KEY) == merkle.NO_TREE


@settings(max_examples=examples(50))
@given(
    st.builds(
        Mode,
        mode=st.sampled_from(sorted(TRANSITIONS)),
        cluster_id=st.text(max_size=5),
        upstream_cluster_addrs=st.lists(st.text(max_size=5), max_size=3).map(tuple),
        position=st.none() | st.integers(0, 2**63),
        complete=st.booleans(),
        last_check_s=st.integers(-(2**40), 2**40),
    )
)
def test_a_record_is_stored_as_json(record: Mode) -> None:
    assert Mode.from_bytes(record.to_bytes()) == record
    assert json.loads(record.to_bytes())["mode"] == record.mode


def test_a_cluster_that_stored_nothing_is_disabled() -> None:
    assert Mode.from_bytes(None) == Mode()


def test_demotion_keeps_set_and_data_and_forgets_the_address() -> None:
    demoted = mode.advance(PRIMARY._replace(last_reindex_s=9), "demote")

    assert demoted == Mode("secondary", "set-1", newly_demoted=True, complete=True, last_reindex_s=9)
    assert not demoted.has_upstream


def test_promotion_keeps_the_set_forgets_the_upstream_and_counts() -> None:
    streaming = SECONDARY._replace(complete=True, position=12, last_remote_wal=12, corrupted=True)
    promoted = mode.advance(streaming, "promote", primary_cluster_addr="https://t:8201")

    assert promoted == Mode("primary", "set-1", "https://t:8201", complete=True, corrupted=True, generation_counter=1)
    assert mode.advance(streaming, "promote").primary_cluster_addr == ""


@pytest.mark.parametrize(("record", "event"), [(PRIMARY, "disable_primary"), (SECONDARY, "disable_secondary")])
def test_disabling_leaves_the_set_but_not_the_counter(record: Mode, event: str) -> None:
    assert mode.advance(record._replace(generation_counter=3), event) == Mode(generation_counter=3)


def test_a_token_gives_a_primary_and_forgets_the_position() -> None:
    demoted = mode.advance(PRIMARY, "demote")
    updated = mode.by_token(
        demoted, cluster_id="set-1", secondary_id="paris", upstream_cluster_addrs=("https://t:8201",)
    )

    assert (updated.newly_demoted, updated.position, updated.complete) == (False, None, True)
    assert updated.has_upstream
    assert mode.by_token(SECONDARY._replace(position=9, last_remote_wal=9)).position is None


def test_addresses_move_the_primary_and_keep_the_position() -> None:
    moved = mode.by_addresses(SECONDARY._replace(position=9), ("https://q:8201",))

    assert moved == SECONDARY._replace(position=9, upstream_cluster_addrs=("https://q:8201",))


def test_addresses_will_not_do_after_a_demotion() -> None:
    with pytest.raises(ValueError, match="cannot be used on a newly demoted cluster"):
        mode.by_addresses(mode.advance(PRIMARY, "demote"), ("https://q:8201",))
    with pytest.raises(WrongMode, match="cannot update primary: this cluster is a DR primary"):
        mode.by_addresses(PRIMARY, ("https://q:8201",))


def test_a_blank_token_forgets_the_primary_but_no_data() -> None:
    blank = mode.forgetting(SECONDARY._replace(complete=True, position=4, last_remote_wal=4))

    assert blank == Mode("secondary", "set-1", complete=True)


def test_other_calls_ask_for_the_mode_they_need() -> None:
    mode.require(PRIMARY, "primary", "issue tokens")
    with pytest.raises(WrongMode, match=r"^cannot issue tokens: this cluster is a DR secondary; only a DR primary"):
        mode.require(SECONDARY, "primary", "issue tokens")
    with pytest.raises(WrongMode, match=r"disabled on this cluster; only a DR secondary can; enable it first"):
        mode.require(Mode(), "secondary", "reindex")


# ---- status -----------------------------------------------------------------------------------------------

PEER = PeerStatus("tokyo", "https://t:8200", "https://t:8201", True, "2026-01-02T03:04:05Z", 12, -1, 454)
PEER_BODY = {
    "api_address": "https://t:8200",
    "cluster_address": "https://t:8201",
    "connection_status": "connected",
    "last_heartbeat": "2026-01-02T03:04:05Z",
    "last_heartbeat_duration_ms": "12",
    "clock_skew_ms": "-1",
    "replication_primary_canary_age_ms": "454",
}
TREE_BODY = {
    "merkle_root": ROOT,
    "corrupted_merkle_tree": False,
    "last_corruption_check_epoch": "-62135596800",
    "last_reindex_epoch": "0",
    "ssct_generation_counter": 0,
}


def test_a_cluster_that_does_not_replicate_says_nothing_else() -> None:
    assert mode.status_disabled() == {"mode": "disabled"}


def test_the_status_of_a_primary() -> None:
    never = PeerStatus("lima")
    body = mode.status_primary(PRIMARY, ["lima", "tokyo"], [never, PEER], 223, TreeStatus(ROOT))

    assert body == {
        "mode": "primary",
        "state": "running",
        "cluster_id": "set-1",
        "known_secondaries": ["lima", "tokyo"],
        "secondaries": [
            {"node_id": "lima", "api_address": "", "cluster_address": "", "connection_status": "disconnected"},
            {"node_id": "tokyo", **PEER_BODY},
        ],
        "last_wal": 223,
        "last_dr_wal": 223,
        "primary_cluster_addr": "https://p:8201",
        **TREE_BODY,
    }


def test_the_status_of_a_secondary() -> None:
    streaming = SECONDARY._replace(last_remote_wal=223, last_reindex_s=1_700_000_000, generation_counter=2)
    known = ("https://p2:8201", "https://p:8201")
    link = UpstreamStatus("stream-wals", "ready", known, "2026-01-02T03:00:00Z", (PEER,))

    assert mode.status_secondary(streaming, link, TreeStatus(ROOT)) == {
        "mode": "secondary",
        "state": "stream-wals",
        "connection_state": "ready",
        "cluster_id": "set-1",
        "secondary_id": "tokyo",
        "primary_cluster_addr": "https://p:8201",
        "known_primary_cluster_addrs": ["https://p2:8201", "https://p:8201"],
        "last_remote_wal": 223,
        "last_start": "2026-01-02T03:00:00Z",
        "primaries": [PEER_BODY],
        **TREE_BODY,
        "last_reindex_epoch": "1700000000",
        "ssct_generation_counter": 2,
    }


def test_a_sync_shows_its_progress() -> None:
    body = mode.status_secondary(
        SECONDARY, UpstreamStatus("merkle-sync", "ready", sync_total_keys=40, sync_progress=12), TreeStatus(ROOT)
    )

    assert body["merkle_sync_progress"] == {"sync_total_keys": 40, "sync_progress": 12}


@pytest.mark.parametrize(("comparisons", "shown"), [(0, None), (1, None), (2, 2), (31, 31)])
def test_comparisons_in_vain_show(comparisons: int, shown: int | None) -> None:
    link = UpstreamStatus("merkle-diff", "ready", comparisons=comparisons)

    assert mode.status_secondary(SECONDARY, link, TreeStatus(ROOT)).get("merkle_comparisons") == shown


def test_a_demoted_cluster_is_idle_without_an_upstream() -> None:
    body = mode.status_secondary(mode.advance(PRIMARY, "demote"), UpstreamStatus("idle", "idle"), TreeStatus(ROOT))

    assert (body["mode"], body["state"], body["primaries"]) == ("secondary", "idle", [])
    assert "connection_state" not in body


def test_a_reindex_and_a_found_corruption_show() -> None:
    checked = PRIMARY._replace(corrupted=True, last_check_s=1_700_000_001)
    body = mode.status_primary(checked, [], [], 0, TreeStatus(ROOT, ReindexProgress("building", 26_838, 305_443)))

    assert (body["corrupted_merkle_tree"], body["last_corruption_check_epoch"]) == (True, "1700000001")
    assert body["reindex_in_progress"] is True
    assert body["reindex_stage"] == "building"
    assert (body["reindex_building_progress"], body["reindex_building_total"]) == (26_838, 305_443)


def test_a_cluster_that_never_replicated_has_nothing_to_say() -> None:
    assert Mode() == ("disabled", "", "", "", "", (), False, False, None, 0, False, -62_135_596_800, 0, 0)
    assert PeerStatus() == ("", "", "", False, "", 0, 0, 0)
    assert ReindexProgress("building") == ("building", 0, 0)
    assert TreeStatus(ROOT) == (ROOT, None, 0)
    assert UpstreamStatus("idle") == ("idle", "", (), "", (), 0, 0, "", 0)
    assert Mode.from_bytes(None) == Mode()
