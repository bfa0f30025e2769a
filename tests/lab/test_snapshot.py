"""A run cut at any event and resumed is the uncut run, to the last byte of every store; no branch shares a nonce."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import Lab
from labkit.front.lab import lab_of
from labkit.lab.snapshot import take_luck
from labkit.scenario.loading import loads
from labkit.vault.storage.memory import MemoryStorage
from tests.examples import examples


def drill(lab: Lab) -> None:
    """Begin what the cuts fall into: replication is enabled, later the primary crashes and the secondary takes over."""
    lab.parts.console.start("replicate", primary="paris", secondary="tokyo")


def finish(lab: Lab, from_event: int, events: int, cut_at: set[int]) -> Lab:
    """Take ``events`` steps in all, save and restore at the cuts, and let the faults fall at fixed events."""
    for number in range(from_event, events):
        if number == 700:
            lab.crash("paris")
        if number == 900:
            lab.parts.console.start("promote", cluster="tokyo")
        if number in cut_at:
            lab = Lab.restore(lab.snapshot())
        if not lab.step():
            break
    return lab


EVENTS = 1_400
SECOND_NS = 1_000_000_000
WITH_LUCK = """\
scenario: luck from four seconds on
lab:
  sites: [paris, tokyo]
  links: [{between: [paris, tokyo], latency: 80ms, jitter: 20ms, loss: 5%}]
  clusters: {paris: {site: paris}, tokyo: {site: tokyo}}
  clients: {shop: {site: tokyo, use: [paris], work: [{do: put-secret, every: 100ms}]}}
timeline:
  - {do: replicate, primary: paris, secondary: tokyo, at: 1s, fails: maybe, late: ok}
  - {do: luck, number: NUMBER, at: 4s}
end: 7s
"""


def evidence(lab: Lab) -> tuple[str, list[str], str]:
    """What must be equal: the trace, the composite roots, and every stored byte (as a digest)."""
    roots = [lab.queries.root(name) for name in lab.clusters]
    stored = {name: sorted(store.state()["items"].items()) for name, store in lab.parts.stores.items()}
    return lab.trace.digest(), roots, hashlib.sha256(repr(stored).encode()).hexdigest()


@pytest.fixture(scope="module")
def uncut(begun):
    """The evidence of the run that nobody cut."""
    return evidence(finish(Lab.restore(begun), 0, EVENTS, set()))


@pytest.fixture(scope="module")
def begun(busy_blueprint):
    """A lab at its very start, the drill just begun."""
    lab = Lab(busy_blueprint, seed=11)
    drill(lab)
    return lab.snapshot()


@settings(max_examples=examples(12), deadline=None)
@given(cuts=st.sets(st.integers(0, EVENTS - 1), min_size=1, max_size=4))
@pytest.mark.slow
def test_a_run_cut_anywhere_and_resumed_is_the_uncut_run(begun, uncut, cuts):
    """Also with requests suspended and messages in flight."""
    assert evidence(finish(Lab.restore(begun), 0, EVENTS, cuts)) == uncut


# ---- branches

NAMES = st.sampled_from(["x", "y", "x/y", " ", '1:"x"', 'x"/1:"y', "x\x1fparis", "\ud800"])
TREES = st.lists(st.tuples(st.integers(0, 7), NAMES), min_size=1, max_size=7)


def grown(root: Lab, tree: list[tuple[int, str]]) -> list[Lab]:
    """The labs of a tree of branches, each branched off the lab with that number, or the last one there is."""
    labs = [root]
    for parent, name in tree:
        labs.append(labs[min(parent, len(labs) - 1)].branch(name))
    return labs


def nonces(lab: Lab, text: str) -> list[tuple[bytes, bytes]]:
    """Every nonce under which a lab stores or answers something, with what it hides, after two requests of its own."""
    lab["paris"].put("secret/data/app", {"data": {"text": text}})
    answer = lab["paris"].post("transit/encrypt/orders", {"plaintext": b64encode(text.encode()).decode()})
    sealed = b64decode(answer.data["ciphertext"].rpartition(":")[2])
    stored = [value for store in lab.parts.stores.values() for value in store.state()["items"].values()]
    return [(sealed[:12], sealed[12:]), *((value[5:17], value[17:]) for value in stored if value[4:5] == b"\x01")]


@settings(max_examples=examples(25), deadline=None)
@given(tree=TREES)
def test_no_two_branches_share_a_nonce_whatever_their_names(calm_snapshot, tree):
    hidden: dict[bytes, bytes] = {}
    for number, lab in enumerate(grown(Lab.restore(calm_snapshot), tree)):
        for nonce, ciphertext in nonces(lab, f"lab {number}"):
            assert hidden.setdefault(nonce, ciphertext) == ciphertext


def test_restoring_one_snapshot_twice_gives_the_same_lab_and_the_same_branches(calm):
    calm.branch("x")
    snapshot = calm.snapshot()
    first, second = Lab.restore(snapshot), Lab.restore(snapshot)

    assert nonces(first, "text") == nonces(second, "text")
    assert nonces(first.branch("x"), "text") == nonces(second.branch("x"), "text")


# ---- other luck

BRANCHES: list[tuple[str, int | None]] = [("a", None), ("a", 1), ("a", 2), ("b", 2)]


def lucky_run(lab: Lab) -> Lab:
    """Go on for a while: clients work over lines with jitter and losses."""
    for ends in (("paris", "tokyo"), ("lisbon", "paris"), ("lisbon", "tokyo")):
        lab.lose(*ends, 20)
    return lab.run("3s")


def times(lab: Lab) -> list[tuple[int, ...]]:
    """When each message was sent, and when it arrived: what the network drew."""
    return [(event.sent_ns, event.at_ns) for event in lab.trace.select("message")]


@pytest.fixture(scope="module")
def branches(busy_blueprint):
    """A lab that worked for a second, and its branches with and without luck, each three seconds on."""
    lab = Lab(busy_blueprint, seed=11).run("1s")
    return lab, [lucky_run(lab.branch(name, luck=luck)) for name, luck in BRANCHES]


def test_branches_with_other_luck_have_other_delays_and_losses(branches):
    lab, (without, one, two, same_luck) = branches
    own = lucky_run(Lab.restore(lab.snapshot()))

    assert times(without) == times(own)
    assert times(two) == times(same_luck)
    assert len({tuple(times(branch)) for branch in (without, one, two)}) == 3


def test_no_two_of_them_store_the_same_bytes(branches):
    hidden: dict[bytes, bytes] = {}
    for number, branch in enumerate(branches[1]):
        for nonce, ciphertext in nonces(branch, f"branch {number}"):
            assert hidden.setdefault(nonce, ciphertext) == ciphertext


def test_the_same_luck_from_the_same_instant_is_the_same_run(busy_blueprint):
    first, again = (lucky_run(Lab(busy_blueprint, seed=11).run("1s").branch("a", luck=4)) for _ in range(2))

    assert evidence(first) == evidence(again)


def test_a_branch_with_luck_that_is_saved_goes_on_with_it(busy_blueprint):
    branch = Lab(busy_blueprint, seed=11).run("1s").branch("a", luck=5)

    assert evidence(lucky_run(Lab.restore(branch.snapshot()))) == evidence(lucky_run(branch))


def test_luck_that_is_taken_on_the_way_is_that_of_a_branch(busy_blueprint):
    lab = Lab(busy_blueprint, seed=11).run("1s")
    branch = lab.branch("a", luck=5)
    take_luck(lab.parts, 5)
    restored = Lab.restore(lab.snapshot())

    assert times(lucky_run(lab)) == times(lucky_run(branch))
    assert evidence(lucky_run(restored)) == evidence(lab)


def test_luck_in_a_file_makes_every_number_a_run_of_its_own():
    def played(number: int) -> Lab:
        lab = lab_of(loads(WITH_LUCK.replace("NUMBER", str(number)).encode()))
        lab.run()
        return lab

    runs = [played(number) for number in (1, 2, 3)]
    before = [[row for row in times(run) if row[1] < 4 * SECOND_NS] for run in runs]
    hidden: dict[bytes, bytes] = {}

    assert before[0] == before[1] == before[2]
    assert len({tuple(times(run)) for run in runs}) == 3
    assert evidence(played(2)) == evidence(runs[1])
    for number, run in enumerate(runs):
        for nonce, ciphertext in nonces(run, f"run {number}"):
            assert hidden.setdefault(nonce, ciphertext) == ciphertext


@pytest.mark.parametrize("luck", [-1, True, 1.0, "3", 10**18])
def test_luck_that_is_no_whole_number_is_refused(calm, luck):
    with pytest.raises(ValueError, match="luck: expected a whole number from 0 up, of at most 18 digits, got"):
        calm.branch("a", luck=luck)


def rsa_keys(lab: Lab, names: list[str]) -> list[str]:
    """The public halves of new RSA keys of each cluster, under these names."""
    made = []
    for name in names:
        for cluster in lab.clusters:
            shown = lab[cluster].post(f"transit/keys/{name}", {"type": "rsa-2048"}).raise_for_status().data
            made.append(shown["keys"]["1"]["public_key"])
    return made


def test_no_rsa_key_comes_twice_in_a_lab_and_a_restored_lab_goes_on():
    lab = Lab.pair(seed=7)
    before = rsa_keys(lab, ["a", "b"])
    snapshot = lab.snapshot()
    after = rsa_keys(lab, ["c", "d"])
    branch = Lab.restore(snapshot).branch("x")

    assert len(set(before + after)) == len(before + after)
    assert rsa_keys(Lab.restore(snapshot), ["c", "d"]) == after
    assert set(rsa_keys(branch, ["c", "d"])).isdisjoint(before)
    assert len(lab.snapshot().state["drawn_once"]["rsa-2048"]) == len(before + after)


# ---- what saving costs


class CountedNames(dict):
    """A folder's names, which count how often they are copied."""

    copies = 0

    def copy(self):
        CountedNames.copies += 1
        return super().copy()


def test_saving_and_restoring_a_store_enters_no_folder_again():
    """Only the folder that is written to afterwards is copied, in the store that writes."""
    first = MemoryStorage({f"team-{number % 50}/{number}": b"value" for number in range(500)})
    first._folders = {folder: CountedNames(names) for folder, names in first._folders.items()}
    CountedNames.copies = 0
    second = MemoryStorage.from_state(first.state())
    assert CountedNames.copies == 0

    second.apply({"team-7/new": b"value", "team-7/newer": b"value", "team-8/8": b"changed"}, 0)
    assert CountedNames.copies == 1
    assert "new" in second.list("team-7/")
    assert "new" not in first.list("team-7/")


# ---- the kept index


def steps_of_a_drill() -> list[Callable[[Lab], object]]:
    """Return a drill in steps: writes enough for several flushes, damage, takeovers on both sides and a failover."""

    def write(cluster: str, number: int) -> Callable[[Lab], object]:
        return lambda lab: lab[cluster].post(f"secret/data/{number % 5}", {"data": {"n": number}})

    return [
        lambda lab: lab.replicate("paris", "tokyo"),
        *[write("paris", number) for number in range(6)],
        lambda lab: lab.corrupt("paris", layer="root"),
        lambda lab: lab.crash("paris-1"),
        lambda lab: lab.run("6s"),
        *[write("paris", number) for number in range(6)],
        lambda lab: lab.corrupt("tokyo", layer="storage"),
        lambda lab: lab.crash("tokyo-1"),
        lambda lab: lab.run("8s"),
        lambda lab: lab.failover("paris", "tokyo"),
        *[write("tokyo", number) for number in range(6)],
        lambda lab: lab.run("5s"),
    ]


def kept(lab: Lab) -> list[Any]:
    """Return the trace, and of each cluster its index and all that it stores."""
    stores = lab.parts.stores.values()
    journals = [lab.parts.nodes[lab.queries.active_node(name)].journal for name in ("paris", "tokyo")]
    return [lab.trace.digest(), [journal.state() for journal in journals], [store.state() for store in stores]]


def test_cut_at_each_step_the_index_is_kept_as_if_uncut(monkeypatch):
    monkeypatch.setattr(MemoryStorage, "flush_entries", 8)
    uncut, cut = Lab.pair(seed=9), Lab.pair(seed=9)
    for step in steps_of_a_drill():
        step(uncut)
        cut = Lab.restore(cut.snapshot())
        step(cut)

    assert kept(cut) == kept(uncut)
    assert all(journal["flushed"] > 8 for journal in kept(cut)[1]), "the nodes were stored more than once"
