"""The index state: what a write says of its place in history, and who has not got as far."""

from __future__ import annotations

from base64 import b64decode, b64encode

import pytest

from labkit import Lab
from labkit.service.message import Response
from labkit.vault.replication import index_state
from labkit.vault.replication.trust import activation
from labkit.vault.storage.barrier import BarrierError

HEADER = index_state.HEADER
DR = "sys/replication/dr/"


@pytest.fixture(scope="module")
def streaming():
    """The pair, tokyo streaming from paris."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    return lab.run("500ms").snapshot()


@pytest.fixture
def pair(streaming):
    return Lab.restore(streaming)


def write(lab: Lab, cluster: str, name: str = "a") -> str:
    """Write a secret; return its index."""
    return lab[cluster].post(f"secret/data/{name}", {"data": {"b": 1}}).raise_for_status().headers[HEADER]


def read(lab: Lab, cluster: str, index: str, path: str = "sys/mounts") -> Response:
    return lab[cluster].get(path, headers={HEADER: index})


def test_without_replication_no_write_has_an_index_and_any_is_ignored(pair):
    quiet = Lab.pair(seed=7)
    assert HEADER not in quiet["paris"].post("secret/data/a", {"data": {"b": 1}}).headers
    assert read(quiet, "paris", write(pair, "paris")).ok


def test_an_index_counts_entries_and_a_read_has_none(pair):
    first, second = (b64decode(write(pair, "paris", name)) for name in "ab")
    assert first[:16] == second[:16]
    assert int.from_bytes(second[16:], "big") == pair.queries.last_entry("paris")
    assert int.from_bytes(second[16:], "big") - int.from_bytes(first[16:], "big") == 1
    assert HEADER not in pair["paris"].get("secret/data/a").headers


def test_who_wrote_it_reads_it_and_what_is_ahead_is_412(pair):
    index = write(pair, "paris")
    assert read(pair, "paris", index).ok
    ahead = b64decode(index)
    ahead = ahead[:16] + (int.from_bytes(ahead[16:], "big") + 1).to_bytes(8, "big")
    answer = read(pair, "paris", b64encode(ahead).decode())
    assert (answer.status, answer.errors) == (412, ["required index state not present"])
    assert read(pair, "paris", b64encode(ahead).decode(), "sys/health").ok, "health is about the node"


def test_a_survivor_that_was_promoted_behind_a_write_refuses_its_index(pair):
    index_before = write(pair, "paris", "before")
    pair.run("1s")
    index_lost = write(pair, "paris", "lost")
    pair.crash("paris")
    pair["tokyo"].promote()
    assert read(pair, "tokyo", index_before).ok
    assert read(pair, "tokyo", index_lost).status == 412
    assert read(pair, "tokyo", index_lost, "secret/data/lost").status == 412
    assert pair["tokyo"].get("secret/data/lost").status == 404
    assert read(pair, "tokyo", write(pair, "tokyo", "after")).ok


def test_a_promotion_by_force_in_the_middle_of_a_sync_has_nothing_of_that_reign():
    lab = Lab.pair(seed=7)
    lab["paris"].enable_primary()
    index = write(lab, "paris")
    lab.parts.console.start("enable-secondary", cluster="tokyo", primary="paris")
    lab.run(until=lambda lab: getattr(lab.parts.nodes["tokyo-1"].sync, "state", "") == "merkle-diff")
    lab["tokyo"].promote(force=True)
    assert read(lab, "tokyo", index).status == 412


def test_two_moves_on_every_index_that_was_not_lost_is_valid_and_so_is_every_token(pair):
    token = pair["paris"].post("auth/token/create", {"policies": ["root"]}).auth["client_token"]
    first = write(pair, "paris")
    pair.failover("paris", "tokyo")
    second = write(pair, "tokyo", "b")
    pair.failover("tokyo", "paris")
    third = write(pair, "paris", "c")
    counters = [pair[name].status()["ssct_generation_counter"] for name in ("paris", "tokyo")]
    assert counters == [1, 1]
    for index in (first, second, third):
        assert read(pair, "paris", index).ok
    assert pair["paris"].get("secret/data/a", token=token).ok


def test_an_old_primary_that_comes_back_has_not_got_what_the_new_one_wrote(pair):
    pair.partition("paris", "tokyo")
    pair["tokyo"].promote()
    index = write(pair, "tokyo")
    assert read(pair, "paris", index).status == 412


def test_a_third_cluster_knows_the_reign_before_the_one_that_it_followed():
    lab = Lab.triangle(seed=7)
    lab.replicate("paris", "tokyo")
    first = write(lab, "paris")
    lab.run("1s")
    lost = write(lab, "paris", "lost")
    lab.crash("paris")
    lab["tokyo"].promote()
    second = write(lab, "tokyo", "b")
    lab.replicate("tokyo", "lima")
    lab.run("1s").crash("tokyo")
    lab["lima"].promote()
    assert read(lab, "lima", first).ok
    assert read(lab, "lima", second).ok
    assert read(lab, "lima", lost).status == 412


@pytest.mark.parametrize("sent", ["x", "AAAA", "é", "", " ", "A" * 32 + "=", "A" * 10_000])
def test_what_is_no_index_is_one_sentence(pair, sent):
    answer = read(pair, "paris", sent)
    if sent:
        assert answer.status == 400
        assert answer.errors[0].startswith("X-Vault-Index is the value that an answer to a write had in that header")
        assert len(answer.errors[0]) < 200
    else:
        assert answer.ok


def test_it_is_asked_of_the_node_that_serves_through_a_standby_too(pair):
    index = write(pair, "paris")
    answer = pair["paris"].post("secret/data/b", {"data": {"b": 1}}, node="paris-2", headers={HEADER: index})
    assert answer.ok
    assert answer.headers[HEADER] != index


def test_a_damaged_authority_costs_the_index_only(pair):
    key, store = activation.AUTHORITY, pair.parts.stores["paris"]
    store.apply({key: (store.get(key) or b"")[:-1] + b"x"}, 1 << 62)
    core = pair.parts.nodes["paris-1"].core
    with pytest.raises(BarrierError):
        core.keys.decrypt(key, store.get(key))
    assert index_state.header_of(core, 5) == ""
    assert HEADER not in pair["paris"].post("secret/data/a", {"data": {"b": 1}}).headers
    assert key in core.damaged
