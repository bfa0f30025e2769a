"""The rebuild: stage by stage beside writes, it ends with the index of what the store holds then."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.service.durations import SECOND_NS
from labkit.vault.replication.tree import merkle, rebuild
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.replication.tree.rebuild import STAGES, TRANSITIONS, Rebuild, ReindexOptions
from labkit.vault.storage import StoreError
from labkit.vault.storage.memory import MemoryStorage

KEYS = [f"logical/u/{n}" for n in range(8)] + ["token/a", "lease/b", "local/c"]
WRITES = st.dictionaries(st.sampled_from([*KEYS, "node/x"]), st.none() | st.binary(max_size=2), max_size=4)


def running(items: Mapping[str, bytes]) -> Journal:
    """A journal that is on, over a store of these keys."""
    journal = Journal(MemoryStorage(dict(items)))
    journal.switch_on()
    return journal


def afresh(journal: Journal) -> merkle.MerkleTree:
    """The index of what the store holds."""
    keys = journal.storage.keys()
    return merkle.MerkleTree.build([(key, journal.storage.get(key) or b"") for key in keys])


def test_every_stage_leads_to_another_and_the_last_ends() -> None:
    assert tuple(TRANSITIONS) == STAGES
    named = {following for events in TRANSITIONS.values() for following in events.values()}
    assert named == {*STAGES, ""}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of a few keys, so that every stage takes several."""
    for name, count in (("SCANNED_KEYS", 3), ("BUILT_KEYS", 2), ("COMPARED_KEYS", 1), ("REPLAYED_KEYS", 2)):
        monkeypatch.setattr(rebuild, name, count)


@pytest.mark.usefixtures("small")
@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), st.binary(max_size=2)), st.lists(WRITES, max_size=12), st.booleans())
@pytest.mark.slow
def test_whatever_is_written_meanwhile_it_ends_with_the_index_of_the_contents(
    items: dict[str, bytes], steps: list[dict[str, bytes | None]], diff: bool
) -> None:
    journal = running(items)
    journal.rebuild = Rebuild(ReindexOptions(diff=diff), 0)
    left = list(steps)
    while journal.rebuild.stage != "commit":
        if left:
            journal.commit(left.pop(), 0)
        journal.rebuild.do_batch(journal.storage)
        journal.rebuild = Rebuild.from_state(pickle.loads(pickle.dumps(journal.rebuild.state())))
    journal.commit({"logical/u/1": b"last", "token/a": None}, 0)
    new = journal.rebuild.finish(journal.storage)

    assert new.root() == afresh(journal).root()
    assert new.guard() == afresh(journal).guard()
    assert not journal.replace(new, {}, 0, whole=False, stored=True)
    assert journal.storage.leaves() == {
        key: merkle.leaf_digest(key, value) for key in KEYS if (value := journal.storage.get(key)) is not None
    }


@pytest.mark.usefixtures("small")
def test_it_goes_through_its_stages_in_batches_and_shows_how_far_it_is() -> None:
    journal = running(dict.fromkeys(KEYS, b"1"))
    work = Rebuild(ReindexOptions(), 1_000)
    seen = []
    while work.stage != "commit":
        seen.append((work.stage, work.done, work.total))
        before_ns = work.due_ns
        work.do_batch(journal.storage)
        assert work.due_ns == before_ns + rebuild.BATCH_NS

    assert seen == [
        *[("scanning", 3 * done, 0 if not done else 11) for done in range(4)],
        *[("building", 2 * done, 11) for done in range(6)],
        ("wal-replay", 11, 11),
    ]
    assert repr(work) == "Rebuild(commit, 11 of 11 keys)"


@pytest.mark.usefixtures("small")
def test_key_by_key_it_takes_more_batches() -> None:
    journal, counts = running(dict.fromkeys(KEYS, b"1")), []
    for diff in (False, True):
        work, batches = Rebuild(ReindexOptions(diff=diff), 0), 0
        while work.stage != "commit":
            work.do_batch(journal.storage)
            batches += 1
        counts.append(batches)
    assert counts[1] == counts[0] + len(KEYS) // 2


@pytest.mark.usefixtures("small")
def test_it_does_not_commit_while_many_keys_were_touched() -> None:
    journal = running({})
    work = Rebuild(ReindexOptions(), 0)
    for _ in range(2):
        work.do_batch(journal.storage)
    for changed, following in ((KEYS[:3], "wal-replay"), (KEYS[:2], "commit")):
        work.touch(changed)
        work.do_batch(journal.storage)
        assert work.stage == following


@pytest.mark.usefixtures("small")
def test_it_commits_though_every_round_leaves_many_touched_keys() -> None:
    journal = running({})
    work = Rebuild(ReindexOptions(), 0)
    for _ in range(2):
        work.do_batch(journal.storage)
    rounds = []
    for count in (11, 9, 4, 3):
        work.touch(KEYS[:count])
        work.do_batch(journal.storage)
        rounds.append(work.stage)
        work = Rebuild.from_state(work.state())
        if work.stage == "commit":
            break
    assert rounds == ["wal-replay", "commit"], "nine are not less than half of eleven"
    assert work.finish(journal.storage).root() == afresh(journal).root()


def test_a_clock_that_is_set_back_holds_no_batch_up() -> None:
    work = Rebuild(ReindexOptions(), 5 * SECOND_NS)
    assert not work.keep_pace(5 * SECOND_NS)
    assert not work.keep_pace(9 * SECOND_NS), "what is overdue stays so"
    assert work.keep_pace(SECOND_NS)
    assert work.due_ns == SECOND_NS + rebuild.BATCH_NS
    work.put_off(SECOND_NS, 10 * SECOND_NS)
    assert Rebuild.from_state(work.state()).keep_pace(0), "a longer wait is kept as well"
    assert not work.keep_pace(SECOND_NS)


def test_a_batch_that_the_store_cannot_read_is_done_again() -> None:
    journal = running({"logical/a": b"1", "logical/b": b"2"})
    work = Rebuild(ReindexOptions(), 0)
    work.do_batch(journal.storage)

    class Broken(MemoryStorage):
        def get(self, key: str) -> bytes | None:
            if key == "logical/b":
                raise StoreError("the file is damaged")
            return super().get(key)

    broken = Broken.from_state(journal.storage.state())  # type: ignore[attr-defined]  # a store in memory
    due_ns = work.due_ns
    with pytest.raises(StoreError):
        work.do_batch(broken)
    assert (work.stage, work.done, work.due_ns) == ("building", 0, due_ns)
    while work.stage != "commit":
        work.do_batch(journal.storage)
    assert work.finish(journal.storage).root() == afresh(journal).root()
