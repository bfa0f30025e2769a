"""The standing rules: broken where they must be, held where they must be, and never in the way."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.invariants import (
    NO_LOSS,
    NOTHING_OWN,
    ONE_PRIMARY,
    ROOTS,
    STANDING,
    WITHIN_LAG,
    Arrears,
    Invariants,
)
from labkit.lab.records.loss_and_outage import Promotion
from labkit.vault import tokens


def broken(lab: Lab) -> list[str]:
    return [name for name, finding in lab.invariants.verdicts().items() if finding is not None]


def test_a_healthy_lab_keeps_every_rule(lab):
    lab.run("10s")

    assert list(lab.invariants.verdicts()) == list(STANDING)
    assert broken(lab) == []
    assert lab.trace.select("invariant") == []


# ---- one primary


def test_a_promotion_behind_a_partition_without_fencing_makes_two_primaries(lab):
    lab.run("2s").partition("paris", "tokyo")
    lab.run("1s")
    lab["tokyo"].promote()
    finding = lab.invariants.verdicts()[ONE_PRIMARY]

    assert finding is not None
    assert finding.detail.startswith("paris and tokyo accept writes of set ")
    assert finding.at_ns == lab.ledger.promotions[-1].at_ns
    (event,) = lab.trace.select("invariant")
    assert (event.name, event.verdict, event.at_ns) == (ONE_PRIMARY, "broken", finding.at_ns)


def test_fencing_the_old_primary_off_from_all_clients_keeps_the_rule(lab):
    lab.run("2s").isolate("paris")
    lab["tokyo"].promote()
    lab.run("20s")

    assert ONE_PRIMARY not in broken(lab)


def test_healing_before_the_old_primary_is_demoted_breaks_it_after_all(lab):
    lab.run("2s").isolate("paris")
    lab["tokyo"].promote()
    lab.heal()

    assert ONE_PRIMARY in broken(lab)


def test_an_old_primary_that_comes_back_by_itself_breaks_it_when_it_leads_again(calm):
    calm.crash("paris")
    calm["tokyo"].promote()
    calm.restart("paris")
    calm.run("10s")
    assert ONE_PRIMARY not in broken(calm), "sealed nodes accept nothing"
    calm["paris"].unseal()
    calm.run("5s")

    assert ONE_PRIMARY in broken(calm)


def test_an_old_primary_that_is_unsealed_within_its_lease_breaks_it_at_once(calm):
    """Nothing but the unsealing happens then: no lease is taken, no mode changes, no timer is waited for."""
    calm["paris"].put("sys/seal")
    calm["tokyo"].promote()
    assert ONE_PRIMARY not in broken(calm)
    calm["paris"].unseal()

    assert ONE_PRIMARY in broken(calm)
    assert calm.invariants.broken[ONE_PRIMARY].at_ns <= calm.now


def test_demoting_first_and_waiting_for_what_is_under_way_keeps_every_rule(lab):
    lab.run("3s")
    lab["paris"].demote()
    lab.run("1s")
    lab["tokyo"].promote()
    lab.run("5s")

    assert broken(lab) == []
    assert lab.ledger.promotions[-1].planned


def test_demoting_first_and_not_waiting_loses_what_is_under_way_and_that_is_found(lab):
    """Replication is asynchronous: the last entries are still on an 80 ms line."""
    lab.run("3s")
    lab["paris"].demote()
    lab["tokyo"].promote()

    assert broken(lab) == [NO_LOSS]
    assert lab.ledger.rpo().writes > 0


def test_two_sets_may_have_a_primary_each(quiet):
    for name in ("paris", "tokyo"):
        quiet.work_through("enable-primary", cluster=name)

    assert broken(quiet) == []


def disable(lab: Lab, cluster: str) -> None:
    path, token = "sys/replication/dr/primary/disable", {"X-Vault-Token": lab[cluster].root_token}
    assert lab[cluster].request("POST", path, {}, token).ok


def write(lab: Lab, cluster: str, path: str = "secret/data/late") -> None:
    body = {"data": {"n": 1}} if path.startswith("secret") else {"policy": 'path "x" { capabilities = ["read"] }'}
    assert lab[cluster].post(path, body).ok


@pytest.mark.parametrize("saved", [False, True], ids=["at once", "in a restored lab"])
def test_a_disabled_cluster_that_takes_a_write_of_a_set_with_another_primary_breaks_it(calm, saved):
    disable(calm, "paris")
    calm["tokyo"].promote()
    assert ONE_PRIMARY not in broken(calm), "nobody writes to it"
    write(calm, "paris", "sys/policies/acl/mine")
    assert ONE_PRIMARY not in broken(calm), "a call of the system is no write of the set"
    lab = Lab.restore(calm.snapshot()) if saved else calm
    write(lab, "paris")
    finding = lab.invariants.broken[ONE_PRIMARY]

    assert finding.detail.startswith("paris is disabled and took a write of set ")
    assert finding.detail.endswith(", of which tokyo is the primary")
    assert lab.why(ONE_PRIMARY).steps[1].sentence == "paris is disabled"
    assert lab.why(ONE_PRIMARY).origin == "operator"


@pytest.mark.parametrize("path", ["team/sys/policies/acl/mine", "s%79s/policies/acl/mine", "//sys//policies/acl/mine"])
def test_a_call_of_the_system_is_no_write_of_the_set_however_its_path_is_written(calm, path):
    calm["paris"].post("sys/namespaces/team", {}).raise_for_status()
    disable(calm, "paris")
    calm["tokyo"].promote()
    write(calm, "paris", path)

    assert len(calm.ledger.writes) == 0
    assert ONE_PRIMARY not in broken(calm)


def test_a_secondary_that_is_disabled_beside_its_primary_is_no_place_to_write_to(calm):
    token = {"dr_operation_token": calm["tokyo"].operation_token()}
    assert calm["tokyo"].request("POST", "sys/replication/dr/secondary/disable", token).ok
    write(calm, "paris")
    assert ONE_PRIMARY not in broken(calm)
    write(calm, "tokyo")

    assert calm.invariants.broken[ONE_PRIMARY].detail.startswith("tokyo is disabled and took a write of set ")


def test_a_disabled_cluster_may_take_writes_of_a_set_without_a_primary(calm):
    disable(calm, "paris")
    write(calm, "paris")
    calm["tokyo"].promote()
    assert ONE_PRIMARY not in broken(calm)
    calm.isolate("tokyo")
    write(calm, "paris")
    assert ONE_PRIMARY not in broken(calm), "tokyo is fenced"


def test_a_cluster_that_leads_a_set_of_its_own_may_take_writes(calm):
    disable(calm, "paris")
    calm["tokyo"].promote()
    calm.work_through("enable-primary", cluster="paris")
    write(calm, "paris")
    write(calm, "tokyo")

    assert ONE_PRIMARY not in broken(calm)


def test_an_answer_that_comes_late_to_a_write_from_before_is_no_write_apart(quiet):
    quiet.invariants.on_write_apart("paris", "some set")

    assert broken(quiet) == [], "nobody is primary of it"


# ---- losses


def promotion(planned: bool) -> Promotion:
    return Promotion(10, "tokyo", "paris", 0, 5, frozenset((3, 4)), 10, planned)


def test_a_planned_failover_that_loses_a_write_is_found_with_what_had_not_arrived(quiet):
    assert not quiet.invariants.applies(NO_LOSS)
    quiet.invariants.on_promotion(promotion(planned=True), 1, Arrears(3, 9))

    assert broken(quiet) == [NO_LOSS]
    assert quiet.invariants.broken[NO_LOSS].detail == (
        "3 entries of paris had not arrived at tokyo: 1 acknowledged write lost though it was demoted first"
    )
    assert quiet.invariants.applies(NO_LOSS)


def test_an_unplanned_one_may_lose_as_much_as_the_lag_and_no_more(quiet):
    quiet.invariants.on_promotion(promotion(planned=False), 3, Arrears(0, 3))
    assert broken(quiet) == []
    quiet.invariants.on_promotion(promotion(planned=False), 3, Arrears(3, 2))

    assert broken(quiet) == [WITHIN_LAG]
    assert quiet.invariants.broken[WITHIN_LAG].detail == "3 acknowledged writes lost, but tokyo lagged by 2 commits"
    assert not quiet.invariants.applies(NO_LOSS), "nothing was planned"


@pytest.mark.parametrize("cut_s", [0, 2, 6])
def test_measured_losses_stay_within_the_measured_lag(lab, cut_s):
    lab.run("3s").partition("paris", "tokyo")
    lab.run(f"{cut_s}s" if cut_s else "1ms").crash("paris")
    lab["tokyo"].promote()

    assert lab.ledger.rpo().writes > 0
    assert WITHIN_LAG not in broken(lab)


# ---- roots


def test_equal_contents_under_unequal_roots_are_found(calm):
    calm.parts.nodes["tokyo-1"].vault.core.replica.journal.tree.corrupt("root")
    calm.invariants.check_at_rest()

    assert broken(calm) == [ROOTS]
    assert calm.invariants.broken[ROOTS].detail == "paris and tokyo: roots different, contents equal"


def test_unequal_contents_under_equal_roots_are_found(calm):
    store = calm.parts.stores["tokyo"]
    store.apply({sorted(calm.queries.contents("tokyo"))[0]: b"altered"}, 1)
    calm.run("1s")

    assert calm.invariants.broken[ROOTS].detail == "paris and tokyo: roots equal, contents different"


@pytest.mark.parametrize("layer", ["root", "subtree", "page", "subpage", "storage"])
def test_injected_corruption_suspends_that_rule(calm, layer):
    calm.corrupt("tokyo", layer=layer)
    calm.run("1s")

    assert broken(calm) == []
    assert calm.invariants.corrupted == {"tokyo": False}
    calm["tokyo"].reindex()
    calm.run("3s")
    assert calm.invariants.corrupted == {}
    assert broken(calm) == []


def test_that_rule_holds_between_two_others_though_a_third_was_damaged(trio):
    trio.corrupt("lima", layer="storage")
    store = trio.parts.stores["tokyo"]
    store.apply({sorted(trio.queries.contents("tokyo"))[0]: b"altered"}, 1)
    trio.run("1s")
    assert trio.invariants.broken[ROOTS].detail == "paris and tokyo: roots equal, contents different"


def test_damage_beside_a_reindex_suspends_that_rule_until_the_next(calm):
    token = calm["tokyo"].operation_token()
    calm["tokyo"].post(DR + "secondary/reindex", {"dr_operation_token": token}, token="").raise_for_status()
    calm.run("350ms")
    calm.corrupt("tokyo", layer="storage")
    assert calm.invariants.corrupted == {"tokyo": True}
    calm.run("3s")
    assert (calm.invariants.corrupted, broken(calm)) == ({"tokyo": False}, []), "it had read the value before"
    assert calm.queries.contents("tokyo") != calm.queries.contents("paris")
    calm["tokyo"].reindex()
    calm.run("3s")
    assert (calm.invariants.corrupted, broken(calm)) == ({}, [])
    assert calm.queries.contents("tokyo") == calm.queries.contents("paris")


def begin_reindex(lab, **options):
    """Begin a reindex of paris."""
    lab["paris"].post("sys/replication/reindex", options).raise_for_status()
    return lab.parts.nodes["paris-1"].journal


@pytest.mark.parametrize(
    ("stage", "layer", "left"),
    [
        ("scanning", "storage", {}),
        ("wal-replay", "root", {}),
        ("commit", "subpage", {}),
        ("commit", "storage", {"paris": False}),
        ("flush", "page", {"paris": False}),
    ],
)
def test_that_rule_is_suspended_after_a_reindex_only_by_damage_that_it_missed(calm, stage, layer, left):
    journal = begin_reindex(calm, skip_flush=True)
    calm.run(until=lambda lab: journal.rebuild is not None and journal.rebuild.stage == stage)
    calm.corrupt("paris", layer=layer)
    if not left:
        calm.corrupt("paris", layer="root")
    calm.run("3s")
    assert calm.invariants.corrupted == left
    assert broken(calm) == []


def test_one_that_missed_damage_and_begins_again_finds_it(calm):
    journal = begin_reindex(calm)
    calm.run(until=lambda lab: journal.rebuild.stage == "commit")
    calm.corrupt("paris", layer="storage")
    calm.corrupt("paris", layer="page")
    assert calm.invariants.corrupted == {"paris": True}
    calm.crash("paris-1")
    calm.run("20s")
    assert (calm.invariants.corrupted, broken(calm)) == ({}, [])


def test_an_index_that_is_not_stored_yet_leaves_that_rule_suspended(calm):
    calm.corrupt("paris", layer="root")
    journal = begin_reindex(calm, skip_flush=True)
    calm.run(until=lambda lab: journal.rebuild.stage == "flush")
    assert calm.invariants.corrupted == {"paris": False}, "another active node would load the damaged one"
    calm.run("2s")
    assert calm.invariants.corrupted == {}


def test_a_wrong_layer_suspends_nothing(calm):
    with pytest.raises(ValueError, match="expected a layer, got 'cellar'"):
        calm.corrupt("tokyo", layer="cellar")

    assert not calm.invariants.corrupted


@pytest.mark.parametrize("path", ["primary/disable", "primary/demote"])
def test_a_cluster_that_is_no_primary_any_more_is_not_compared(calm, path):
    """A disabled one keeps no tree; its secondary takes some time to notice."""
    calm["paris"].post(f"sys/replication/dr/{path}", {})
    assert calm.parts.nodes["tokyo-1"].sync.state == "stream-wals"
    calm.run("1s")

    assert calm.queries.streaming_pairs() == []
    assert broken(calm) == []


def test_a_primary_of_another_set_is_not_compared(calm):
    calm["paris"].post("sys/replication/dr/primary/disable", {})
    calm["paris"].post("sys/replication/dr/primary/enable", {})
    calm.run("1s")

    assert broken(calm) == []


def test_what_lags_is_not_compared(lab):
    lab.run("2s").partition("paris", "tokyo")
    lab.run("3s")

    assert lab["paris"].root != lab["tokyo"].root
    assert lab.queries.streaming_pairs() == []
    assert broken(lab) == []


# ---- a secondary writes nothing of its own

DR = "sys/replication/dr/"
ANYTHING = 'path "*" { capabilities = ["create", "read", "update", "delete", "list", "sudo"] }'


@pytest.fixture(scope="module")
def counted_snapshot():
    """The pair, replicating; paris issued tokens that count their uses, which tokyo has too."""
    lab = Lab.pair(seed=7)
    lab["paris"].put("sys/policies/acl/all", {"policy": ANYTHING})
    issued = [{"num_uses": uses, "policies": ["all"], "ttl": "2m"} for uses in (1, 5)]
    counted = [lab["paris"].post("auth/token/create", body).auth["client_token"] for body in issued]
    lab.replicate("paris", "tokyo")
    lab.run("1s")
    return lab.snapshot(), counted


@pytest.fixture
def counted(counted_snapshot):
    """That lab, and its two tokens."""
    snapshot, texts = counted_snapshot
    return Lab.restore(snapshot), texts


def asked_of_a_secondary(lab, token):
    """Ask tokyo all that a secondary answers or refuses, with a token; the operation token is made and deleted."""
    tokyo, sent = lab["tokyo"], {"token": token}
    for path in ("primary/enable", "primary/demote", "primary/disable", "secondary/enable", "secondary/promote"):
        assert not tokyo.post(DR + path, {"token": "x"}, **sent).ok
    assert not tokyo.post(DR + "primary/secondary-token", {"id": "a"}, **sent).ok
    assert not tokyo.post(DR + "primary/revoke-secondary", {"id": "tokyo"}, **sent).ok
    assert not tokyo.post("secret/data/app", {"data": {}}, **sent).ok
    for path in (DR + "status", "sys/health", "sys/leader", "sys/seal-status"):
        tokyo.get(path, **sent)
    tokyo.post(DR + "secondary/generate-public-key", {}, **sent)
    given = {"dr_operation_token": tokyo.operation_token()}
    tokyo.post(DR + "secondary/merkle-check", given, **sent).raise_for_status()
    addresses = {"update_primary_addrs": ["https://paris-1:8201"]}
    tokyo.post(DR + "secondary/update-primary", {**given, **addresses}, **sent)
    tokyo.post(DR + "secondary/operation-token/delete", given, **sent).raise_for_status()


def test_nothing_that_is_asked_of_a_secondary_makes_an_entry_or_rewrites_what_its_primary_sent(counted):
    lab, issued = counted
    (node,) = [node for node in lab.parts.nodes.values() if node.cluster == "tokyo" and node.active]
    reached, contents = node.journal.last, lab.queries.contents("tokyo")
    for token in (lab["paris"].root_token, *issued, *issued, "hvs.unknown", ""):
        asked_of_a_secondary(lab, token)

    assert node.journal.last == reached
    assert lab.queries.contents("tokyo") == contents
    assert broken(lab) == []


def test_leases_that_end_on_a_secondary_are_its_primarys_to_delete(counted):
    lab, _ = counted
    lab.partition("paris", "tokyo")
    before = lab.queries.contents("tokyo")
    lab.run("5m")

    assert lab.queries.contents("tokyo") == before
    assert lab.queries.contents("paris") != before
    assert broken(lab) == []


@pytest.mark.parametrize("uses", [0, 1])
def test_a_step_that_changes_the_mode_belongs_to_the_mode_before_it(counted, uses):
    """The use that a demotion takes off its token is an entry of the primary that was."""
    lab, issued = counted
    before = lab.queries.contents("paris")
    lab["paris"].post(DR + "primary/demote", {}, token=issued[uses]).raise_for_status()

    assert lab.queries.contents("paris") != before
    lab["tokyo"].promote()
    lab["tokyo"].post("secret/data/app", {"data": {"of": "a primary again"}})
    assert NOTHING_OWN not in broken(lab)


def test_a_secondary_that_takes_a_use_off_a_token_is_found(counted, monkeypatch):
    lab, (_, token) = counted
    monkeypatch.setattr(tokens, "admit", tokens.use)
    lab["tokyo"].post(DR + "primary/demote", {}, token=token)

    assert broken(lab) == [NOTHING_OWN]
    finding = lab.invariants.broken[NOTHING_OWN]
    assert finding.detail.startswith("tokyo is a secondary and made entry ")
    assert ": token/id/" in finding.detail
    assert token not in finding.detail
    (event,) = lab.trace.select("invariant")
    assert (event.name, event.verdict, event.detail) == (NOTHING_OWN, "broken", finding.detail)


def test_an_entry_of_a_secondarys_own_is_found_on_a_node_that_took_over_too(calm):
    calm.crash("tokyo-1")
    calm.run("10s")
    assert broken(calm) == []
    (node,) = [node for node in calm.parts.nodes.values() if node.cluster == "tokyo" and node.active]
    node.core.commit({"node/aside": b"not shipped"})
    assert broken(calm) == []
    node.core.commit({"logical/b": b"1", "logical/a": b"2", "logical/c": None})

    entry = f"tokyo is a secondary and made entry {node.journal.last} itself"
    assert calm.invariants.broken[NOTHING_OWN].detail == f"{entry}: logical/b and 2 other keys"


def test_a_secondary_that_counts_requests_in_its_own_store_goes_astray_each_time_and_is_found(calm):
    """Its root differs then, and it compares: what it wrote of its own is what its primary does not have."""
    compared = len(calm.trace.select("observed", what="missing_guard"))
    for count in range(3):
        calm.stray_write("tokyo")
        calm.run("30s")
        assert len(calm.trace.select("observed", what="missing_guard")) == compared + count + 1
        assert calm.queries.contents("tokyo") == calm.queries.contents("paris")

    assert NOTHING_OWN in broken(calm)
    assert calm.invariants.broken[NOTHING_OWN].detail.endswith(" itself: logical/stray")


# ---- rules of one's own


def test_a_watched_rule_is_asked_when_the_lab_rests_and_when_something_changes(quiet):
    asked = []
    quiet.watch("time", lambda lab: asked.append(lab.now))
    quiet.run("1s")
    quiet.crash("paris-1")

    assert asked == [1_000_000_000, 1_000_000_000]


@pytest.mark.parametrize(
    ("result", "detail"), [(False, "the check said no"), (0, "the check said no"), ("too hot", "too hot")]
)
def test_something_false_or_text_breaks_it(quiet, result, detail):
    quiet.watch("mine", lambda lab: result)
    quiet.run("1s")

    assert quiet.invariants.verdicts()["mine"].detail == detail


@pytest.mark.parametrize("result", [None, True, 1, ["fine"]])
def test_nothing_or_something_true_holds_it(quiet, result):
    quiet.watch("mine", lambda lab: result)
    quiet.run("1s")

    assert quiet.invariants.verdicts()["mine"] is None


def test_a_broken_rule_is_told_once_and_stops_nothing(quiet):
    quiet.watch("mine", lambda lab: lab.now < 2_000_000_000)
    quiet.run("1s").run("1s").run("1s").run("1s")

    assert quiet.now == 4_000_000_000
    assert quiet.invariants.broken["mine"].at_ns == 2_000_000_000
    assert len(quiet.trace.select("invariant")) == 1


def test_a_rule_can_look_at_what_clients_were_told(lab):
    lab.watch("nothing unknown", lambda lab: lab.ledger.unknown == 0)
    lab.run("2s").crash("paris")
    lab.run("20s")

    assert lab.ledger.unknown > 0
    assert broken(lab) == ["nothing unknown"]
    assert lab.invariants.broken["nothing unknown"].at_ns > 2_000_000_000


ACTS = {
    "run": lambda lab: lab.run("1s"),
    "run until": lambda lab: lab.run(until=lambda lab: True),
    "step": lambda lab: lab.step(),
    "post": lambda lab: lab["paris"].post("secret/data/inner", {"data": {}}),
    "replicate": lambda lab: lab.replicate("paris", "tokyo"),
    "crash": lambda lab: lab.crash("paris-2"),
    "heal": lambda lab: lab.heal(),
    "corrupt": lambda lab: lab.faults.corrupt("paris", "storage"),
    "snapshot": lambda lab: lab.snapshot(),
    "branch": lambda lab: lab.branch("inner"),
    "watch": lambda lab: lab.watch("another", lambda lab: True),
}


@pytest.mark.slow
def test_a_check_that_acts_is_refused_recorded_and_changes_nothing(lab):
    def treated(each: Lab) -> Lab:
        each.run("1s").crash("paris-1")
        each.run("8s").restart("paris-1")
        return each

    refused = "the check raised RuntimeError: the check of 'mine' may look at the lab, not act on it"
    before = lab.snapshot()
    same = treated(lab)
    for name, act in ACTS.items():
        acted = Lab.restore(before)
        acted.watch("mine", act)
        treated(acted)
        assert acted.invariants.broken["mine"].detail.startswith(refused), name
        assert acted.parts.console.state() == same.parts.console.state(), name
        assert acted.parts.clock.pending() == same.parts.clock.pending(), name
        assert list(acted.invariants.watched) == ["mine"], name


def test_a_check_that_raises_breaks_its_rule_and_stops_nothing(lab):
    lab.watch("mine", lambda lab: lab.now // 0)
    lab.watch("other", lambda lab: lab.now < 4_000_000_000)
    lab.run("2s").crash("paris-1")
    lab.run("3s")

    assert lab.invariants.broken["mine"].detail.startswith("the check raised ZeroDivisionError: ")
    assert broken(lab) == ["mine", "other"]


def test_what_was_found_is_saved_and_watched_rules_are_the_callers_to_add_again(lab):
    lab.watch("mine", lambda lab: False)
    lab.run("1s").partition("paris", "tokyo")
    lab["tokyo"].promote()
    again = Lab.restore(lab.snapshot())

    assert again.invariants.broken == lab.invariants.broken
    assert again.invariants.watched == {}
    assert Invariants(again.queries, again.trace, lab.invariants.state()).state() == lab.invariants.state()
    assert repr(again.invariants) == "Invariants(2 broken)"
