"""Recent records: the least recently used makes room, what is beside the folder is neither kept nor counted."""

from __future__ import annotations

from collections import OrderedDict

from hypothesis import given
from hypothesis import strategies as st

from labkit.vault.storage.recent_records import RecentRecords
from labkit.vault.storage.storage_view import CachedRecords

FOLDER = "logical/1/key/"


def counts(records: RecentRecords) -> tuple[int, int, int]:
    return records.lookups, records.misses, records.evictions


@given(size=st.sampled_from([0, 1, 3, 10]), reads=st.lists(st.integers(0, 12), max_size=60))
def test_it_does_what_a_list_of_uses_says(size: int, reads: list[int]) -> None:
    records = RecentRecords(FOLDER, size, CachedRecords())
    used: OrderedDict[str, None] = OrderedDict()
    misses = evictions = 0
    for number in reads:
        key = f"{FOLDER}{number}"
        if records.get(key) is None:
            records.keep(key, b"stored", number)
        if key not in used:
            misses += 1
            if size and len(used) == size:
                used.popitem(last=False)
                evictions += 1
        used[key] = None
        used.move_to_end(key)

    assert list(records) == list(used)
    assert counts(records) == (len(reads), misses, evictions)


def test_a_record_in_place_of_an_older_one_pushes_nothing_out() -> None:
    records = RecentRecords(FOLDER, 2, CachedRecords())
    for name in ("a", "b", "a"):
        records.keep(FOLDER + name, b"stored", name)

    assert list(records) == [FOLDER + "b", FOLDER + "a"]
    assert counts(records) == (0, 3, 0)


def test_what_is_beside_the_folder_is_among_the_others() -> None:
    others = CachedRecords()
    records = RecentRecords(FOLDER, 1, others)
    records.keep(FOLDER + "a", b"stored", "a")
    records.keep("logical/1/config/keys", b"stored", "settings")

    assert records.get("logical/1/config/keys") == (b"stored", "settings")
    assert (list(records), list(others)) == ([FOLDER + "a"], ["logical/1/config/keys"])
    assert counts(records) == (0, 1, 0)
