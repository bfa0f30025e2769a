"""A cluster's handle: it answers like a Vault, over the network; without an answer it raises Silence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit import Lab
from labkit.lab.operations.operator_console import Finished
from labkit.lab.operations.runbook_effects import Ask, RunbookError
from labkit.lab.plan.blueprint import ClusterPlan, LinkPlan, triangle
from labkit.service.silence import Silence

SECOND_NS = 1_000_000_000


def test_it_answers_like_a_vault(quiet):
    paris = quiet["paris"]

    assert paris.post("secret/data/app", {"data": {"user": "ada"}}).data["version"] == 1
    assert paris.put("secret/data/app", {"data": {"user": "ada", "age": 36}}).data["version"] == 2
    assert paris.patch("secret/data/app", {"data": {"age": None}}).ok
    assert paris.get("secret/data/app").data["data"] == {"user": "ada"}
    assert paris.list("secret/metadata/").data["keys"] == ["app"]
    assert paris.delete("secret/metadata/app").status == 204
    assert paris.get("secret/data/app").status == 404


def test_the_clock_moves_until_the_answer(quiet):
    before_ns = quiet.now
    quiet["paris"].get("secret/data/app")

    assert 0 < quiet.now - before_ns < SECOND_NS


def test_request_sends_exactly_the_headers_it_is_given(quiet):
    paris = quiet["paris"]

    assert paris.request("GET", "secret/data/app").status == 403
    assert paris.request("GET", "/v1/secret/data/app", headers={"X-Vault-Token": paris.root_token}).status == 404
    assert paris.get("secret/data/app", token="").status == 403
    assert paris.get("secret/data/app", token="hvs.wrong").status == 403


def test_one_node_can_be_asked(quiet):
    statuses = [quiet["paris"].request("GET", "sys/health", node=node).status for node in quiet["paris"].nodes]

    assert statuses == [200, 429, 429]


def test_the_caches_of_its_mounts_can_be_read(calm):
    paris = calm["paris"]
    assert paris.cache_counts == ()
    paris.post("transit/cache-config", {"size": 10})
    paris.put("sys/plugins/reload/backend", {"plugin": "transit"})
    for _ in range(3):
        paris.post("transit/encrypt/k", {"plaintext": "aGk="})

    counts = paris.cache_counts[0]
    assert (counts.mount, counts.size, counts.entries, counts.misses) == ("transit/", 10, 1, 1)
    calm.crash("paris-1")
    assert paris.cache_counts == ()
    calm.run("30s")
    assert paris.active != "paris-1"
    paris.post("transit/encrypt/k", {"plaintext": "aGk="})
    counts = paris.cache_counts[0]
    assert (counts.size, counts.misses) == (10, 1), "the size is stored, what was counted was that node's"


def test_it_says_who_serves_and_in_which_mode(quiet):
    paris = quiet["paris"]

    assert (paris.name, paris.nodes, paris.active, paris.mode) == (
        "paris",
        ("paris-1", "paris-2", "paris-3"),
        "paris-1",
        "disabled",
    )
    quiet.crash("paris")
    assert (paris.active, paris.mode) == ("", "unknown")
    assert repr(paris) == "Cluster(paris, unknown)"


def test_five_shares_open_it_and_replication_brings_the_primarys(calm, quiet):
    assert len(quiet["tokyo"].unseal_keys) == 5
    assert quiet["tokyo"].unseal_keys != quiet["paris"].unseal_keys
    assert calm["tokyo"].unseal_keys == calm["paris"].unseal_keys
    assert calm["tokyo"].root_token == calm["paris"].root_token


def test_nothing_that_opens_a_cluster_is_shown(calm):
    paris = calm["paris"]
    shown = " ".join(map(repr, (paris, calm, calm.parts.console.credentials["paris"], calm.snapshot(), calm.ledger)))

    assert paris.root_token not in shown
    assert not any(share in shown for share in paris.unseal_keys)


# ---- silence


def test_silence_is_a_timeout_and_the_clock_stands_at_call_and_timeout(calm):
    calm.crash("paris")
    at_ns = calm.now
    with pytest.raises(TimeoutError, match=r"POST secret/data/app on paris: no answer within 30s of simulated time"):
        calm["paris"].post("secret/data/app", {"data": {}})

    assert calm.now == at_ns + 30 * SECOND_NS


def test_a_node_that_is_down_is_silent_for_as_long(calm):
    calm.crash("paris-2")
    at_ns = calm.now
    with pytest.raises(Silence):
        calm["paris"].request("GET", "sys/health", node="paris-2", timeout="4s")

    assert calm.now == at_ns + 4 * SECOND_NS


def test_all_that_fell_due_by_then_has_happened(lab):
    """The rest of the lab lives on while somebody waits in vain."""
    lab.run("1s").crash("paris-1")
    other = Lab.restore(lab.snapshot())
    with pytest.raises(Silence):
        lab["paris"].request("GET", "sys/health", node="paris-1", timeout="20s")
    other.run("20s")

    assert other.now == lab.now
    assert lab.trace.select("outcome") == other.trace.select("outcome")
    assert lab.trace.select("leader") == other.trace.select("leader")
    assert lab.parts.clock.pending() == other.parts.clock.pending()


def test_the_lab_stays_open_after_silence(calm):
    calm.crash("paris")
    with pytest.raises(Silence):
        calm["paris"].get("secret/data/app", token="")
    calm.restart("paris")
    calm["paris"].unseal()

    assert calm["paris"].post("secret/data/app", {"data": {"a": 1}}).ok


def test_the_ledger_says_unknown(calm):
    calm.crash("paris")
    before = calm.ledger.unknown
    with pytest.raises(Silence):
        calm["paris"].post("secret/data/app", {"data": {"a": 1}})

    assert calm.ledger.unknown == before + 1
    assert calm.ledger.writes == []


def test_a_late_answer_is_traced_and_dropped_and_what_was_asked_has_happened(quiet):
    """Patience ends while the answer is on its way."""
    before = len(quiet.trace)
    paris = quiet["paris"]
    put = Ask("paris", "POST", "secret/data/late", {"data": {"a": 1}})
    quiet.parts.console.ask(put, SECOND_NS // 100_000)  # 10 us: a tenth of an operator's line there and back
    quiet.run("1s")
    answers = [event for event in list(quiet.trace)[before:] if event.kind == "message" and event.what == "response"]

    assert [(event.target, event.fate) for event in answers] == [("paris-operator", "delivered")]
    assert quiet.ledger.unknown == 1
    assert quiet.ledger.writes == []
    assert paris.get("secret/data/late").data["data"] == {"a": 1}


def test_a_promotion_of_the_active_node_inside_the_cluster_is_waited_for(calm):
    calm.crash("paris-1")
    at_ns = calm.now
    answered = calm["paris"].post("secret/data/app", {"data": {"a": 1}})

    assert answered.ok
    assert calm["paris"].active == "paris-2"
    assert calm.now - at_ns < 5 * SECOND_NS


# ---- files


def test_an_audit_device_writes_into_them(quiet):
    paris = quiet["paris"]
    assert paris.put("sys/audit/file", {"type": "file", "options": {"file_path": "/audit.log"}}).ok
    paris.get("secret/data/app")

    assert list(paris.files.lines) == ["/audit.log"]
    assert quiet["tokyo"].files.lines == {}
    assert not any(paris.root_token.encode() in line for line in paris.files.lines["/audit.log"])
    assert Lab.restore(quiet.snapshot())["paris"].files.state() == paris.files.state()


def test_a_cluster_whose_audit_device_is_blocked_refuses_until_it_is_unblocked(quiet):
    paris = quiet["paris"]
    paris.put("sys/audit/wire", {"type": "socket", "options": {"address": "collector:9090"}})
    paris.files.block("tcp://collector:9090", "connection refused")
    for lab in (quiet, Lab.restore(quiet.snapshot())):
        refused = lab["paris"].post("secret/data/app", {"data": {"a": 1}})
        assert (refused.status, "wire/ failed: connection refused" in refused.errors[0]) == (500, True)
        lab["paris"].files.unblock("tcp://collector:9090")
        assert lab["paris"].get("secret/data/app").status == 404
        assert b"secret/data/app" in (lab["paris"].files.read("tcp://collector:9090") or b"")


# ---- verbs


def test_its_verbs_are_runbooks(calm):
    assert calm["paris"].demote() == "paris is a secondary without a primary"
    assert calm["tokyo"].promote() == "tokyo is the primary now"
    assert (calm["paris"].mode, calm["tokyo"].mode) == ("secondary", "primary")
    calm.crash("tokyo-3")
    calm.restart("tokyo-3")
    assert calm["tokyo"].unseal() == "1 node of tokyo unsealed"


def test_status_and_root_are_told(calm):
    assert calm["tokyo"].status()["state"] == "stream-wals"
    assert calm["tokyo"].root == calm["tokyo"].status()["merkle_root"] == calm["paris"].root
    assert len(calm["paris"].root) == 40


# ---- one primary and three secondaries


@pytest.fixture(scope="module")
def four_snapshot():
    """Four clusters; tokyo, lima and oslo stream from paris."""
    three = triangle()
    far = tuple(
        LinkPlan(between=("oslo", site), latency_ns=milliseconds * 1_000_000)
        for site, milliseconds in (("paris", 20), ("tokyo", 100), ("lima", 120))
    )
    blueprint = replace(
        three,
        sites=(*three.sites, "oslo"),
        links=(*three.links, *far),
        clusters=(*three.clusters, ClusterPlan(name="oslo", site="oslo")),
    )
    lab = Lab(blueprint, seed=5)
    for secondary in ("tokyo", "lima", "oslo"):
        lab.replicate("paris", secondary)
    return lab.snapshot()


@pytest.fixture
def four(four_snapshot):
    """Four clusters, three of them secondaries of paris."""
    return Lab.restore(four_snapshot)


def level_with(lab: Lab, primary: str) -> list[str]:
    """Who follows a primary and is level with it, by contents."""
    mine = lab.queries.contents(primary)
    followers = [name for name in lab.clusters if lab.queries.upstream_of(name) == primary and name != primary]
    return [name for name in followers if lab.queries.contents(name) == mine]


def test_a_primary_has_three_secondaries_that_all_receive_its_writes(four):
    assert four["paris"].status()["known_secondaries"] == ["lima", "oslo", "tokyo"]
    four["paris"].post("secret/data/app", {"data": {"n": 1}}).raise_for_status()
    four.run("1s")

    assert level_with(four, "paris") == ["tokyo", "lima", "oslo"]
    assert [four[name].root_token for name in four.clusters] == [four["paris"].root_token] * 4


def test_when_the_primary_dies_one_secondary_takes_over_and_the_others_follow_it(four):
    four["paris"].post("secret/data/app", {"data": {"n": 1}}).raise_for_status()
    four.run("1s")
    four.crash("paris")
    assert four["tokyo"].promote() == "tokyo is the primary now"
    assert four["lima"].repoint("tokyo") == "lima streams from tokyo"
    assert four["oslo"].repoint("tokyo") == "oslo streams from tokyo"
    four["tokyo"].post("secret/data/app", {"data": {"n": 2}}).raise_for_status()
    four.run("1s")
    assert level_with(four, "tokyo") == ["lima", "oslo"]
    assert four.ledger.rpo().writes == 0

    four.restart("paris")
    four.isolate("paris")
    four["paris"].unseal()
    four["paris"].demote()
    four.heal()
    four["paris"].repoint("tokyo")
    four.run("1s")
    assert level_with(four, "tokyo") == ["paris", "lima", "oslo"]


def test_a_planned_failover_takes_every_secondary_along_and_loses_nothing(four):
    for number in range(5):
        four["paris"].post(f"secret/data/{number}", {"data": {"n": number}}).raise_for_status()
    assert four.failover("paris", "lima") == "lima is the primary now; from it stream: paris, tokyo, oslo"
    four["lima"].post("secret/data/app", {"data": {"n": 2}}).raise_for_status()
    four.run("1s")

    assert level_with(four, "lima") == ["paris", "tokyo", "oslo"]
    assert four.ledger.rpo()[:2] == (0, 0.0)
    assert four.invariants.broken == {}


def test_a_secondary_is_not_added_twice_and_keeps_its_stream(four):
    with pytest.raises(RunbookError, match="tokyo is a secondary already; repoint it, or disable it first"):
        four.replicate("paris", "tokyo")
    four["paris"].post("secret/data/app", {"data": {"n": 1}}).raise_for_status()
    four.run("1s")

    assert level_with(four, "paris") == ["tokyo", "lima", "oslo"]


# ---- a planned failover, and what stops one


def test_failover_under_load_loses_nothing(lab):
    lab.run("2s")
    began = len(lab.ledger.writes)
    lab.failover("paris", "tokyo")
    lab.run("5s")
    lost = {write.path for write in lab.ledger.lost()}

    assert lost == set()
    assert len(lab.ledger.writes) > began + 20
    assert lab.queries.mode_of("tokyo") == "primary"
    assert lab.queries.upstream_of("paris") == "tokyo"


@pytest.mark.parametrize("node", ["paris-1", "tokyo-1"])
@pytest.mark.slow
def test_failover_after_a_takeover_waits_until_the_secondary_has_found_its_primary_again(lab, node):
    lab.run("1s")
    lab.crash(node)
    lab.run("4s")
    lab.failover("paris", "tokyo")
    lab.run("5s")

    assert lab.ledger.lost() == []
    assert lab.queries.mode_of("tokyo") == "primary"


@pytest.mark.slow
def test_failover_to_a_cluster_that_is_cut_off_changes_nothing(lab):
    lab.partition("paris", "tokyo")
    lab.run("1s")
    with pytest.raises(RunbookError, match=r"made no progress for \d+ s .*; nothing was changed"):
        lab.failover("paris", "tokyo")

    assert (lab["paris"].mode, lab["tokyo"].mode) == ("primary", "secondary")


def test_what_a_line_drops_after_the_demotion_stops_a_failover_that_says_what_it_leaves(lab):
    """Entries under way at the demotion are lost with the line: nothing sends them again."""
    console = lab.parts.console
    number = console.start("failover", old="paris", new="tokyo")
    lab.run(until=lambda lab: lab["paris"].mode == "secondary")
    missing = lab.lag("paris", "tokyo").entries
    lab.partition("paris", "tokyo")
    lab.run(until=lambda lab: number in console.finished)

    assert missing > 0
    assert console.finished[number] == Finished(
        False,
        "tokyo did not become level with paris: nothing has arrived for 15 s, and their roots differ "
        "(is one damaged? merkle_check says so, and reindex ends it); paris is demoted "
        "and takes no writes, tokyo was not promoted; promote paris again, or tokyo and lose the rest",
    )
    assert (lab["paris"].mode, lab["tokyo"].mode) == ("secondary", "secondary")
    lab["paris"].promote()
    lab.heal()
    lab["tokyo"].repoint("paris")
    assert lab.ledger.lost() == []


def test_promoting_right_after_demoting_loses_what_was_under_way(calm):
    for number in range(3):
        calm["paris"].post(f"secret/data/{number}", {"data": {"n": number}}).raise_for_status()
    calm["paris"].demote()
    calm["tokyo"].promote()

    assert calm.ledger.rpo().writes == 3


# ---- no node that could answer


@pytest.mark.parametrize("sealed", [False, True])
def test_a_runbook_for_a_cluster_without_an_unsealed_node_ends_at_once(calm, sealed):
    calm.crash("tokyo")
    if sealed:
        calm.restart("tokyo")
    began = calm.now
    with pytest.raises(RunbookError, match="no node of tokyo is running and unsealed; restart and unseal one first"):
        calm["tokyo"].promote()

    assert calm.now == began
    assert calm.ledger.unknown == 0


def test_a_runbook_waits_for_a_node_that_can_become_the_active_one(calm):
    calm.crash("tokyo-1")

    assert calm["tokyo"].promote() == "tokyo is the primary now"


# ---- short forms for a look at the tree


def test_merkle_check_is_the_same_call_on_a_primary_and_on_a_secondary(calm):
    for name in ("paris", "tokyo"):
        assert calm[name].merkle_check().data["merkle_corruption_report"]["corrupted_root"] is False
    calm.corrupt("tokyo", layer="root")
    assert calm["tokyo"].merkle_check().data["merkle_corruption_report"]["corrupted_root"] is True
    assert calm["paris"].merkle_check().data["merkle_corruption_report"]["corrupted_root"] is False

    asked = {event.what for event in calm.trace.select("observed", node="tokyo-1")}
    assert "operation token issued" in asked
    body = {"dr_operation_token": calm["tokyo"].operation_token()}
    assert calm["tokyo"].post("sys/replication/dr/secondary/operation-token/delete", body, token="").ok


def test_a_cluster_that_does_not_replicate_answers_that_it_does_not(quiet):
    assert quiet["paris"].merkle_check().status == 400
    with pytest.raises(RunbookError, match="start an operation token on paris"):
        quiet["paris"].operation_token()


def test_an_operation_token_opens_what_wants_one_and_stays_out_of_the_trace(calm):
    token = calm["tokyo"].operation_token()
    answer = calm["tokyo"].post("sys/replication/dr/secondary/merkle-check", {"dr_operation_token": token}, token="")

    assert answer.ok
    assert token not in str(list(calm.trace))


def test_namespaces_are_replicated_and_survive_a_cut_and_a_promotion(calm_snapshot):
    """A lab that is saved and restored on the way is the uncut one."""
    ends = []
    for cuts in (False, True):
        lab = Lab.restore(calm_snapshot)
        paris = lab["paris"]
        assert paris.post("sys/namespaces/team", {"custom_metadata": {"a": "b"}}).ok
        assert paris.post("sys/mounts/kv", {"type": "kv"}, namespace="team").ok
        token = paris.post("auth/token/create", {"policies": ["root"]}, namespace="team").auth["client_token"]
        if cuts:
            lab = Lab.restore(lab.snapshot())
        assert lab["paris"].post("kv/a", {"x": 1}, namespace="team", token=token).ok
        assert lab["tokyo"].get("sys/replication/dr/status", namespace="team", token="").data["mode"] == "secondary"
        assert lab["tokyo"].get("kv/a", namespace="team", token=token).status == 400
        lab.failover("paris", "tokyo")
        assert lab["tokyo"].get("kv/a", namespace="team", token=token).data == {"x": 1}
        assert lab["tokyo"].get("sys/namespaces/team").data["custom_metadata"] == {"a": "b"}
        assert lab["tokyo"].get("kv/a", token=token).status == 403
        ends.append(lab.trace.digest())
    assert ends[0] == ends[1]


def test_a_standby_forwards_a_request_of_a_namespace(calm):
    calm["paris"].post("sys/namespaces/team")
    answer = calm["paris"].get("sys/mounts", namespace="team", node="paris-2")

    assert set(answer.data) == {"cubbyhole/", "identity/", "sys/"}
    assert answer.headers["X-Vault-Namespace"] == "team/"


def test_a_rekey_gives_its_operator_the_new_shares_and_a_secondarys_when_he_is_given_them(calm):
    old = calm["paris"].unseal_keys
    new = calm["paris"].rekey(4, 2)
    calm.run("3s")

    assert (len(new), new, calm["tokyo"].unseal_keys) == (4, calm["paris"].unseal_keys, old)
    with pytest.raises(RunbookError):
        calm["tokyo"].operation_token()
    calm["tokyo"].use_unseal_keys(list(new))
    assert calm["tokyo"].operation_token()
    calm["paris"].use_unseal_keys(old)
    with pytest.raises(RuntimeError, match="rekey aborted"):
        calm["paris"].rekey()
    assert calm["paris"].get("sys/rekey/init", token="").body["started"] is False
    with pytest.raises(RuntimeError, match="threshold must be greater than one"):
        calm["paris"].rekey(3, 1)
