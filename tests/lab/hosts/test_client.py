"""The client's state machine, without a network: tries, retries, failover, and how an operation ends."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.lab.hosts.client import Client, Outcome, SendRequest, SetTimer
from labkit.lab.plan.blueprint import ClientPlan, ClusterPlan, NodePlan, WorkloadPlan
from labkit.lab.wire.messages import AttemptTimeout, CheckTimer, Correlation, RetryTimer, WorkTimer
from labkit.service.errors import DR_SECONDARY, FORWARDING_LOST
from labkit.service.message import Response
from tests.examples import examples

SECOND_NS = 1_000_000_000
NOW_NS = 3 * SECOND_NS
PARIS, TOKYO = ClusterPlan(name="paris", site="paris", nodes=2), ClusterPlan(name="tokyo", site="tokyo", nodes=1)
NODES = tuple(NodePlan(name=name, cluster=plan) for plan in (PARIS, TOKYO) for name in plan.node_names)
WORK = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS, from_ns=2 * SECOND_NS, until_ns=9 * SECOND_NS)


def plan(*work: WorkloadPlan, retries: int = 2) -> ClientPlan:
    """A patient client of two clusters."""
    return ClientPlan(name="shop", site="lisbon", use=("paris", "tokyo"), retries=retries, workload=work or (WORK,))


def client(**settings_: int) -> Client:
    return Client("shop-1", plan(**settings_), NODES)


def begun(one: Client) -> SendRequest:
    """Let the first operation begin; return the request that it sends."""
    effects = one.on_timer(WorkTimer(0), 2 * SECOND_NS)
    return next(effect for effect in effects if isinstance(effect, SendRequest))


def answer(status: int, *errors: str, location: str = "", code: str = "") -> Response:
    headers = {"Location": location} if location else {}
    return Response(status, headers, {"errors": list(errors)} if errors else None, code)


def retry(one: Client, effects: list) -> SendRequest:
    """Let the pause before the next try pass."""
    (timer,) = effects
    assert isinstance(timer.payload, RetryTimer)
    sent, *_ = one.on_timer(timer.payload, 3 * SECOND_NS)
    assert isinstance(sent, SendRequest)
    return sent


def ended(effects: list) -> Outcome:
    """Return the end of an operation, which is all that follows."""
    (outcome,) = effects
    assert isinstance(outcome, Outcome)
    return outcome


def time_out(one: Client) -> list:
    """Let nobody answer the tries under way."""
    return one.on_timer(AttemptTimeout(), 4 * SECOND_NS)


def test_work_begins_at_its_instant_or_at_once_when_that_is_past():
    assert client().start(0) == [SetTimer(2 * SECOND_NS, WorkTimer(0))]
    assert client().start(5 * SECOND_NS) == [SetTimer(0, WorkTimer(0))]


def test_the_clients_of_a_group_begin_one_after_another_within_one_interval():
    group = replace(plan(replace(WORK, from_ns=0, every_ns=800)), count=4)
    begins = [Client(name, group, NODES).start(0)[0] for name in group.names]

    assert begins == [SetTimer(delay_ns, WorkTimer(0)) for delay_ns in (0, 200, 400, 600)]


def test_an_operation_is_sent_to_one_node_with_an_end_to_patience_and_the_next_is_set():
    one = client()
    following, sent, patience = one.on_timer(WorkTimer(0), 2 * SECOND_NS)

    assert following == SetTimer(SECOND_NS, WorkTimer(0))
    assert isinstance(sent, SendRequest)
    assert (sent.node, sent.correlation) == ("paris-1", Correlation("shop-1", 1, 1))
    assert patience == SetTimer(one.plan.timeout_ns, AttemptTimeout())


def test_one_timer_is_set_for_all_that_is_under_way_and_again_for_what_is_left():
    one = client()
    for now_ns in (2_000_000_000, 2_300_000_000, 2_600_000_000):
        *_, last = one.on_timer(WorkTimer(0), now_ns)
        assert isinstance(last, SendRequest) == (now_ns > 2_000_000_000)
    one.on_answer(Correlation("shop-1", 2, 1), answer(200), NOW_NS)
    one = Client(one.name, one.plan, one.nodes, one.state())
    failed, again = one.on_timer(AttemptTimeout(), 3_000_000_000)

    assert failed == SetTimer(one.plan.backoff_ns, RetryTimer(1, 1))
    assert again == SetTimer(600_000_000, AttemptTimeout()), "until the end of the third one's time"
    one.on_answer(Correlation("shop-1", 3, 1), answer(200), NOW_NS)
    assert one.on_timer(AttemptTimeout(), 3_600_000_000) == []
    assert one.on_timer(RetryTimer(1, 1), 4_000_000_000)[1:] == [SetTimer(one.plan.timeout_ns, AttemptTimeout())]


def test_the_time_of_an_attempt_begins_with_it():
    one = client()
    begun(one)
    one.on_answer(Correlation("shop-1", 1, 1), answer(307, location="http://paris-2:8200/"), 2_900_000_000)

    assert one.on_timer(AttemptTimeout(), 3_000_000_000) == [SetTimer(900_000_000, AttemptTimeout())]
    assert one.pending[1].node == "paris-2"


def test_work_ends_at_its_end():
    assert client().on_timer(WorkTimer(0), 9 * SECOND_NS) == []


def test_success_is_answered():
    one = client()
    sent = begun(one)
    outcome = ended(one.on_answer(sent.correlation, answer(200), NOW_NS))

    assert (outcome.kind, outcome.operation.status, outcome.correlation) == ("answered", 200, sent.correlation)
    assert one.pending == {}


def test_a_refusal_is_certain():
    one = client()
    outcome = ended(one.on_answer(begun(one).correlation, answer(403, "permission denied"), NOW_NS))

    assert (outcome.kind, outcome.operation.status) == ("refused", 403)


@pytest.mark.parametrize("status", [429, 473, 503])
def test_a_node_that_cannot_serve_sends_it_to_the_next(status):
    one = client()
    sent = retry(one, one.on_answer(begun(one).correlation, answer(status), NOW_NS))

    assert (sent.node, sent.correlation) == ("paris-2", Correlation("shop-1", 1, 2))


@pytest.mark.parametrize(("status", "code"), [(400, DR_SECONDARY), (472, "")])
def test_a_disaster_recovery_secondary_sends_it_to_the_next_cluster(status, code):
    one = client()
    assert retry(one, one.on_answer(begun(one).correlation, answer(status, code=code), NOW_NS)).node == "tokyo-1"


def test_any_other_400_is_an_answer():
    one = client()
    outcome = ended(one.on_answer(begun(one).correlation, answer(400, "no such parameter"), NOW_NS))

    assert outcome.kind == "refused"


def test_silence_goes_on_to_the_next_node_and_is_remembered():
    one = client()
    begun(one)
    sent = retry(one, time_out(one))
    outcome = ended(one.on_answer(sent.correlation, answer(403), NOW_NS))

    assert outcome.kind == "unknown", "the first try may have happened"


def test_a_lost_forwarded_request_counts_as_silence():
    one = client()
    sent = retry(one, one.on_answer(begun(one).correlation, answer(503, "lost", code=FORWARDING_LOST), NOW_NS))
    assert sent.node == "paris-2"
    outcome = ended(one.on_answer(sent.correlation, answer(403), NOW_NS))

    assert (outcome.kind, outcome.operation.status) == ("unknown", 403)


def test_silence_then_success_is_success():
    one = client()
    begun(one)
    sent = retry(one, time_out(one))
    outcome = ended(one.on_answer(sent.correlation, answer(204), NOW_NS))

    assert (outcome.kind, outcome.operation.attempts) == ("answered", 2)


def test_tries_come_to_an_end():
    one = client(retries=2)
    begun(one)
    for _ in range(2):
        retry(one, time_out(one))
    outcome = ended(time_out(one))

    assert (outcome.kind, outcome.operation.attempts, outcome.operation.status) == ("unknown", 3, 0)
    assert one.pending == {}


def test_nobody_serving_is_a_refusal_when_everybody_said_so():
    one = client(retries=1)
    sent = retry(one, one.on_answer(begun(one).correlation, answer(503), NOW_NS))
    outcome = ended(one.on_answer(sent.correlation, answer(503), NOW_NS))

    assert (outcome.kind, outcome.operation.status) == ("refused", 503)


def test_a_standby_names_the_active_node_and_the_client_goes_there_at_once():
    one = client()
    location = "http://tokyo-1:8200/v1/secret/data/x"
    sent, *_ = one.on_answer(begun(one).correlation, answer(307, location=location), NOW_NS)

    assert isinstance(sent, SendRequest)
    assert (sent.node, sent.correlation) == ("tokyo-1", Correlation("shop-1", 1, 2))
    assert one.nodes[one.position].name == "tokyo-1", "and stays there for what comes next"


def test_a_node_that_the_client_does_not_know_is_not_followed():
    one = client()
    refusal = answer(307, location="http://oslo-1:8200/")

    assert retry(one, one.on_answer(begun(one).correlation, refusal, NOW_NS)).node == "paris-2"


def test_two_standbys_that_name_each_other_do_not_hold_a_client_for_ever():
    one = client(retries=1)
    sent, steps = begun(one), 0
    effects: list = []
    while not isinstance(next(iter(effects), None), Outcome):
        assert (steps := steps + 1) < 20
        other = "paris-2" if sent.node == "paris-1" else "paris-1"
        effects = one.on_answer(sent.correlation, answer(307, location=f"http://{other}:8200/"), NOW_NS)
        if isinstance(effects[0], SendRequest):
            sent = effects[0]

    assert ended(effects).kind == "refused"


def test_a_redirect_counts_as_an_attempt_and_one_for_each_node_is_followed_beyond_the_retries():
    one = client(retries=1)
    sent, nodes = begun(one), []
    while True:
        nodes.append(sent.node)
        other = "paris-2" if sent.node == "paris-1" else "paris-1"
        effects = one.on_answer(sent.correlation, answer(307, location=f"http://{other}:8200/"), NOW_NS)
        if not isinstance(effects[0], SendRequest):
            break
        sent = effects[0]

    assert nodes == ["paris-1", "paris-2", "paris-1", "paris-2", "paris-1"]
    assert ended(effects).operation.attempts == 1 + one.plan.retries + len(NODES)


def test_the_pause_of_an_earlier_attempt_begins_no_other():
    one = client()
    sent = retry(one, one.on_answer(begun(one).correlation, answer(503), NOW_NS))

    assert sent.correlation == Correlation("shop-1", 1, 2)
    assert one.on_timer(RetryTimer(1, 1), NOW_NS) == []
    assert one.on_timer(RetryTimer(9, 1), NOW_NS) == [], "nor that of an operation which has ended"
    assert one.pending[1].attempts == 2


def test_a_secondary_sends_a_client_onward_that_stands_anywhere_in_its_cluster():
    one = client()
    first, second = begun(one), begun(one)
    retry(one, one.on_answer(first.correlation, answer(503), NOW_NS))
    assert NODES[one.position].name == "paris-2"
    one.on_answer(second.correlation, answer(472), NOW_NS)

    assert NODES[one.position].name == "tokyo-1"


def test_a_secondary_leaves_a_client_where_it_is_that_stands_in_another_cluster():
    one = client()
    one.position = 2
    first, second = begun(one), begun(one)
    assert (first.node, second.node) == ("tokyo-1", "tokyo-1")
    retry(one, one.on_answer(first.correlation, answer(472), NOW_NS))
    assert NODES[one.position].name == "paris-1", "after the last cluster comes the first"
    one.position = 1
    one.on_answer(second.correlation, answer(472), NOW_NS)

    assert NODES[one.position].name == "paris-2"


def test_a_late_answer_is_ignored():
    one = client()
    first = begun(one)
    sent = retry(one, time_out(one))

    assert one.on_answer(first.correlation, answer(200), NOW_NS) == []
    assert ended(one.on_answer(sent.correlation, answer(200), NOW_NS)).kind == "answered"
    assert one.on_answer(sent.correlation, answer(200), NOW_NS) == []


def test_an_answer_after_the_end_of_patience_is_late_even_before_the_next_try():
    one = client()
    first = begun(one)
    pause = time_out(one)

    assert one.on_answer(first.correlation, answer(200), NOW_NS) == []
    assert retry(one, pause).node == "paris-2"


def test_the_end_of_patience_of_what_was_answered_is_ignored():
    one = client()
    sent = begun(one)
    one.on_answer(sent.correlation, answer(200), NOW_NS)

    assert time_out(one) == []


def test_operations_share_where_the_client_stands():
    one = client()
    begun(one)
    retry(one, time_out(one))

    assert begun(one).node == "paris-2"


def test_one_node_that_fails_two_operations_is_left_once():
    one = client()
    begun(one), begun(one)
    assert [effect.payload for effect in time_out(one)] == [RetryTimer(1, 1), RetryTimer(2, 1)]
    assert one.nodes[one.position].name == "paris-2"


def remembering(*work: WorkloadPlan, **given: Any) -> Client:
    """A client of three nodes that has what its work takes from a token it was given."""
    one = Client("shop-1", replace(plan(*work), **given), NODES)
    one.token = "hvs.root"
    return one


def did(operation: str, **how: Any) -> WorkloadPlan:
    return WorkloadPlan(operation=operation, every_ns=SECOND_NS, **how)


def at_turn(one: Client, workload: int = 0) -> Any:
    """Let a workload have its turn; return what it sends."""
    effects = one.on_timer(WorkTimer(workload), 2 * SECOND_NS)
    return next((effect for effect in effects if isinstance(effect, SendRequest)), None)


def secret(version: int) -> Response:
    return Response(200, {}, {"data": {"version": version, "created_time": "now"}})


def token(text: str, uses: int = 0) -> Response:
    return Response(200, {}, {"auth": {"client_token": text, "num_uses": uses}})


def test_a_check_and_set_names_what_the_last_answer_showed_of_the_key():
    one = remembering(did("put-secret", keys=1, cas=True), did("get-secret", keys=1), did("delete-secret", keys=1))

    def cas() -> Any:
        return at_turn(one).request.body["options"]["cas"]

    first = at_turn(one)
    assert first.request.body["options"] == {"cas": 0}
    one.on_answer(first.correlation, secret(1), NOW_NS)
    assert cas() == 1
    read = at_turn(one, 1)
    shown = Response(200, {}, {"data": {"data": {}, "metadata": {"version": 5, "created_time": "now"}}})
    one.on_answer(read.correlation, shown, NOW_NS)
    assert cas() == 5
    one.on_answer(at_turn(one, 1).correlation, Response(404, {}, {"errors": []}), NOW_NS)
    assert cas() == 0, "nothing is there"
    for _ in range(10):
        deleted = at_turn(one, 2)
        one.memory.versions["secret/data/shop-1/0"] = 7
        one.on_answer(deleted.correlation, Response(204, {}, None), NOW_NS)
        assert cas() == (0 if "metadata" in deleted.request.path else 7)


def test_a_refused_check_and_set_is_final_and_in_doubt_after_silence():
    one = remembering(did("put-secret", keys=1, cas=True))
    refused = ended(one.on_answer(at_turn(one).correlation, answer(400, "did not match"), NOW_NS))
    at_turn(one)
    again = retry(one, time_out(one))
    doubtful = ended(one.on_answer(again.correlation, answer(400, "did not match"), NOW_NS))

    assert (refused.kind, doubtful.kind) == ("refused", "unknown")
    assert (again.request.body or {})["options"] == {"cas": 0}, "the same request, whatever was written meanwhile"


def test_tokens_are_used_until_they_are_spent_and_the_oldest_is_revoked():
    one = remembering(did("create-token"), did("use-token"), did("revoke-token"))
    assert (at_turn(one, 1), at_turn(one, 2)) == (None, None), "it holds none yet"
    for text, uses in (("hvs.a", 0), ("hvs.b", 2)):
        one.on_answer(at_turn(one).correlation, token(text, uses), NOW_NS)
    used = [at_turn(one, 1) for _ in range(4)]

    assert [sent.request.headers["X-Vault-Token"] for sent in used] == ["hvs.a", "hvs.b", "hvs.a", "hvs.b"]
    for sent in used:
        one.on_answer(sent.correlation, answer(200), NOW_NS)
    assert [held.text for held in one.memory.tokens] == ["hvs.a"]
    revoked = at_turn(one, 2)
    assert (revoked.request.body, revoked.request.headers) == ({"token": "hvs.a"}, {"X-Vault-Token": "hvs.root"})
    assert at_turn(one, 1) is None


@pytest.mark.parametrize(("status", "left"), [(403, []), (400, ["hvs.a"])])
def test_a_token_that_is_refused_is_held_no_more(status, left):
    one = remembering(did("create-token"), did("use-token"))
    one.on_answer(at_turn(one).correlation, token("hvs.a", 1), NOW_NS)
    outcome = ended(one.on_answer(at_turn(one, 1).correlation, answer(status, "no"), NOW_NS))

    assert outcome.kind == "refused"
    assert [held.text for held in one.memory.tokens] == left
    assert (at_turn(one, 1) is None) == (not left)


def test_a_use_without_an_answer_is_spent():
    one = remembering(did("create-token"), did("use-token"), retries=0)
    one.on_answer(at_turn(one).correlation, token("hvs.a", 1), NOW_NS)
    at_turn(one, 1)

    assert ended(time_out(one)).kind == "unknown"
    assert at_turn(one, 1) is None


@pytest.mark.parametrize(("status", "left"), [(204, []), (400, ["hvs.a"])])
def test_a_revocation_that_is_refused_leaves_its_token(status, left):
    one = remembering(did("create-token"), did("revoke-token"))
    one.on_answer(at_turn(one).correlation, token("hvs.a"), NOW_NS)
    ended(one.on_answer(at_turn(one, 1).correlation, answer(status), NOW_NS))

    assert [held.text for held in one.memory.tokens] == left


def test_a_machine_logs_in_and_holds_what_it_is_given_or_is_refused_without_a_token_of_the_cloud():
    one = remembering(did("login", machine="db-1"), did("use-token"))
    effects = one.on_timer(WorkTimer(0), 2 * SECOND_NS)
    (outcome,) = [effect for effect in effects if isinstance(effect, Outcome)]
    assert (outcome.kind, outcome.operation.attempts, outcome.operation.node) == ("refused", 0, "paris-1")
    assert not one.pending
    one.login_body = lambda machine: {"jwt": machine}
    sent = at_turn(one)
    one.on_answer(sent.correlation, token("hvs.a"), NOW_NS)

    assert (sent.request.body, sent.request.headers) == ({"role": "web", "jwt": "db-1"}, {})
    assert at_turn(one, 1).request.headers == {"X-Vault-Token": "hvs.a"}


def test_a_client_of_earlier_kinds_of_work_remembers_nothing():
    one = remembering(did("put-secret", keys=2), did("get-secret", keys=2))
    for workload in (0, 1):
        one.on_answer(at_turn(one, workload).correlation, secret(3), NOW_NS)

    assert one.memory.state() == {"tokens": (), "revoking": (), "versions": {}, "turns": {}}
    assert at_turn(one).request.path.endswith("/1"), "its operations are counted together"


def test_memory_is_part_of_the_state():
    one = remembering(did("create-token"), did("use-token"))
    one.on_answer(at_turn(one).correlation, token("hvs.a", 3), NOW_NS)
    again = Client(one.name, one.plan, one.nodes, one.state())

    assert at_turn(again, 1).request.headers["X-Vault-Token"] == "hvs.a"
    assert again.memory.tokens[0].uses == 2


EVENTS = st.lists(
    st.one_of(
        st.just(("work",)),
        st.tuples(st.just("answer"), st.sampled_from([200, 204, 307, 400, 403, 429, 472, 503]), st.integers(0, 9)),
        st.tuples(st.just("timer"), st.integers(0, 9)),
    ),
    max_size=40,
)


@settings(max_examples=examples(150))
@given(events=EVENTS, cut=st.integers(0, 40))
def test_every_operation_ends_once_and_a_saved_client_goes_on_the_same(events, cut):
    """Answers, late and in any order, timers and new work: no operation ends twice, none is forgotten."""
    one = client(retries=2)
    sent: list[SendRequest] = []
    timers: list[tuple] = []
    ended: list[int] = []
    for number, event in enumerate(events):
        if number == cut:
            one = Client(one.name, one.plan, one.nodes, one.state())
        if event[0] == "work":
            effects = one.on_timer(WorkTimer(0), 3 * SECOND_NS)
        elif event[0] == "answer":
            if not sent:
                continue
            refusal = answer(event[1], location="http://paris-2:8200/" if event[1] == 307 else "")
            effects = one.on_answer(sent[event[2] % len(sent)].correlation, refusal, NOW_NS)
        else:
            if not timers:
                continue
            effects = one.on_timer(timers[event[1] % len(timers)], 3 * SECOND_NS)
        sent += [effect for effect in effects if isinstance(effect, SendRequest)]
        timers += [
            effect.payload
            for effect in effects
            if isinstance(effect, SetTimer) and not isinstance(effect.payload, WorkTimer)
        ]
        ended += [effect.operation.number for effect in effects if isinstance(effect, Outcome)]
        assert all(0 < operation.attempts <= one.plan.retries + len(NODES) + 2 for operation in one.pending.values())
    assert len(ended) == len(set(ended))
    assert sorted([*ended, *one.pending]) == list(range(1, one.serial + 1))


# ---- every state, every event


def test_no_answer_and_no_timer_brings_a_client_down():
    """Answers of any status, of this attempt or another; timers that are due, late, or gone."""
    work = tuple(WorkloadPlan(operation=name, every_ns=5) for name in ("put-secret", "get-secret", "encrypt"))
    group = plan(*work)
    places = ("", "http://paris-2:8200/v1/x", "https://tokyo-1:8200", "nowhere", "//", "http://")
    for seed in range(200):
        random, client = Random(seed), Client("shop-1", group, NODES)
        effects = client.start(0)
        for now_ns in range(120):
            timers = [effect.payload for effect in effects if isinstance(effect, SetTimer)]
            sent = [effect.correlation for effect in effects if isinstance(effect, SendRequest)]
            if sent and random.random() < 0.6:
                chosen = random.choice(sent)
                correlation = chosen._replace(attempt=chosen.attempt + random.choice((0, 0, 0, 1, -1)))
                status = random.choice((0, 200, 204, 307, 307, 400, 403, 404, 429, 472, 473, 500, 503, 999))
                answer = Response(status, {"Location": random.choice(places)}, None, random.choice(("", DR_SECONDARY)))
                effects += client.on_answer(correlation, answer, now_ns)
            else:
                effects += client.on_timer(random.choice(timers), now_ns)
            effects = effects[-30:] + client.start(now_ns)
        assert all(operation.attempts <= group.retries + len(NODES) + 2 for operation in client.pending.values())


# ---- longer pauses, budgets, health checks, and the index


def careful(**how: Any) -> Client:
    made = replace(plan(retries=9), **how)
    return Client("shop-1", made, NODES)


def pauses(one: Client, count: int) -> list[tuple[int, int]]:
    """The pauses of an operation that is refused again and again: how long, and how much they vary."""
    found, sent = [], begun(one)
    for _ in range(count):
        (timer,) = one.on_answer(sent.correlation, answer(503), NOW_NS)
        assert isinstance(timer, SetTimer)
        found.append((timer.delay_ns, timer.spread_ppm))
        sent = retry(one, [timer])
    return found


def test_pauses_double_up_to_a_limit_and_vary():
    assert pauses(careful(backoff_ns=100), 3) == [(100, 0)] * 3
    longer = careful(backoff_ns=100, max_backoff_ns=1_000, jitter_ppm=200_000)
    assert pauses(longer, 5) == [(delay, 200_000) for delay in (100, 200, 400, 800, 1_000)]


def test_a_budget_pays_for_further_attempts_and_fills_with_operations():
    one = careful(budget_ppm=500_000)
    assert len(pauses(one, 8)) == 8, "ten are there at the start"
    assert one.credit_ppm == 2_000_000
    for _ in range(2):
        sent = begun(one)
        while True:
            effects = one.on_answer(sent.correlation, answer(503), NOW_NS)
            if isinstance(effects[0], Outcome):
                break
            sent = retry(one, effects)
    assert one.credit_ppm < 1_000_000
    sent = begun(one)
    assert one.credit_ppm >= 500_000
    again = Client("shop-1", one.plan, NODES, one.state())
    assert again.credit_ppm == one.credit_ppm
    assert ended(one.on_answer(sent.correlation, answer(503), NOW_NS)).kind == "refused"


def check(one: Client, *statuses: int) -> None:
    """A round of health checks with these answers, 0 for none."""
    following, *asked = one.on_timer(CheckTimer(), 0)
    assert following == SetTimer(one.plan.check_ns, CheckTimer())
    for sent, status in zip(asked, statuses, strict=True):
        assert isinstance(sent, SendRequest)
        assert sent.request.path == "/v1/sys/health"
        if status:
            assert one.on_answer(sent.correlation, answer(status), NOW_NS) == []


def test_health_checks_say_where_every_attempt_goes():
    one = careful(check_ns=SECOND_NS)
    assert one.start(0) == [SetTimer(0, CheckTimer()), SetTimer(2 * SECOND_NS, WorkTimer(0))]
    check(one, 429, 200, 472)
    sent = begun(one)
    assert sent.node == "paris-2"
    sent = retry(one, time_out(one))
    assert sent.node == "paris-2", "only its checks tell a client of this"
    for _ in range(3):
        check(one, 429, 0, 200)
    sent = retry(one, one.on_answer(sent.correlation, answer(307, location="http://paris-1:8200/v1/x"), NOW_NS))
    assert sent.node == "tokyo-1"
    again = Client("shop-1", one.plan, NODES, one.state())
    assert begun(again).node == "tokyo-1"


def test_a_consistent_client_sends_the_index_of_its_last_write_and_asks_again_where_it_is_not_known():
    one = careful(consistent=True)
    sent = begun(one)
    one.on_answer(sent.correlation, Response(200, {"X-Vault-Index": "abc"}), NOW_NS)
    sent = begun(one)
    assert sent.request.headers["X-Vault-Index"] == "abc"
    assert retry(one, one.on_answer(sent.correlation, answer(412), NOW_NS)).node == "paris-2"
    assert Client("shop-1", one.plan, NODES, one.state()).index == "abc"

    other = careful()
    sent = begun(other)
    other.on_answer(sent.correlation, Response(200, {"X-Vault-Index": "abc"}), NOW_NS)
    assert "X-Vault-Index" not in begun(other).request.headers
