"""Large values: which are known, and which requests may lead to one."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.vault.storage.large_values import MIN_LARGE_BYTES, LargeValues
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.storage.sqlite import SqliteStorage

LARGE, SMALL = bytes(MIN_LARGE_BYTES), bytes(MIN_LARGE_BYTES - 1)
APP, WRAPPED = "logical/1/versions/team/app/1.data", "cubbyhole/2/response"


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_those_that_are_stored_already_are_found(kind: str, tmp_path: Path) -> None:
    store = MemoryStorage() if kind == "memory" else SqliteStorage(tmp_path / "lab.db")
    store.apply({APP: LARGE, "logical/1/versions/b/1.data": SMALL, "core/mounts": SMALL}, 0)

    assert store.keys(MIN_LARGE_BYTES) == [APP]
    assert len(store.keys()) == 3
    large = LargeValues(store)
    assert repr(large) == "LargeValues(1)"
    assert large.may_be_led_to("/v1/secret/data/team/app")
    assert not large.may_be_led_to("/v1/secret/data/b")


@pytest.mark.parametrize(
    ("target", "may"),
    [
        ("/v1/secret/data/team/app", True),
        ("secret/data/team/%61pp?version=1", True),
        ("/v1/secret/subkeys/app", True),
        ("/v1/secret/data/apple", False),
        ("/v1/secret/data/x?app", False),
        ("/v1/logical/1", False),
        ("/v1/sys/wrapping/unwrap", False),
        ("", False),
    ],
)
def test_a_request_may_lead_to_one_that_a_segment_names(target: str, may: bool) -> None:
    assert LargeValues(MemoryStorage({APP: LARGE})).may_be_led_to(target) is may
    assert not LargeValues(MemoryStorage()).may_be_led_to(target)


def test_writes_are_followed() -> None:
    large = LargeValues(MemoryStorage())
    for writes, names in (
        ({APP: LARGE}, {"app"}),
        ({APP: LARGE, "logical/1/versions/other/app/1.data": LARGE}, {"app", "other"}),
        ({APP: SMALL}, {"app", "other"}),
        ({"logical/1/versions/other/app/1.data": None}, set()),
        ({WRAPPED: LARGE}, {"wrapping", "response"}),
        ({WRAPPED: None, "never/was/there": None}, set()),
    ):
        large.note(None, writes, False)
        found = {name for name in ("app", "other", "wrapping", "response") if large.may_be_led_to(f"/v1/{name}/x")}
        assert found == names, writes
