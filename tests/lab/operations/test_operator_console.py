"""The operators' console, by itself and in a lab: no fault is aimed at it, and runbooks can be saved half way."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.operations.operator_console import RETRY_NS, Finished, OperatorConsole
from labkit.lab.operations.patience import Patience
from labkit.lab.operations.runbook_effects import Ask, Credentials, RunbookError
from labkit.lab.operations.runbooks import RUNBOOKS
from labkit.lab.plan.blueprint import pair
from labkit.lab.wire.host_services import ResolvedNode
from labkit.lab.wire.messages import ApiAnswer, ApiRequest, AskAgain, AskDeadline, Correlation
from labkit.lab.wire.reports import AskEnded, RunbookEnded
from labkit.service.message import Response
from labkit.vault.core import Leadership

SECOND_NS = 1_000_000_000

HEALTH = Ask("paris", "GET", "sys/health")


# ---- the console by itself, outside a fake


@pytest.fixture
def console(outside):
    """A console that knows that paris-1 serves paris and that paris-2 is down."""
    outside.known = {
        "active://paris": ResolvedNode("paris-1", "paris", True),
        "http://paris-1:8200": ResolvedNode("paris-1", "paris", True),
        "http://paris-2:8200": ResolvedNode("paris-2", "paris", False),
    }
    made = OperatorConsole(pair(), outside.services)
    made.credentials["paris"] = Credentials("hvs.root", ("aa",))
    return made


def answered(console: OperatorConsole, sent: tuple, status: int, code: str = "", text: str = "") -> None:
    """Let an answer to what was sent arrive."""
    console.receive("paris-1", ApiAnswer(sent[3].correlation, Response(status, {}, {"errors": [text]}, code)))


def test_a_request_is_sent_from_the_clusters_operator_with_the_root_token(console, outside):
    number = console.ask(HEALTH, 5 * SECOND_NS)
    ((source, target, what, message, _),) = outside.sent

    assert outside.timers == [(5 * SECOND_NS, AskDeadline(number), 0)]
    assert (source, target, what) == ("paris-operator", "paris-1", "request")
    assert isinstance(message, ApiRequest)
    assert message.correlation == Correlation("paris-operator", number, 1)
    assert message.request.headers == {"X-Vault-Token": "hvs.root"}


@pytest.mark.parametrize(("status", "code"), [(307, "not_active"), (503, "not_active"), (503, "no_active_node")])
def test_a_node_that_says_by_its_code_that_it_is_not_the_active_one_is_no_answer(console, outside, status, code):
    number = console.ask(HEALTH)
    answered(console, outside.sent[0], status, code, "any text")

    assert console.answers == {}
    assert outside.timers[-1] == (RETRY_NS, AskAgain(number, 1), 0)
    console.on_timer(AskAgain(number, 1))
    assert outside.sent[-1][3].correlation.attempt == 2


@pytest.mark.parametrize("path", ["sys/health", "/sys/health", "/v1/sys/health"])
def test_a_path_may_be_written_with_its_prefix(console, outside, path):
    console.ask(Ask("paris", "GET", path))

    assert outside.sent[0][3].request.path == "/v1/sys/health"


@pytest.mark.parametrize("code", ["", "sealed"])
def test_no_text_makes_a_refusal_a_question_of_which_node(console, outside, code):
    number = console.ask(HEALTH)
    answered(console, outside.sent[0], 503, code, "no active node of this cluster is known; try again soon")

    assert console.answers[number].status == 503
    assert [(report.asker, report.outcome) for report in outside.reports] == [("paris-operator", "refused")]


@pytest.mark.parametrize("node", ["", "paris-1"])
def test_what_may_have_been_carried_out_is_unknown_and_not_sent_again(console, outside, node):
    number = console.ask(HEALTH._replace(node=node))
    answered(console, outside.sent[0], 503, "forwarding_lost")

    assert (console.answers[number].code, len(outside.sent)) == ("forwarding_lost", 1)
    assert [report.outcome for report in outside.reports] == ["unknown"]


@pytest.mark.parametrize(("node", "code"), [("paris-2", "not_running"), ("paris-9", "no_such_node")])
def test_a_node_that_cannot_be_asked_is_silence_with_a_code(console, outside, node, code):
    number = console.ask(Ask("paris", "GET", "sys/health", node=node))

    assert (console.answers[number].status, console.answers[number].code) == (0, code)
    assert outside.sent == []


def test_the_end_of_its_time_is_silence_and_unknown(console, outside):
    number = console.ask(HEALTH)
    console.on_timer(AskDeadline(number))
    answered(console, outside.sent[0], 200)

    assert console.answers[number].status == 0
    assert [type(report) for report in outside.reports] == [AskEnded]
    assert outside.reports[0].outcome == "unknown"


def test_one_timer_is_set_for_all_that_waits_and_comes_back_at_the_earliest_deadline(console, outside):
    numbers = [console.ask(HEALTH, seconds * SECOND_NS) for seconds in (5, 9, 7, 5)]
    assert outside.timers == [(5 * SECOND_NS, AskDeadline(numbers[0]), 0)]
    answered(console, outside.sent[0], 200)
    outside.now_ns = 5 * SECOND_NS
    console.on_timer(AskDeadline(numbers[0]))

    assert {number: answer.status for number, answer in console.answers.items()} == {numbers[0]: 200, numbers[3]: 0}
    assert outside.timers[1:] == [(2 * SECOND_NS, AskDeadline(numbers[2]), 0)]
    console.ask(HEALTH, SECOND_NS)
    assert [delay_ns for delay_ns, _, _ in outside.timers[2:]] == [SECOND_NS]


def test_a_request_with_an_earlier_deadline_has_its_own_timer_and_the_later_one_ends_in_time(console, outside):
    later, earlier = console.ask(HEALTH, 9 * SECOND_NS), console.ask(HEALTH, 5 * SECOND_NS)
    ended: dict[int, int] = {}
    due = {at_ns: timer for at_ns, timer, _ in outside.timers}
    while due:
        outside.now_ns = min(due)
        timer, known = due.pop(outside.now_ns), len(outside.timers)
        console.on_timer(timer)
        due |= {outside.now_ns + delay_ns: timer for delay_ns, timer, _ in outside.timers[known:]}
        ended |= {number: outside.now_ns for number in console.answers if number not in ended}

    assert ended == {earlier: 5 * SECOND_NS, later: 9 * SECOND_NS}
    assert console.timed_ns == 0


def test_what_was_saved_with_a_timer_for_each_request_goes_on(console, outside):
    numbers = [console.ask(HEALTH, seconds * SECOND_NS) for seconds in (5, 9)]
    state = console.state()
    del state["timed_ns"]
    again = OperatorConsole(pair(), outside.services, state)
    for at_ns, number in zip((5, 9), numbers, strict=True):
        outside.now_ns = at_ns * SECOND_NS
        again.on_timer(AskDeadline(number))
        assert again.answers[number].status == 0


def test_a_runbook_ends_with_a_report(console, outside):
    number = console.start("seal", cluster="paris")
    answered(console, outside.sent[0], 204)

    assert outside.reports[-1] == RunbookEnded(number, True, "the active node of paris is sealed")
    assert console.finished[number] == Finished(True, "the active node of paris is sealed")


def test_a_console_goes_on_from_its_state(console, outside):
    number = console.start("seal", cluster="paris")
    again = OperatorConsole(pair(), outside.services, console.state())
    answered(again, outside.sent[0], 403, "", "no")

    assert again.finished[number] == Finished(False, "seal paris: answered 403: no")


# ---- in a lab


def test_an_answer_lies_under_its_number(quiet):
    number = quiet.parts.console.ask(HEALTH)
    assert number not in quiet.parts.console.answers
    quiet.run("1s")

    assert quiet.parts.console.answers[number].status == 200
    assert quiet.parts.console.asks == {}


def test_what_was_answered_leaves_no_timers(quiet):
    for _ in range(20):
        quiet["paris"].get("sys/health")

    timers = [payload for _, (_, _, payload) in quiet.parts.clock.pending() if isinstance(payload, AskDeadline)]
    assert len(timers) <= 1


def test_the_root_token_is_sent_unless_another_is_given(quiet):
    path = "auth/token/lookup-self"
    numbers = [quiet.parts.console.ask(Ask("paris", "GET", path, token=token)) for token in (None, "", "hvs.wrong")]
    quiet.run("1s")

    assert [quiet.parts.console.answers[number].status for number in numbers] == [200, 403, 403]


def test_asking_draws_nothing(lab):
    """Two labs with writers: one asks all the time, and the luck of its clients is the same."""
    other = Lab.restore(lab.snapshot())
    for _ in range(50):
        lab["paris"].request("GET", "sys/health")
        lab["tokyo"].request("GET", "sys/health")
        lab.run("20ms")
    other.run(until=f"{lab.now}ns")

    mine, theirs = (
        [event for event in one.trace.select("message") if "operator" not in event.source + event.target]
        for one in (lab, other)
    )
    assert mine == theirs
    assert len(mine) > 100
    assert lab.parts.random_streams.state() == other.parts.random_streams.state()


def test_an_operators_line_is_constant_and_survives_every_fault(quiet):
    took = []
    quiet.isolate("paris")
    quiet.lose("paris", "paris", 90)
    quiet.slow("paris", "tokyo", factor=50)
    for _ in range(20):
        at_ns = quiet.now
        assert quiet["paris"].get("secret/metadata/x").status == 404
        took.append(quiet.now - at_ns)

    assert len(set(took)) == 1


def test_it_looks_for_a_node_until_there_is_one(calm):
    calm.crash("paris-1")
    number = calm.parts.console.ask(Ask("paris", "GET", "sys/health"))
    assert calm.parts.console.asks[number].asked == ""
    calm.run("10s")

    assert calm.parts.console.answers[number].status == 200
    assert calm.parts.console.answers[number].body["cluster_name"] == "paris"


def test_a_standby_that_was_asked_as_the_active_node_is_asked_again_elsewhere(calm):
    """The node that is asked steps down while the request travels."""
    number = calm.parts.console.ask(Ask("paris", "POST", "secret/data/app", {"data": {"a": 1}}))
    calm.parts.nodes["paris-1"].vault.set_leadership(Leadership(False))
    calm.run("10s")

    assert calm.parts.console.answers[number].ok
    assert calm.trace.select("leader", cluster="paris")[-1].term == 2


def test_a_503_with_another_reason_is_an_answer(calm):
    """A secondary that is not ready says 503 too, and asking another node would not help."""
    calm.work_through("disable", cluster="tokyo")
    calm.partition("paris", "tokyo")
    token = calm["paris"].post("sys/replication/dr/primary/secondary-token", {"id": "t2"}).wrap_info["token"]
    before = len(calm.trace.select("message", what="request", source="tokyo-operator"))
    answer = calm["tokyo"].post("sys/replication/dr/secondary/enable", {"token": token})

    assert answer.status == 503
    assert "error unwrapping secondary token" in answer.errors[0]
    assert len(calm.trace.select("message", what="request", source="tokyo-operator")) == before + 1


def test_who_looks_looks_four_times_a_second(calm):
    calm.crash("paris")
    number = calm.parts.console.ask(HEALTH, 10 * SECOND_NS)
    calm.run("9900ms")

    assert RETRY_NS == SECOND_NS // 4
    assert calm.parts.console.asks[number].tries == 40
    calm.run("1s")
    assert calm.parts.console.answers[number].status == 0


def test_an_answer_to_an_earlier_try_is_ignored(quiet):
    number = quiet.parts.console.ask(HEALTH)
    pending = quiet.parts.console.asks[number]
    quiet.parts.console.asks[number] = pending._replace(tries=pending.tries + 1)
    quiet.run("1s")

    assert number not in quiet.parts.console.answers


# ---- runbooks


def test_a_runbook_ends_with_its_sentence(quiet):
    number = quiet.parts.console.start("enable-primary", cluster="paris")
    assert quiet.parts.console.runbooks[number].name == "enable-primary"
    quiet.run("5s")

    assert quiet.parts.console.finished[number] == Finished(True, "paris is a DR primary")
    assert quiet.parts.console.runbooks == {}


def test_a_runbook_that_cannot_go_on_says_at_which_step_and_what_came(quiet):
    with pytest.raises(RunbookError, match=r"start an operation token on paris: answered 400: .*disabled"):
        quiet.work_through("promote", cluster="paris")


def test_a_runbook_gives_up_after_its_time(calm):
    calm.crash("paris")
    with pytest.raises(RunbookError, match="demote paris: no answer"):
        calm.work_through("demote", cluster="paris")


def test_a_runbook_does_not_wait_for_a_cluster_that_only_another_would_unseal(calm):
    calm.crash("tokyo")
    calm.restart("tokyo")
    began_ns = calm.now
    with pytest.raises(RunbookError, match="no node of tokyo is running and unsealed; restart and unseal one first"):
        calm.work_through("promote", cluster="tokyo")

    assert calm.now - began_ns < SECOND_NS
    assert calm.parts.console.asks == {}


@pytest.mark.parametrize(
    "cut_after", [0, 5, 12, *[pytest.param(many, marks=pytest.mark.slow) for many in (3, 8, 20, 40)]]
)
def test_a_runbook_saved_half_way_goes_on_where_it_stood(quiet, cut_after):
    number = quiet.parts.console.start("replicate", primary="paris", secondary="tokyo")
    for _ in range(cut_after):
        quiet.step()
    again = Lab.restore(quiet.snapshot())
    for one in (quiet, again):
        one.run("20s")

    assert again.parts.console.finished[number] == Finished(True, "tokyo streams from paris")
    assert again.trace.digest() == quiet.trace.digest()


def test_a_saved_runbook_that_waited_longer_than_it_would_now_gives_up(quiet, monkeypatch):
    """As one in a file of an earlier version may have."""
    number = quiet.parts.console.start("replicate", primary="paris", secondary="tokyo")
    quiet.run(until=lambda lab: lab["tokyo"].mode == "secondary")
    quiet.partition("paris", "tokyo")
    quiet.run("5s")
    monkeypatch.setattr(Patience, "pause_ns", lambda patience, status: 0)
    again = Lab.restore(quiet.snapshot())
    again.run("1s")

    assert not again.parts.console.finished[number].ok
    assert again.parts.console.runbooks == {}


def test_what_is_kept_of_the_console_is_plain(quiet):
    quiet.parts.console.start("replicate", primary="paris", secondary="tokyo")
    quiet.run("200ms")
    kept = quiet.parts.console.state()

    assert [running[1] for running in kept["runbooks"]] == ["replicate"]
    assert all(type(running) is not type(lambda: 0) for running in kept["runbooks"])
    assert set(kept) == {"serial", "asks", "runbooks", "answers", "finished", "credentials", "former", "kept"} | {
        "refused_messages",
        "timed_ns",
    }


def test_after_replication_the_secondary_is_opened_with_the_primarys_keys(calm):
    assert calm.parts.console.credentials["tokyo"] == calm.parts.console.credentials["paris"]


# ---- what is not its own


def test_an_answer_counts_only_from_the_node_that_was_asked(console, outside):
    number = console.ask(HEALTH)
    correlation = outside.sent[0][3].correlation
    console.receive("tokyo-1", ApiAnswer(correlation, Response(200, {}, {})))
    assert console.answers == {}

    console.receive("paris-1", ApiAnswer(correlation, Response(200, {}, {})))
    assert list(console.answers) == [number]


def test_what_is_not_asked_as_it_should_be_leaves_nothing_behind(console, outside):
    outside.done.clear()
    number: Any = 7
    with pytest.raises(AttributeError):
        console.ask(Ask("paris", "GET", number))
    with pytest.raises(ValueError, match="nonsense"):
        console.start("seal", nonsense=1)

    assert (console.serial, console.asks, console.runbooks, outside.done) == (0, {}, {}, [])


def test_a_wait_that_is_broken_off_leaves_nothing_behind(quiet):
    class Interrupted:
        now = quiet.parts.clock.now

        def refuse_running(self) -> None:
            """It is not running."""

        def run(self, **how: Any) -> bool:
            raise KeyboardInterrupt

    quiet.parts.clock = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        quiet["paris"].get("sys/health")

    assert (quiet.parts.console.asks, quiet.parts.console.answers) == ({}, {})


def is_on_its_way(lab: Lab, what: str) -> bool:
    """Whether a message of this kind is in flight."""
    return any(item[0] == "deliver" and item[2].what == what for _, item in lab.parts.clock.pending())


def test_a_refusal_that_comes_from_another_cluster_is_no_refusal_of_this_one(quiet):
    """The primary that issued the token has no active node when it is shown: an answer, at once and only once."""
    quiet["paris"].post("sys/replication/dr/primary/enable", {})
    token = quiet["paris"].post("sys/replication/dr/primary/secondary-token", {"id": "tokyo"}).wrap_info["token"]
    body = {"token": token}
    number = quiet.parts.console.ask(Ask("tokyo", "POST", "sys/replication/dr/secondary/enable", body))
    quiet.run(until=lambda lab: is_on_its_way(lab, "bootstrap_request"))
    quiet.parts.nodes["paris-1"].vault.set_leadership(Leadership(active=False))
    quiet.run("1s")
    answer = quiet.parts.console.answers[number]

    assert (answer.status, answer.code) == (400, "")
    assert "not the active node" in answer.errors[0]
    assert "spent" in answer.errors[0]
    asked = [event for event in quiet.trace.select("message", what="request") if event.source == "tokyo-operator"]
    assert len(asked) == 1


# ---- every state, every event

PARTS: tuple[Any, ...] = (
    {"mode": "primary", "state": "running", "last_wal": 3, "merkle_root": "00", "last_remote_wal": 3},
    {"mode": "secondary", "state": "stream-wals", "last_remote_wal": 3, "merkle_root": "00", "secondaries": []},
    {"mode": "secondary", "state": "idle", "known_secondaries": ["tokyo"]},
    {"mode": "disabled"},
    {},
    None,
    [],
    "text",
    7,
)
WHOLE_BODIES: tuple[Any, ...] = (
    None,
    {},
    {"sealed": True, "t": 1},
    {"sealed": True, "t": "x"},
    {"required": 1, "otp": "abc", "nonce": "n"},
    {"required": None, "otp": 7},
    {"encoded_token": "AAAA"},
    {"encoded_token": 7},
    {"wrap_info": {"token": "t"}},
    {"wrap_info": []},
    {"errors": ["refused"]},
)
CODES = ("", "", "", "not_active", "attempt_in_progress", "dr_secondary")
ARGUMENTS = {
    "replicate": {"primary": "paris", "secondary": "tokyo"},
    "enable-secondary": {"cluster": "tokyo", "primary": "paris"},
    "repoint": {"cluster": "tokyo", "to": "paris"},
    "failover": {"old": "paris", "new": "tokyo"},
    "ask": {"cluster": "paris", "method": "GET", "path": "sys/health"},
    "operation-token": {"cluster": "paris", "keep": "drop"},
}


@pytest.mark.parametrize("name", sorted({*RUNBOOKS} - {"decode"}))  # which asks nothing
def test_no_answer_and_no_timer_ends_a_runbook_but_by_its_own_end(outside, name):
    """Answers of any status and shape, in any order with timers that are due, late or another's."""
    for seed in range(60):
        random = Random(seed)
        outside.done.clear()
        outside.known = {
            f"active://{cluster}": ResolvedNode(f"{cluster}-1", cluster, True) for cluster in ("paris", "tokyo")
        } | {f"http://{plan}:8200": ResolvedNode(plan, plan[:5], True) for plan in ("paris-1", "paris-2", "tokyo-1")}
        console = OperatorConsole(pair(), outside.services)
        console.credentials.update(dict.fromkeys(("paris", "tokyo"), Credentials("hvs.root", ("aa", "bb"))))
        number = console.start(name, **ARGUMENTS.get(name, {"cluster": "paris"}))
        for _ in range(80):
            happen(random, console, outside)
        for pending in list(console.asks.values()):
            console.on_timer(AskDeadline(pending.number))
        assert number in console.finished or number in console.runbooks


def happen(random: Random, console: OperatorConsole, outside: Any) -> None:
    """One event: mostly the answer to what was sent last, else any timer that was set, each once."""
    timers = [entry for entry in outside.done if entry[0] == "after"]
    if timers and (random.random() < 0.3 or not outside.sent):
        due = random.choice(timers)
        outside.done.remove(due)
        console.on_timer(due[1][1])
        return
    _, target, _, message, _ = random.choice(outside.sent[-2:])
    body = random.choice(WHOLE_BODIES) if random.random() < 0.5 else {"data": random.choice(PARTS)}
    status = random.choice((200, 200, 200, 200, 204, 307, 400, 403, 472, 503))
    console.receive(target, ApiAnswer(message.correlation, Response(status, {}, body, random.choice(CODES))))


def test_each_message_that_is_no_answer_is_counted_and_reported(console, outside):
    for number in (1, 2):
        console.refuse("paris-operator", "tokyo-1", "it answers nothing")
        assert console.refused_messages == number
    report = outside.reports[-1]
    assert (report.node, report.fields) == ("paris-operator", (("reason", "it answers nothing"), ("source", "tokyo-1")))


def test_a_reading_whose_path_holds_a_kept_value_is_not_noted(quiet):
    """Its path is shown nowhere."""
    console = quiet.parts.console
    quiet["paris"].post("secret/data/a", {"data": {"x": 1}})
    console.ask(Ask("paris", "GET", "secret/data/a", shown="secret/data/…"))
    console.ask(Ask("paris", "GET", "secret/data/a"))
    quiet.run("1s")
    assert [read.path for read in quiet.ledger.read_log.reads] == ["secret/data/a"]
