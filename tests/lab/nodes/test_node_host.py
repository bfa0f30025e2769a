"""Nodes, by themselves and on the network: who leads, crash and restart, fetches that wait, and what falls due."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.nodes.election import ABSTENTION_NS, LEASE_NS, RENEW_NS, Lease, read_lease, write_lease
from labkit.lab.nodes.node_host import MESSAGE_HANDLERS, Asker, NodeHost
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import ClusterPlan, NodePlan
from labkit.lab.wire.messages import (
    HEADER_BYTES,
    ApiAnswer,
    ApiRequest,
    BootstrapRequest,
    Correlation,
    DueTimer,
    FetchStart,
    FetchTimeout,
    ForwardTimeout,
    LeaseTimer,
    ReplicationAnswer,
    ReplicationQuestion,
    StreamPush,
    SyncTimer,
    size_of,
)
from labkit.lab.wire.reports import Committed, LeaderTaken, RequestAnswered
from labkit.seeded import START_NS
from labkit.service.message import Request, Response
from labkit.vault.files import Files
from labkit.vault.sealing.initialise import set_up
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.token_record import IDS
from tests.counting import calls_made

SECOND_NS = 1_000_000_000


def data_of(lab: Lab, cluster: str) -> dict[str, bytes]:
    """What a store holds beside the lease, which is renewed all the time."""
    items = lab.parts.stores[cluster].state()["items"]
    return {key: value for key, value in items.items() if key != "node/lease"}


# ---- a node by itself, outside a fake

PLAN = NodePlan(name="oslo-1", cluster=ClusterPlan(name="oslo", site="oslo", nodes=1))
ASKED = Correlation("somebody", 1, 1)


def leading(outside) -> tuple[NodeHost, str]:
    """A node of its own cluster that just took the lease, and its root token; what it did until then is forgotten."""
    node = NodeHost(PLAN, outside.services, MemoryStorage(), Files())
    root_token, _ = set_up(node.core)
    node.boot(0)
    node.on_timer(LeaseTimer(0))
    outside.done.clear()
    return node, root_token


def test_a_booted_node_sets_its_timer_takes_the_lease_says_so_and_sets_the_timer_again(outside):
    node = NodeHost(PLAN, outside.services, MemoryStorage(), Files())
    kept = node.state()
    assert [kept[name] for name in ("incarnation", "serial", "timer_ns", "refused_messages")] == [0] * 4
    assert (kept["suspended"], kept["fetches"], kept["served"]) == ({}, {}, False)
    set_up(node.core)
    outside.done.clear()
    node.boot(500)
    outside.now_ns = 500
    node.on_timer(LeaseTimer(0))

    assert outside.timers[:2] == [(500, LeaseTimer(0), 0), (RENEW_NS, LeaseTimer(0), 0)]
    assert outside.reports[0] == LeaderTaken(500, "oslo", "oslo-1", 1)
    assert read_lease(node.store) == Lease("oslo-1", 1, 500 + LEASE_NS)
    assert (node.active, node.leadership.since_ns) == (True, START_NS + 500)


def test_timers_of_the_sync_reach_it_and_those_of_an_earlier_life_reach_nobody(outside, monkeypatch):
    node, _ = leading(outside)
    reached: list[Any] = []
    monkeypatch.setattr(type(node.link), "on_timer", lambda link, timer: reached.append(timer))
    timers: list[Any] = [SyncTimer(0, "heartbeat", 3), SyncTimer(0, "backoff", 4)]
    for timer in (*timers, SyncTimer(1, "heartbeat", 3), DueTimer(0)):
        node.on_timer(timer)

    assert reached == timers


def test_only_a_secondary_shows_where_its_replication_stands(calm):
    paris, tokyo = (calm.parts.nodes[calm[name].active] for name in ("paris", "tokyo"))

    assert paris.sync is None
    assert tokyo.sync is tokyo.core.replica.sync
    assert (tokyo.sync.state, tokyo.sync.position) == ("stream-wals", paris.journal.last)


def test_a_commit_is_reported_before_the_answer_is_sent(outside):
    node, token = leading(outside)
    request = Request("POST", "/v1/secret/data/app", {"X-Vault-Token": token}, {"data": {"a": 1}})
    node.receive("somebody", ApiRequest(ASKED, request))
    report, answered, sent = (what for kind, what in outside.done if kind in ("emit", "send"))

    assert isinstance(report, Committed)
    assert (answered.node, answered.request.path, answered.correlation) == ("oslo-1", request.path, ASKED)
    assert (report.correlation, report.cluster) == (ASKED, "oslo")
    assert [entry_number for entry_number, _ in report.commits] == [0], "the journal is off"
    source, target, what, answer, size_bytes = sent
    assert (source, target, what) == ("oslo-1", "somebody", "response")
    assert isinstance(answer, ApiAnswer)
    assert (answer.correlation, answer.response.status) == (ASKED, 200)
    assert size_bytes == size_of(answer.response.body)


def test_a_read_reports_nothing(outside):
    node, token = leading(outside)
    node.receive("somebody", ApiRequest(ASKED, Request("GET", "/v1/sys/mounts", {"X-Vault-Token": token})))

    assert [type(report) for report in outside.reports] == [RequestAnswered]
    assert [message.response.status for _, _, _, message, _ in outside.sent] == [200]


def test_a_timer_set_before_a_crash_is_ignored(outside):
    node, _ = leading(outside)
    node.crash()
    for timer in (LeaseTimer(0), DueTimer(0)):
        node.on_timer(timer)

    assert outside.done == []
    assert not node.active


def test_what_falls_due_sets_one_timer(outside):
    node, token = leading(outside)
    body = {"ttl": "30s"}
    for number in (1, 2):
        request = Request("POST", "/v1/auth/token/create", {"X-Vault-Token": token}, body)
        node.receive("somebody", ApiRequest(Correlation("somebody", number, 1), request))

    assert outside.timers == [(30 * SECOND_NS, DueTimer(0), 0)]


def test_a_clock_that_is_set_ahead_brings_the_timer_forward(outside):
    """What falls due is looked up again only when it changed, or when the clock did."""
    node, token = leading(outside)
    create = Request("POST", "/v1/auth/token/create", {"X-Vault-Token": token}, {"ttl": "30s"})
    read = Request("GET", "/v1/sys/mounts", {"X-Vault-Token": token})
    node.receive("somebody", ApiRequest(ASKED, create))
    for error_ns in (10 * SECOND_NS, 20 * SECOND_NS):  # at one instant
        node.clock.set(error_ns, 0)
        node.receive("somebody", ApiRequest(ASKED, read))
    node.receive("somebody", ApiRequest(ASKED, read))

    assert outside.timers == [(left_s * SECOND_NS, DueTimer(0), 0) for left_s in (30, 20, 10)]


def test_who_leads_again_finds_what_falls_due_though_nothing_did_the_time_before(outside):
    """With a timer still set, that nothing falls due and that it is not known yet are two things."""
    node, root = leading(outside)
    store: Any = node.store
    leadership = node.core.leadership

    def ask(method: str, path: str, token: str, body: Any = None) -> Any:
        node.receive("somebody", ApiRequest(ASKED, Request(method, f"/v1/{path}", {"X-Vault-Token": token}, body)))
        return outside.sent[-1][3].response

    def lead_again(meanwhile: Any) -> None:
        node.vault.set_leadership(leadership._replace(active=False))
        store.apply(meanwhile, leadership.term)
        node.vault.set_leadership(leadership)
        assert ask("GET", "sys/mounts", root).ok

    made = [ask("POST", "auth/token/create", root, {"ttl": ttl}).body["auth"]["client_token"] for ttl in ("30s", "20s")]
    stored = {key: value for key, value in store.values.items() if key.startswith(IDS)}
    for token in made:
        assert ask("POST", "auth/token/revoke-self", token).ok
    lead_again({})
    assert node.core.next_due_ns == 0
    assert node.timer_ns == 20 * SECOND_NS, "it is not taken back"
    node.timer_ns = 30 * SECOND_NS

    lead_again(stored)
    assert node.core.next_due_ns == START_NS + 20 * SECOND_NS
    assert node.timer_ns == 20 * SECOND_NS


def test_a_node_goes_on_from_its_state(outside):
    node, token = leading(outside)
    again = NodeHost(PLAN, outside.services, node.store, node.files, node.state())

    assert again.state() == node.state()
    again.receive("somebody", ApiRequest(ASKED, Request("GET", "/v1/sys/mounts", {"X-Vault-Token": token})))
    assert outside.sent[-1][3].response.status == 200


# ---- who leads


def test_the_first_node_leads_from_the_start(quiet):
    leaders = [(event.at_ns, event.cluster, event.node, event.term) for event in quiet.trace.select("leader")]

    assert leaders == [(0, "paris", "paris-1", 1), (0, "tokyo", "tokyo-1", 1)]
    assert [quiet.parts.nodes[node].active for node in quiet["paris"].nodes] == [True, False, False]


def test_a_quiet_cluster_keeps_its_leader_and_renews_its_lease(quiet):
    quiet.run("10m")

    assert len(quiet.trace.select("leader")) == 2
    assert read_lease(quiet.parts.stores["paris"]) == Lease("paris-1", 1, quiet.now + LEASE_NS)


def test_a_standby_names_the_leader(quiet):
    quiet.run("2s")
    headers = {"X-Vault-No-Request-Forwarding": "1"}
    answer = quiet["paris"].request("GET", "secret/data/a%20b?version=2", headers=headers, node="paris-2")

    assert answer.status == 307
    assert answer.headers["Location"] == "http://paris-1:8200/v1/secret/data/a%20b?version=2"


def test_another_node_takes_over_when_the_lease_has_run_out_not_before(quiet):
    quiet.run("2500ms").crash("paris-1")
    lease = read_lease(quiet.parts.stores["paris"])
    assert lease
    until_ns = lease.until_ns
    quiet.run(until=f"{until_ns - 1}ns")
    assert quiet["paris"].active == ""
    quiet.run("2s")
    taken = quiet.trace.select("leader", cluster="paris")[-1]

    assert (taken.node, taken.term) == ("paris-2", 2)
    assert until_ns <= taken.at_ns <= until_ns + RENEW_NS


def test_the_second_crash_makes_the_third_node_lead_and_the_third_leaves_nobody(quiet):
    for node in ("paris-1", "paris-2"):
        quiet.crash(node)
        quiet.run("6s")
    assert quiet["paris"].active == "paris-3"
    quiet.crash("paris-3")
    quiet.run("10s")

    assert quiet["paris"].active == ""
    assert [event.term for event in quiet.trace.select("leader", cluster="paris")] == [1, 2, 3]


def test_what_was_acknowledged_is_still_there_after_a_takeover(quiet):
    quiet["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    quiet.crash("paris-1")

    assert quiet["paris"].get("secret/data/app").data["data"] == {"user": "ada"}
    assert quiet["paris"].active == "paris-2"


def test_a_sealed_leader_gives_way(quiet):
    assert quiet["paris"].post("sys/seal").status == 204
    assert quiet["paris"].post("secret/data/app", {"data": {"a": 1}}).ok
    assert quiet["paris"].active == "paris-2"


def test_a_sealed_leader_does_not_think_that_it_leads(quiet):
    node = quiet.parts.nodes["paris-1"]
    quiet["paris"].seal()
    quiet.run("20s")

    assert (node.leadership.active, node.leadership.leader) == (False, "")


def test_a_leader_that_steps_down_lets_another_node_lead_and_takes_no_part_for_ten_seconds(quiet):
    asked_ns = quiet.now
    assert quiet["paris"].put("sys/step-down").status == 204
    assert (quiet["paris"].active, quiet.parts.nodes["paris-1"].leadership.leader) == ("", "")
    assert quiet["paris"].post("secret/data/app", {"data": {"a": 1}}).ok
    taken = quiet.trace.select("leader", cluster="paris")[-1]
    assert (taken.node, taken.term) == ("paris-2", 2)
    assert 0 < taken.at_ns - asked_ns <= RENEW_NS

    (seen,) = quiet.trace.select("observed", node="paris-1", what="stepped down")
    assert seen.at_ns - asked_ns < SECOND_NS // 10
    quiet.crash("paris-2")
    quiet.crash("paris-3")
    quiet.run(until=f"{seen.at_ns + ABSTENTION_NS - 1}ns")
    assert quiet["paris"].active == "", "the lease has run out, and it does not take it"
    quiet.run("1100ms")
    assert (quiet["paris"].active, quiet.parts.nodes["paris-1"].leadership.term) == ("paris-1", 3)


def test_a_node_that_stepped_down_follows_forwards_and_is_restored_as_it_is(quiet):
    quiet["paris"].put("sys/step-down")
    again = Lab.restore(quiet.snapshot())
    for lab in (quiet, again):
        lab.run("3s")
        token = {"X-Vault-Token": lab["paris"].root_token}
        answer = lab["paris"].request("POST", "secret/data/app", {"data": {"a": 1}}, token, node="paris-1")
        assert (answer.status, lab.parts.nodes["paris-1"].leadership.leader) == (200, "http://paris-2:8200")
        lab.crash("paris-2")
        lab.crash("paris-3")
        lab.run("20s")
    assert again.trace.digest() == quiet.trace.digest()

    quiet["paris"].put("sys/step-down")
    quiet.crash("paris-1")
    quiet.restart("paris-1")
    quiet["paris"].unseal("paris-1")
    quiet.run("5s")
    assert quiet["paris"].active == "paris-1", "a crash forgets that it stepped down"


def test_a_standby_that_is_asked_to_step_down_has_nothing_to_do_whoever_asks(quiet):
    quiet.run("2s")
    before = data_of(quiet, "paris")
    for token in ("", "junk", quiet["paris"].root_token):
        answer = quiet["paris"].request("PUT", "sys/step-down", {}, {"X-Vault-Token": token}, node="paris-2")
        assert answer.status == 204
    assert quiet.trace.select("observed", what="stepped down") == []
    quiet.run("2s")

    assert (quiet["paris"].active, data_of(quiet, "paris")) == ("paris-1", before)
    assert quiet["paris"].request("PUT", "sys/step-down", {}, {"X-Vault-Token": "junk"}).status == 403
    quiet.parts.nodes["paris-3"].core.keys.drop()
    assert quiet["paris"].request("PUT", "sys/step-down", {}, {}, node="paris-3").errors == ["Vault is sealed"]


def test_a_secondary_streams_from_the_node_that_took_over_within_two_seconds(calm):
    calm["paris"].put("sys/step-down")
    calm["paris"].post("secret/data/app", {"data": {"a": 1}})
    calm.run("2s")

    assert calm["paris"].active == "paris-2"
    assert calm.queries.streaming_pairs() == [("paris", "tokyo")]
    assert [calm["tokyo"].put("sys/step-down").status for _ in "12"] == [400, 400], "a secondary answers no client"
    assert calm["tokyo"].active == "tokyo-1"
    assert calm.invariants.broken == {}


def test_a_join_whose_node_steps_down_after_the_unwrap_says_that_its_token_is_spent(calm):
    calm["tokyo"].disable()
    console = calm.parts.console
    activation = calm["paris"].post("sys/replication/dr/primary/secondary-token", {"id": "again"}).wrap_info["token"]
    number = console.ask(Ask("tokyo", "POST", "sys/replication/dr/secondary/enable", {"token": activation}))
    first = calm.parts.nodes["tokyo-1"].serial
    calm.run(until=lambda lab: lab.parts.nodes["tokyo-1"].serial == first + 2)
    assert calm["tokyo"].put("sys/step-down").status == 204
    calm.run("20s")

    assert calm["tokyo"].mode == "disabled"
    assert console.answers[number].status == 400
    assert "not the active one any more" in console.answers[number].errors[0]
    assert "the token is spent: revoke again on the primary" in console.answers[number].errors[0]


def test_a_leader_that_was_overtaken_writes_nothing_and_says_so(quiet):
    quiet.run("2s")
    quiet["paris"].post("secret/data/app", {"data": {"a": 1}})
    write_lease(quiet.parts.stores["paris"], Lease("paris-2", 2, quiet.now + LEASE_NS))
    before, root = data_of(quiet, "paris"), quiet["paris"].root
    answer = quiet["paris"].request(
        "POST", "secret/data/app", {"data": {"a": 2}}, {"X-Vault-Token": quiet["paris"].root_token}, node="paris-1"
    )

    assert answer.status == 503
    assert "nothing was changed" in answer.errors[0]
    assert data_of(quiet, "paris") == before
    assert quiet["paris"].root == root
    assert not quiet.parts.nodes["paris-1"].active
    assert [event.what for event in quiet.trace.select("observed", node="paris-1")][-1] == "stepped down"


def test_the_writes_of_a_replicating_leader_that_was_overtaken_reach_nobody(calm):
    tokyo = data_of(calm, "tokyo")
    write_lease(calm.parts.stores["paris"], Lease("paris-2", 2, calm.now + LEASE_NS))
    calm["paris"].request(
        "POST", "secret/data/app", {"data": {"a": 2}}, {"X-Vault-Token": calm["paris"].root_token}, node="paris-1"
    )
    calm.run("10s")

    assert calm["paris"].get("secret/data/app").status == 404
    assert {key for key in data_of(calm, "tokyo") if key not in tokyo and not key.startswith("node/")} == set()
    assert calm["tokyo"].root == calm["paris"].root


# ---- crash and restart


def test_a_crash_takes_memory_away_and_storage_stays(quiet):
    host = quiet.parts.nodes["paris-2"]
    before, counter = data_of(quiet, "paris"), host.entropy.counter
    quiet.crash("paris-2")

    assert host.vault.sealed
    assert (host.incarnation, host.suspended, host.fetches, host.entropy.counter) == (1, {}, {}, 0)
    assert counter > 0
    assert data_of(quiet, "paris") == before


def test_a_node_that_comes_up_again_is_sealed_until_it_is_given_shares(quiet):
    quiet.crash("paris-1")
    quiet.run("6s")
    quiet.restart("paris-1")
    quiet.run("6s")
    assert quiet["paris"].request("GET", "sys/health", node="paris-1").status == 503
    assert quiet["paris"].unseal() == "1 node of paris unsealed"
    quiet.run("2s")

    assert quiet["paris"].request("GET", "sys/health", node="paris-1").status == 429
    assert quiet["paris"].active == "paris-2", "who comes back does not take over"


def test_a_whole_cluster_comes_back(quiet):
    quiet["paris"].post("secret/data/app", {"data": {"a": 1}})
    quiet.crash("paris")
    quiet.run("10s")
    quiet.restart("paris")
    assert quiet["paris"].unseal() == "3 nodes of paris unsealed"

    assert quiet["paris"].get("secret/data/app").data["data"] == {"a": 1}


def test_a_life_after_a_crash_draws_other_bytes(quiet):
    host = quiet.parts.nodes["paris-1"]
    first = host.entropy(32)
    quiet.crash("paris-1")
    host.entropy.counter = 0

    assert host.entropy(32) != first


def test_no_two_nodes_draw_the_same(quiet):
    drawn = {host.services.entropy(0, 0)(16) for host in quiet.parts.nodes.values()}

    assert len(drawn) == len(quiet.parts.nodes)


def test_a_node_that_was_down_for_a_moment_has_one_timer(quiet):
    quiet.run("2500ms").crash("paris-3")
    quiet.restart("paris-3")
    quiet.run("5s")
    lives = [item[2].incarnation for _, item in quiet.parts.clock.pending() if item[:2] == ("timer", "paris-3")]

    assert lives == [1]


# ---- fetches


def activation_token(lab: Lab) -> str:
    """Take tokyo out of replication; return a token that would bring it back."""
    lab.work_through("disable", cluster="tokyo")
    body = {"id": "tokyo again"}
    return lab["paris"].post("sys/replication/dr/primary/secondary-token", body).wrap_info["token"]


def test_what_nodes_ask_each_other_goes_aside_both_ways_and_what_clients_ask_does_not(quiet):
    quiet["paris"].post("sys/replication/dr/primary/enable")
    token = quiet["paris"].post("sys/replication/dr/primary/secondary-token", {"id": "tokyo"}).wrap_info["token"]
    sent: list[tuple[str, str, bool]] = []
    send = quiet.parts.network.send

    def noting(source: str, target: str, what: str, *rest: Any, aside: bool = False) -> None:
        sent.append((target, what, aside))
        send(source, target, what, *rest, aside=aside)

    for name in ("paris-1", "tokyo-1"):
        node = quiet.parts.nodes[name]
        node.services = node.services._replace(send=noting)
    assert quiet["tokyo"].post("sys/replication/dr/secondary/enable", {"token": token}).ok

    assert [row for row in sent if row[1] in ("request", "response")] == [
        ("paris-1", "request", True),
        ("tokyo-1", "response", True),
        ("tokyo-operator", "response", False),
    ]


def test_a_request_that_waits_for_an_answer_from_outside_gets_silence_after_its_time(calm):
    token = activation_token(calm)
    calm.partition("paris", "tokyo")
    before = data_of(calm, "tokyo")
    number = calm.parts.console.ask(Ask("tokyo", "POST", "sys/replication/dr/secondary/enable", {"token": token}))
    calm.run("5s")
    host = calm.parts.nodes[calm["tokyo"].active]
    assert len(host.suspended) == len(host.fetches) == 1
    calm.run("20s")

    assert calm.parts.console.answers[number].status == 503
    assert (host.suspended, host.fetches) == ({}, {})
    assert data_of(calm, "tokyo") == before


def test_what_is_committed_after_a_fetch_is_of_the_request_that_waited(outside, monkeypatch):
    node, token = leading(outside)
    request = Request("POST", "/v1/secret/data/app", {"X-Vault-Token": token}, {"data": {"a": 1}})
    suspended: Any = SimpleNamespace(request=request)
    node.suspended[3], node.fetches[8] = (suspended, Asker("somebody", ASKED)), (3, "elsewhere")
    monkeypatch.setattr(type(node.vault), "resume", lambda vault, waiting, answer: vault.handle(waiting.request))
    node.receive("elsewhere", ApiAnswer(Correlation("oslo-1", 8), Response(200, {})))

    report, _ = outside.reports
    assert (report.correlation, report.method, report.version, report.options) == (ASKED, "POST", 1, ("data",))
    assert report.part == "ended"
    assert [(target, message.correlation) for _, target, _, message, _ in outside.sent] == [("somebody", ASKED)]


def test_a_crash_takes_waiting_requests_away(calm):
    token = activation_token(calm)
    number = calm.parts.console.ask(Ask("tokyo", "POST", "sys/replication/dr/secondary/enable", {"token": token}))
    calm.run("50ms").crash("tokyo-1")
    calm.run("20s")

    assert number not in calm.parts.console.answers
    assert calm["tokyo"].mode == "disabled"


# ---- what falls due


def make_token(lab: Lab, ttl: str) -> str:
    return lab["paris"].post("auth/token/create", {"ttl": ttl, "policies": ["default"]}).auth["client_token"]


def token_count(lab: Lab, cluster: str = "paris") -> int:
    return sum(key.startswith(IDS) for key in lab.queries.contents(cluster))


def test_a_token_is_revoked_when_its_time_is_over_though_nobody_asks(quiet):
    make_token(quiet, "5s")
    before = token_count(quiet)
    quiet.run("4s")
    assert token_count(quiet) == before
    quiet.run("2s")

    assert token_count(quiet) == before - 1


def test_who_takes_over_does_what_falls_due(quiet):
    make_token(quiet, "20s")
    before = token_count(quiet)
    quiet.crash("paris-1")
    quiet.run("19s")
    assert token_count(quiet) == before
    quiet.run("3s")

    assert token_count(quiet) == before - 1


def test_a_restored_node_in_which_nothing_falls_due_any_more_sets_its_timer_for_what_comes():
    """The tokens of the activation were deleted before their time, for which its timer is still set."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    restored = Lab.restore(lab.snapshot())
    for one in (lab, restored):
        one.run("1s")
        before = token_count(one)
        make_token(one, "5s")
        one.run("6s")
        assert token_count(one) == before

    assert restored.trace.digest() == lab.trace.digest()


def test_a_secondary_does_nothing_by_itself_and_a_promoted_one_does_it_all(calm):
    make_token(calm, "30s")
    calm.run("5s").crash("paris")
    before = token_count(calm, "tokyo")
    calm.run("60s")
    assert token_count(calm, "tokyo") == before
    calm["tokyo"].promote()
    calm.run("2s")

    assert token_count(calm, "tokyo") == before - 1


# ---- what is answered


def test_a_refusal_carries_a_code_that_is_not_in_its_body(calm):
    calm.run("2s")
    attempt = "sys/replication/dr/secondary/generate-operation-token/attempt"
    calm["tokyo"].post(attempt, {}, token="")
    refused = {
        "not_active": calm["paris"].request(
            "GET", "secret/data/app", headers={"X-Vault-No-Request-Forwarding": "1"}, node="paris-2"
        ),
        "dr_secondary": calm["tokyo"].get("secret/data/app"),
        "attempt_in_progress": calm["tokyo"].post(attempt, {}, token=""),
    }
    calm.crash("paris-3")
    calm.restart("paris-3")
    refused["sealed"] = calm["paris"].request("GET", "secret/data/app", node="paris-3")

    assert {code: answer.code for code, answer in refused.items()} == {code: code for code in refused}
    assert all(set(answer.body) == {"errors"} for answer in refused.values())


def test_a_request_knows_the_host_it_came_from(quiet):
    quiet["paris"].put("sys/audit/file", {"type": "file", "options": {"file_path": "/a"}})
    quiet["paris"].get("secret/data/app")

    assert b"paris-operator" in quiet["paris"].files.lines["/a"][-1]


@pytest.mark.parametrize(("body", "size_bytes"), [(None, HEADER_BYTES), ({}, HEADER_BYTES)])
def test_no_body_counts_a_header_only(body, size_bytes):
    assert size_of(body) == size_bytes


def test_a_longer_body_counts_more():
    assert size_of({"data": {"a": "x" * 100}}) - size_of({"data": {"a": ""}}) == 100


def test_it_shows_its_name(quiet):
    assert repr(quiet.parts.nodes["paris-1"]) == "NodeHost(paris-1)"


# ---- every state, every event (R25)


def heard_of_a_first_sync() -> list[tuple[str, str, Any]]:
    """What nodes send each other while a pair begins to replicate, one of each kind: what, source and message."""
    lab = Lab.pair(seed=7)
    heard: dict[tuple[str, str], tuple[str, str, Any]] = {}
    lab.parts.console.start("replicate", primary="paris", secondary="tokyo")
    while lab.now < 4 * SECOND_NS:
        if lab.parts.console.finished and not lab.parts.console.answers and not lab.parts.console.asks:
            lab.parts.console.ask(Ask("paris", "POST", "secret/data/app", {"data": {}}, "paris-2"))
        for _, (verb, _, message) in lab.parts.clock.pending():
            if verb == "deliver":
                rpc = getattr(message.payload, "rpc", message.what)
                heard[type(message.payload).__name__, rpc] = (message.what, message.source, message.payload)
        lab.step()
    return list(heard.values())


def in_every_state(quiet: Lab, calm: Lab) -> Iterator[Lab]:
    """Labs whose nodes are, between them, in every state of seal, lead and replication."""
    yield quiet
    yield calm
    sealed = Lab.restore(calm.snapshot())
    sealed.crash("tokyo")
    sealed.restart("tokyo")
    yield sealed
    leaderless = Lab.restore(calm.snapshot())
    leaderless.crash("paris-1")
    leaderless.run("100ms")
    yield leaderless
    demoted = Lab.restore(calm.snapshot())
    demoted["paris"].demote()
    yield demoted
    joining = Lab.restore(quiet.snapshot())
    joining.parts.console.start("replicate", primary="paris", secondary="tokyo")
    while not joining.parts.nodes["tokyo-1"].suspended:
        joining.step()
    yield joining


def timers(node: NodeHost) -> list[Any]:
    """Every timer that a node can have set, of now and of before, also for what is over."""
    now, serial = node.incarnation, node.sync.serial if node.sync is not None else 1
    made: list[Any] = [LeaseTimer(now), LeaseTimer(now - 1), DueTimer(now), FetchTimeout(now, 1), FetchTimeout(now, 99)]
    made += [FetchStart(now, 1), FetchStart(now, 99), ForwardTimeout(now, 1), ForwardTimeout(now, 99)]
    return made + [SyncTimer(now, name, number) for name in ("heartbeat", "backoff", "none") for number in (0, serial)]


def fitted(node: NodeHost, message: Any) -> Any:
    """A message under the serial that the node awaits, so that it is not ignored as late."""
    sync, content = node.sync, getattr(message, "message", None)
    if sync is None or not isinstance(content, dict):
        return message
    serial = sync.life if getattr(message, "rpc", "") == "echo" else sync.serial
    return message._replace(message={**content, "serial": serial})


def test_no_message_and_no_timer_in_any_state_brings_a_node_down(quiet, calm):
    heard = heard_of_a_first_sync()
    kinds = {type(message) for _, _, message in heard}
    assert kinds >= set(MESSAGE_HANDLERS) | {ReplicationQuestion, ReplicationAnswer, StreamPush, BootstrapRequest}
    for lab in in_every_state(quiet, calm):
        snapshot = lab.snapshot()
        for name in ("paris-1", "paris-2", "tokyo-1", "tokyo-2"):
            again = Lab.restore(snapshot)
            node = again.parts.nodes[name]
            for _, source, message in heard:
                for sender in (source, "tokyo-1", "paris-operator"):
                    node.receive(sender, message)
                    node.receive(sender, fitted(node, message))
            for timer in timers(node):
                node.on_timer(timer)
            again.run("20s")
            assert again.parts.console.asks == {} or again.parts.console.runbooks


CALLS_PER_IDLE_SECOND = 576
"""Of a pair with three nodes each that replicates and has nothing to do: heartbeat and leases.  It may fall, and rises
only with a line that says why.
"""


def test_a_second_of_an_idle_pair_takes_no_more_calls_than_it_did(calm_snapshot):
    lab = Lab.restore(calm_snapshot)
    lab.run("2s")

    assert calls_made(lambda: lab.run("20s")) / 20 <= CALLS_PER_IDLE_SECOND
