"""Runbooks, driven by hand: which requests they make, in which order, and what stops them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.operations.operation_tokens import generate_token
from labkit.lab.operations.patience import POLL_NS
from labkit.lab.operations.runbook_effects import (
    AdoptCredentials,
    Ask,
    Credentials,
    LookUpClusters,
    LookUpCredentials,
    LookUpNodes,
    LookUpValues,
    Note,
    Pause,
    RunbookError,
)
from labkit.lab.operations.runbooks import (
    MAX_ARRIVAL_POLLS,
    MAX_CATCH_UP_IDLE_NS,
    MAX_IDLE_NS,
    RUNBOOKS,
    _wait_for_root,
)
from labkit.service.durations import SECOND_NS
from labkit.service.message import Response, silence
from labkit.vault.sealing.otp import encode

DR = "sys/replication/dr/"
ATTEMPT = DR + "secondary/generate-operation-token/"
CREDENTIALS = Credentials("hvs.root", ("aa", "bb", "cc", "dd", "ee"))
TOKEN = "hvs." + "t" * 24
OTP = "o" * 28

Answers = dict[str, Any]


def ok(body: dict | None = None, **members: Any) -> Response:
    return Response(200, {}, members or body)


def status(mode: str, state: str) -> Response:
    return ok(data={"mode": mode, "state": state})


def refused(status: int, text: str, code: str = "") -> Response:
    return Response(status, {}, {"errors": [text]}, code)


def ceremony(answers: Answers) -> Answers:
    """The answers of a threshold of three, beside others."""
    return {
        f"POST {ATTEMPT}attempt": ok(nonce="n", required=3, otp=OTP),
        f"POST {ATTEMPT}update": ok(encoded_token=encode(TOKEN, OTP)),
        **answers,
    }


def drive(steps: Any, answers: Answers, limit: int = 3_000) -> tuple[list[Any], Any]:
    """Answer every request from a table; return what was wanted, and how the runbook ended."""
    wanted: list[Any] = []
    answer: Any = None
    try:
        for _ in range(limit):
            step = steps.send(answer)
            wanted.append(step)
            if isinstance(step, Ask):
                found = answers[f"{step.method} {step.path}"]
                answer = found(step) if callable(found) else found
                answer = answer.pop(0) if isinstance(answer, list) else answer
            else:
                answer = looked_up(step)
    except StopIteration as end:
        return wanted, end.value
    except RunbookError as error:
        return wanted, error
    raise AssertionError(f"no end after {limit} steps")


def looked_up(step: Any) -> Any:
    """What the console answers to anything but a request."""
    if isinstance(step, LookUpValues):
        return {}
    if isinstance(step, LookUpClusters):
        return ("paris", "tokyo", "lima", "oslo")
    if isinstance(step, LookUpNodes):
        return tuple(f"{step.cluster}-{number}" for number in range(1, 5))
    return CREDENTIALS if isinstance(step, LookUpCredentials) else True


def pauses(wanted: list[Any]) -> int:
    """How often time was let pass."""
    return sum(isinstance(step, Pause) for step in wanted)


def asked(wanted: list[Any]) -> list[tuple[str, str, str]]:
    """The requests made, status polls left out."""
    return [(w.cluster, w.method, w.path) for w in wanted if isinstance(w, Ask) and w.path != DR + "status"]


def test_a_request_by_itself():
    wanted, end = drive(RUNBOOKS["ask"]("paris", "GET", "sys/health"), {"GET sys/health": ok()})

    assert wanted == [LookUpValues(), Ask("paris", "GET", "sys/health")]
    assert end == "GET sys/health: 200"


def test_a_refusal_ends_it_with_what_was_wanted_and_what_came():
    _, error = drive(RUNBOOKS["ask"]("paris", "GET", "x"), {"GET x": refused(403, "permission denied")})

    assert isinstance(error, RunbookError)
    assert str(error) == "GET x on paris: answered 403: permission denied"


def test_silence_ends_it_too():
    _, error = drive(RUNBOOKS["seal"]("paris"), {"POST sys/seal": silence("nobody there")})

    assert str(error) == "seal paris: no answer: nobody there"


def test_replicate_is_the_apis_own_calls_in_order():
    polls = {
        "paris": [status("disabled", ""), status("primary", "running")],
        "tokyo": [status("disabled", ""), *[status("secondary", "idle")] * 2, status("secondary", "stream-wals")],
    }
    answers = {
        f"GET {DR}status": lambda step: polls[step.cluster].pop(0),
        f"POST {DR}primary/enable": ok(),
        f"POST {DR}primary/secondary-token": ok(wrap_info={"token": "ey.x"}),
        f"POST {DR}secondary/enable": ok(),
        "GET sys/seal-status": ok(sealed=False),
    }
    wanted, end = drive(RUNBOOKS["replicate"]("paris", "tokyo"), answers)

    assert asked(wanted)[:3] == [
        ("paris", "POST", DR + "primary/enable"),
        ("paris", "POST", DR + "primary/secondary-token"),
        ("tokyo", "POST", DR + "secondary/enable"),
    ]
    assert end == "tokyo streams from paris"
    assert sum(isinstance(step, Pause) for step in wanted) == 2
    assert AdoptCredentials("tokyo", "paris") in wanted
    enable = next(step for step in wanted if isinstance(step, Ask) and step.path == DR + "secondary/enable")
    assert (enable.body, enable.token) == ({"token": "ey.x"}, "hvs.root")


def test_a_primary_gets_one_more_secondary_without_being_enabled_again():
    polls = {
        "paris": [status("primary", "running")],
        "lima": [status("disabled", ""), status("secondary", "stream-wals")],
    }
    answers = {
        f"GET {DR}status": lambda step: polls[step.cluster].pop(0),
        f"POST {DR}primary/secondary-token": ok(wrap_info={"token": "ey.x"}),
        f"POST {DR}secondary/enable": ok(),
        "GET sys/seal-status": ok(sealed=False),
    }
    wanted, end = drive(RUNBOOKS["replicate"]("paris", "lima"), answers)

    assert asked(wanted)[0] == ("paris", "POST", DR + "primary/secondary-token")
    assert end == "lima streams from paris"


@pytest.mark.parametrize(
    ("mode", "way_out"), [("secondary", "repoint it, or disable it first"), ("primary", "demote or disable it first")]
)
def test_a_cluster_that_replicates_already_is_refused_before_a_token_is_issued(mode, way_out):
    polls = {"paris": status("primary", "running"), "tokyo": status(mode, "x")}
    wanted, error = drive(
        RUNBOOKS["replicate"]("paris", "tokyo"), {f"GET {DR}status": lambda step: polls[step.cluster]}
    )

    assert asked(wanted) == []
    assert str(error) == f"enable tokyo as secondary of paris: tokyo is a {mode} already; {way_out}"


def test_an_id_that_is_known_is_revoked_before_a_cluster_is_enabled_under_it_again():
    tokens = [refused(400, "known already"), ok(wrap_info={"token": "ey.y"})]
    answers = all_well("enable-secondary") | {
        f"POST {DR}primary/secondary-token": lambda step: tokens.pop(0),
        f"POST {DR}primary/revoke-secondary": Response(204, {}),
    }
    wanted, end = drive(RUNBOOKS["enable-secondary"]("tokyo", "paris"), answers)
    paths = [path for _, _, path in asked(wanted)]

    assert end == "tokyo streams from paris"
    assert paths[:3] == [
        DR + "primary/secondary-token",
        DR + "primary/revoke-secondary",
        DR + "primary/secondary-token",
    ]


def repoint(known: list[str], **answers: Any) -> tuple[list[tuple[str, Any]], Any]:
    """Let paris follow tokyo, where ids are known; return what was asked of whom from the token on, and the end."""
    statuses = [
        ok(data={"mode": "primary", "state": "running", "known_secondaries": known}),
        status("secondary", "idle"),
        status("secondary", "stream-wals"),
    ]
    table = all_well("repoint") | {
        f"GET {DR}status": statuses,
        f"POST {DR}primary/revoke-secondary": Response(204, {}),
        **{f"POST {DR}{path.replace('_', '/', 1).replace('_', '-')}": answer for path, answer in answers.items()},
    }
    wanted, end = drive(RUNBOOKS["repoint"]("paris", "tokyo"), table)
    asks = [step for step in wanted if isinstance(step, Ask) and ATTEMPT not in step.path]
    return [(step.path.removeprefix(DR), (step.body or {}).get("id")) for step in asks], end


@pytest.mark.parametrize(
    ("known", "fresh", "revoked"),
    [
        ([], "paris", []),
        (["lima", "paris2"], "paris", []),
        (["paris"], "paris~2", ["paris"]),
        (["lima~2", "paris~2"], "paris", ["paris~2"]),
        (["paris", "paris~2"], "paris~3", ["paris", "paris~2"]),
    ],
)
def test_a_cluster_is_pointed_elsewhere_under_a_fresh_id_and_its_others_are_revoked_once_it_streams(
    known, fresh, revoked
):
    asks, end = repoint(known)

    assert end == "paris streams from tokyo"
    assert asks == [
        ("status", None),
        ("primary/secondary-token", fresh),
        ("secondary/update-primary", None),
        ("status", None),
        ("status", None),
        *(("primary/revoke-secondary", name) for name in revoked),
        ("secondary/operation-token/delete", None),
    ]


def test_a_refused_repoint_leaves_neither_token_nor_id_behind_and_what_it_follows_is_untouched():
    asks, error = repoint(["paris"], secondary_update_primary=refused(400, "the token is spent"))

    assert str(error) == "point paris at tokyo: answered 400: the token is spent"
    assert asks[-2:] == [("primary/revoke-secondary", "paris~2"), ("secondary/operation-token/delete", None)]


@pytest.mark.parametrize("lost", [silence("no answer"), refused(503, "may have been", "forwarding_lost")])
def test_an_id_that_may_be_in_use_is_not_revoked(lost):
    asks, error = repoint(["paris"], secondary_update_primary=lost)

    assert str(error).startswith("point paris at tokyo: ")
    assert asks[-2:] == [("secondary/update-primary", None), ("secondary/operation-token/delete", None)]


def test_an_issue_that_is_refused_leaves_no_operation_token_behind():
    asks, error = repoint([], primary_secondary_token=refused(403, "permission denied"))

    assert str(error) == "issue an activation token for paris on tokyo: answered 403: permission denied"
    assert asks[-1] == ("secondary/operation-token/delete", None)


def test_the_ceremony_gives_as_many_shares_as_are_wanted_and_unmasks_the_token():
    wanted, token = drive(generate_token("tokyo"), ceremony({}))
    given = [step.body for step in wanted if isinstance(step, Ask) and step.path == ATTEMPT + "update"]

    assert token == TOKEN
    assert given == [{"key": share, "nonce": "n"} for share in ("aa", "bb", "cc")]


def test_an_attempt_that_somebody_left_is_cancelled():
    starts = [refused(400, "in the way", "attempt_in_progress"), ok(nonce="n", required=3, otp=OTP)]
    answers = ceremony(
        {f"POST {ATTEMPT}attempt": lambda step: starts.pop(0), f"DELETE {ATTEMPT}attempt": Response(204, {})}
    )
    wanted, token = drive(generate_token("tokyo"), answers)

    assert token == TOKEN
    assert [method for _, method, _ in asked(wanted)][:3] == ["POST", "DELETE", "POST"]


def test_promote_waits_while_replication_is_catching_up_and_deletes_the_token():
    catching_up = [refused(503, "still catching up")] * 3 + [ok()]
    answers = ceremony(
        {
            f"POST {DR}secondary/promote": lambda step: catching_up.pop(0),
            f"POST {DR}secondary/operation-token/delete": Response(204, {}),
            f"GET {DR}status": status("primary", "running"),
        }
    )
    wanted, end = drive(RUNBOOKS["promote"]("tokyo", force=True), answers)
    promotes = [step.body for step in wanted if isinstance(step, Ask) and step.path == DR + "secondary/promote"]

    assert end == "tokyo is the primary now"
    assert promotes == [{"dr_operation_token": TOKEN, "force": True}] * 4
    assert asked(wanted)[-1][2] == DR + "secondary/operation-token/delete"


def test_promote_is_not_sent_again_when_it_may_have_been_carried_out():
    lost = Response(503, {}, {"errors": ["may have been carried out"]}, "forwarding_lost")
    answers = {f"POST {DR}secondary/promote": lost, f"POST {DR}secondary/operation-token/delete": Response(204, {})}
    wanted, error = drive(RUNBOOKS["promote"]("tokyo"), ceremony(answers))

    assert [step.path for step in wanted if isinstance(step, Ask)].count(DR + "secondary/promote") == 1
    assert wanted[-1] == Ask("tokyo", "POST", DR + "secondary/operation-token/delete", {"dr_operation_token": TOKEN})
    assert str(error) == "promote tokyo: answered 503: may have been carried out"


def test_promote_does_not_wait_for_any_other_refusal():
    answers = ceremony(
        {
            f"POST {DR}secondary/promote": refused(403, "dr operation token is missing or invalid"),
            f"POST {DR}secondary/operation-token/delete": refused(403, "dr operation token is missing or invalid"),
        }
    )
    wanted, error = drive(RUNBOOKS["promote"]("tokyo"), answers)

    assert str(error) == "promote tokyo: answered 403: dr operation token is missing or invalid"
    assert asked(wanted)[-1] == ("tokyo", "POST", DR + "secondary/operation-token/delete")


def reindexing(*stages: str) -> list[Response]:
    """Statuses of a secondary, one with each stage, then one without."""
    under_way = {"mode": "secondary", "reindex_in_progress": True}
    return [*[ok(data={**under_way, "reindex_stage": stage}) for stage in stages], status("secondary", "idle")]


def test_reindex_waits_until_none_is_under_way_and_deletes_the_token():
    statuses = [status("secondary", "idle"), *reindexing("scanning", "building", "commit")]
    answers = ceremony(
        {
            f"POST {DR}secondary/reindex": ok(),
            f"POST {DR}secondary/operation-token/delete": Response(204, {}),
            f"GET {DR}status": lambda step: statuses.pop(0),
        }
    )
    wanted, end = drive(RUNBOOKS["reindex"]("tokyo", diff=True), answers)
    (sent,) = [step.body for step in wanted if isinstance(step, Ask) and step.path == DR + "secondary/reindex"]

    assert end == "tokyo is reindexed"
    assert sent == {"dr_operation_token": TOKEN, "diff": True, "force": False, "skip_flush": False}
    assert statuses == []
    assert pauses(wanted) == 3
    assert asked(wanted)[-1][2] == DR + "secondary/operation-token/delete"


def test_reindex_of_a_primary_needs_no_operation_token():
    answers = {"POST sys/replication/reindex": ok(), f"GET {DR}status": status("primary", "running")}
    wanted, end = drive(RUNBOOKS["reindex"]("paris", force=True), answers)

    assert end == "paris is reindexed"
    assert wanted[1].body == {"diff": False, "force": True, "skip_flush": False}


@pytest.mark.parametrize(
    ("statuses", "says"),
    [
        ([ok(data={"mode": "disabled"})], "reindex tokyo: its replication was disabled before the end"),
        (reindexing("building")[:1] * 600, r"reindex tokyo: no progress for 120 s \(stage building\)"),
        ([Response(0, {}, None)] * 600, r"reindex tokyo: no progress for 120 s \(stage unknown\)"),
    ],
)
def test_reindex_says_why_it_cannot_be_seen_to_end(statuses, says):
    left = [status("secondary", "idle"), *statuses]
    answers = ceremony(
        {
            f"POST {DR}secondary/reindex": ok(),
            f"POST {DR}secondary/operation-token/delete": Response(204, {}),
            f"GET {DR}status": lambda step: left.pop(0),
        }
    )
    wanted, error = drive(RUNBOOKS["reindex"]("tokyo"), answers)

    assert re.match(says, str(error))
    assert asked(wanted)[-1][2] == DR + "secondary/operation-token/delete"


def test_reindex_keeps_its_patience_while_the_stage_goes_on():
    statuses = [status("secondary", "idle")]
    for done in range(1_000):
        data = {"mode": "secondary", "reindex_in_progress": True, "reindex_building_progress": done // 100}
        statuses.append(ok(data=data))
    statuses.append(status("secondary", "idle"))
    answers = ceremony(
        {
            f"POST {DR}secondary/reindex": ok(),
            f"POST {DR}secondary/operation-token/delete": Response(204, {}),
            f"GET {DR}status": lambda step: statuses.pop(0),
        }
    )
    assert drive(RUNBOOKS["reindex"]("tokyo"), answers)[1] == "tokyo is reindexed"


def test_a_refused_disable_leaves_no_operation_token_behind():
    answers = ceremony(
        {
            f"GET {DR}status": status("secondary", "x"),
            f"POST {DR}secondary/disable": refused(503, "no"),
            f"POST {DR}secondary/operation-token/delete": Response(204, {}),
        }
    )
    wanted, error = drive(RUNBOOKS["disable"]("paris"), answers)

    assert str(error) == "disable replication on paris: answered 503: no"
    assert asked(wanted)[-1] == ("paris", "POST", DR + "secondary/operation-token/delete")


def test_no_error_shows_the_token():
    answers = ceremony(
        {
            f"POST {DR}secondary/promote": refused(503, "not ready"),
            f"POST {DR}secondary/operation-token/delete": Response(204, {}),
            f"GET {DR}status": status("secondary", "merkle-diff"),
        }
    )
    _, error = drive(RUNBOOKS["promote"]("tokyo"), answers)

    assert TOKEN not in str(error)
    assert "hvs.root" not in repr(CREDENTIALS)


@pytest.mark.parametrize("verb", ["promote", "repoint", "failover"])
@pytest.mark.slow
def test_who_waits_for_comparisons_in_vain_gives_up_and_says_why(verb, looping):
    lab = looping
    assert lab["tokyo"].status()["merkle_comparisons"] > 1
    at_ns, tokyo = lab.now, lab["tokyo"]
    verbs = {
        "promote": tokyo.promote,
        "repoint": lambda: tokyo.repoint("paris"),
        "failover": lambda: lab.failover("paris", "tokyo"),
    }

    with pytest.raises(RunbookError, match=r"compared \d\d+ times in a row in vain: more is written during a compar"):
        verbs[verb]()
    assert lab.now - at_ns < 200 * SECOND_NS
    assert lab["paris"].mode == "primary", "nothing was changed"
    assert tokyo.mode == "secondary"


def test_waiting_for_a_state_ends_after_two_minutes():
    answers = {f"POST {DR}primary/demote": ok(), f"GET {DR}status": status("primary", "running")}
    wanted, error = drive(RUNBOOKS["demote"]("paris"), answers)

    assert pauses(wanted) == MAX_IDLE_NS // POLL_NS
    assert str(error) == (
        "paris did not become secondary in state idle, and made no progress for 120 s; it is primary in state running"
    )


@pytest.mark.parametrize(
    ("mode", "path", "body"),
    [("primary", "primary/disable", {}), ("secondary", "secondary/disable", {"dr_operation_token": TOKEN})],
)
def test_disable_does_what_the_mode_asks_for(mode, path, body):
    answers = ceremony({f"GET {DR}status": status(mode, "x"), f"POST {DR}{path}": ok()})
    wanted, end = drive(RUNBOOKS["disable"]("paris"), answers)

    assert end == "paris stands alone"
    assert wanted[-1] == Ask("paris", "POST", DR + path, body)


STEPS = [
    ("seal", {"cluster": "paris"}, {"POST sys/seal": "seal paris"}, "the active node of paris is sealed"),
    (
        "enable-primary",
        {"cluster": "paris"},
        {f"POST {DR}primary/enable": "enable paris as primary"},
        "paris is a DR primary",
    ),
    (
        "enable-secondary",
        {"cluster": "tokyo", "primary": "paris"},
        {
            f"POST {DR}primary/secondary-token": "issue an activation token for tokyo on paris",
            f"POST {DR}secondary/enable": "enable tokyo as secondary of paris",
        },
        "tokyo streams from paris",
    ),
    (
        "demote",
        {"cluster": "paris"},
        {f"POST {DR}primary/demote": "demote paris"},
        "paris is a secondary without a primary",
    ),
    (
        "promote",
        {"cluster": "tokyo"},
        {
            f"POST {ATTEMPT}attempt": "start an operation token on tokyo",
            f"POST {ATTEMPT}update": "give a key share to tokyo",
            f"POST {DR}secondary/promote": "promote tokyo",
        },
        "tokyo is the primary now",
    ),
    (
        "repoint",
        {"cluster": "paris", "to": "tokyo"},
        {f"POST {DR}secondary/update-primary": "point paris at tokyo"},
        "paris streams from tokyo",
    ),
    (
        "unseal",
        {"cluster": "paris", "node": "paris-2"},
        {"POST sys/unseal": "unseal paris-2"},
        "1 node of paris unsealed",
    ),
]


def all_well(name: str) -> Answers:
    """The answers that a runbook goes through with."""
    reached = {
        "enable-primary": [("primary", "running")],
        "enable-secondary": [("disabled", ""), ("secondary", "stream-wals")],
        "demote": [("secondary", "idle")],
        "promote": [("primary", "running")],
        "repoint": [("primary", "running"), ("secondary", "stream-wals")],
    }
    calls = ("primary/enable", "primary/demote", "secondary/enable", "secondary/promote", "secondary/update-primary")
    return ceremony(
        {
            f"GET {DR}status": [status(*each) for each in reached.get(name, ())],
            "GET sys/seal-status": ok(sealed=True, t=2),
            f"POST {DR}primary/secondary-token": ok(wrap_info={"token": "ey.x"}),
            f"POST {DR}secondary/operation-token/delete": ok(),
            f"POST {DR}primary/revoke-secondary": ok(),
            **{f"POST {DR}{call}": ok() for call in calls},
            **{f"POST sys/{call}": ok() for call in ("seal", "unseal")},
        }
    )


@pytest.mark.parametrize(
    ("name", "arguments", "steps", "end"), STEPS, ids=lambda part: part if isinstance(part, str) else ""
)
def test_each_step_that_is_refused_ends_a_runbook_with_its_name(name, arguments, steps, end):
    assert drive(RUNBOOKS[name](**arguments), all_well(name))[1] == end
    for request, what in steps.items():
        _, error = drive(RUNBOOKS[name](**arguments), {**all_well(name), request: refused(403, "permission denied")})
        assert isinstance(error, RunbookError), request
        assert str(error) == f"{what}: answered 403: permission denied"


def test_an_id_that_cannot_be_revoked_ends_it_too():
    known = {
        f"POST {DR}primary/secondary-token": refused(400, "known"),
        f"POST {DR}primary/revoke-secondary": refused(403, "no"),
    }
    _, error = drive(RUNBOOKS["enable-secondary"]("tokyo", "paris"), {**all_well("enable-secondary"), **known})

    assert str(error) == "revoke tokyo: answered 403: no"


# ---- planned failover


def pair_status(
    mode: str, *, wal: int = 0, root: str = "", set_id: str = "s", state: str = "stream-wals", connection: str = "ready"
) -> Response:
    members = {"last_wal": wal} if mode == "primary" else {"last_remote_wal": wal, "connection_state": connection}
    known = {"known_secondaries": ["tokyo", "lima", "elsewhere"], "merkle_root": root, "cluster_id": set_id}
    return ok(data={"mode": mode, "state": state, **members, **known})


def failover_answers(paris: list[Response], tokyo: list[Response]) -> Answers:
    """Statuses one after the other, the last for good; every call works."""
    polls = {"paris": paris, "tokyo": tokyo, "lima": [pair_status("secondary")]}

    def next_status(step: Ask) -> Response:
        rows = polls[step.cluster]
        return rows.pop(0) if len(rows) > 1 else rows[0]

    calls = ["primary/demote", "secondary/promote", "secondary/update-primary", "secondary/operation-token/delete"]
    calls.append("primary/revoke-secondary")
    return ceremony(
        {
            f"GET {DR}status": next_status,
            **{f"POST {DR}{call}": ok() for call in calls},
            f"POST {DR}primary/secondary-token": ok(wrap_info={"token": "ey.x"}),
        }
    )


IDLE = pair_status("secondary", state="idle", root="aa")
PRIMARY = pair_status("primary", wal=5, state="running")


def test_failover_demotes_waits_until_level_promotes_and_points_the_others_at_the_new_primary():
    behind, level = pair_status("secondary", wal=3, root="99"), pair_status("secondary", wal=5, root="bb")
    done = pair_status("primary", wal=5, state="running")
    answers = failover_answers(
        [PRIMARY, IDLE, IDLE, pair_status("secondary", root="aa")],
        [behind, behind, level, level, pair_status("secondary", wal=7, root="aa"), done],
    )
    wanted, end = drive(RUNBOOKS["failover"]("paris", "tokyo"), answers)
    calls = [(cluster, path.removeprefix(DR)) for cluster, _, path in asked(wanted)]
    steps = [call for call in calls if call[1].split("/")[1] in ("demote", "promote", "update-primary")]

    assert steps == [
        ("paris", "primary/demote"),
        ("tokyo", "secondary/promote"),
        ("paris", "secondary/update-primary"),
        ("lima", "secondary/update-primary"),
    ]
    assert end == "tokyo is the primary now; from it stream: paris, lima"
    assert [step.text for step in wanted if isinstance(step, Note)] == [
        "failover: waiting until tokyo has entry 5 of paris",
        "failover: demoting paris",
        "failover: paris is demoted; waiting until tokyo is level with it",
        "failover: tokyo is level; promoting it",
    ]


@pytest.mark.parametrize(
    ("paris", "tokyo", "got"),
    [
        (pair_status("secondary"), pair_status("primary"), "paris secondary and tokyo primary"),
        (PRIMARY, ok(data={"mode": "disabled", "cluster_id": ""}), "paris primary and tokyo disabled"),
        (PRIMARY, pair_status("secondary", set_id="t"), "paris primary and tokyo secondary of another set"),
    ],
)
def test_failover_between_two_that_are_no_pair_changes_nothing(paris, tokyo, got):
    wanted, error = drive(RUNBOOKS["failover"]("paris", "tokyo"), failover_answers([paris], [tokyo]))

    assert asked(wanted) == []
    assert str(error) == (
        f"failover from paris to tokyo: expected a primary and a secondary of it, got {got}; nothing was changed"
    )


def test_failover_to_one_that_does_not_catch_up_stops_before_the_demotion():
    tokyo = pair_status("secondary", wal=3, root="99", connection="connecting")
    wanted, error = drive(RUNBOOKS["failover"]("paris", "tokyo"), failover_answers([PRIMARY], [tokyo]))

    assert asked(wanted) == []
    assert pauses(wanted) == MAX_CATCH_UP_IDLE_NS // POLL_NS
    assert str(error) == (
        "failover from paris to tokyo: tokyo has entry 3 of 5 and made no progress for 30 s "
        "(state stream-wals, connection connecting); nothing was changed"
    )


def following(host: str, connection: str = "ready", **named: Any) -> Response:
    """The status of a secondary that follows a node."""
    answer = pair_status("secondary", connection=connection, **named)
    address = {"api_address": f"http://{host}:8200" if host else ""}
    return ok(data={**(answer.data or {}), "primaries": [address]})


@pytest.mark.parametrize("waits", [0, 3])
def test_failover_to_one_that_follows_another_primary_changes_nothing(waits):
    """Its entries are numbered by that one: they say nothing of what it has of this one's."""
    tokyo = [*[pair_status("secondary", wal=3, connection="connecting")] * (waits + 1), following("lima-2", wal=99)]
    wanted, error = drive(RUNBOOKS["failover"]("paris", "tokyo"), failover_answers([PRIMARY], tokyo))

    assert (asked(wanted), pauses(wanted)) == ([], waits)
    assert str(error) == ("failover from paris to tokyo: tokyo follows another primary, not paris; nothing was changed")


def wait_for_root(*statuses: Response) -> tuple[int, Any]:
    """How often it waited, and how it ended."""
    rows = list(statuses)
    answers = {f"GET {DR}status": lambda step: rows.pop(0) if len(rows) > 1 else rows[0]}
    wanted, end = drive(_wait_for_root("tokyo", "aa", "paris"), answers)
    return pauses(wanted), end


def test_waiting_for_a_root_ends_when_it_is_there():
    assert wait_for_root(following("paris-1", root="aa")) == (0, None)
    assert wait_for_root(*[following("paris-2", root="bb")] * 7, following("paris-2", root="aa")) == (7, None)


def test_waiting_for_a_root_ends_when_nothing_arrives_any_more():
    count, error = wait_for_root(following("paris-1", root="bb"))
    assert (count, isinstance(error, RunbookError)) == (MAX_ARRIVAL_POLLS + 1, True)

    some = [following("paris-1", root=f"{number // MAX_ARRIVAL_POLLS}") for number in range(3 * MAX_ARRIVAL_POLLS)]
    assert wait_for_root(*some, following("paris-1", root="aa")) == (3 * MAX_ARRIVAL_POLLS, None)


@pytest.mark.parametrize(("host", "connection"), [("", "ready"), ("lima-1", "connecting"), ("paris-4", "ready")])
def test_waiting_for_a_root_goes_on_while_nobody_else_is_followed(host, connection):
    count, _ = wait_for_root(following(host, connection, root="bb"))
    assert count == MAX_ARRIVAL_POLLS + 1


def test_waiting_for_a_root_ends_at_once_when_another_primary_is_followed():
    count, error = wait_for_root(following("paris-1", root="bb"), following("lima-1", root="cc"))

    assert (count, str(error)) == (
        1,
        "tokyo did not become level with paris: it follows another primary now",
    )


def test_failover_to_one_that_does_not_become_level_says_what_it_leaves():
    tokyo = pair_status("secondary", wal=5, root="bb")
    wanted, error = drive(RUNBOOKS["failover"]("paris", "tokyo"), failover_answers([PRIMARY, IDLE], [tokyo]))

    assert [path for _, _, path in asked(wanted)] == [DR + "primary/demote"]
    assert pauses(wanted) == MAX_ARRIVAL_POLLS + 1, "the first poll brought a root, those after it no other"
    assert str(error) == (
        "tokyo did not become level with paris: nothing has arrived for 15 s, and their roots differ "
        "(is one damaged? merkle_check says so, and reindex ends it); "
        "paris is demoted and takes no writes, tokyo was not promoted; promote paris again, or tokyo and lose the rest"
    )


def test_failover_waits_as_long_again_after_each_arrival():
    """Roots that come one poll before the end of patience; and none at all, as of a cluster without an index."""
    late = [pair_status("secondary", wal=5, root=root) for root in ("1", "2") for _ in range(MAX_ARRIVAL_POLLS)]
    paris = [PRIMARY, IDLE, IDLE, pair_status("secondary", root="aa")]
    level, done = pair_status("secondary", wal=99, root="aa"), PRIMARY
    _, end = drive(RUNBOOKS["failover"]("paris", "tokyo"), failover_answers(paris, [*late, level, done]))
    wanted, error = drive(
        RUNBOOKS["failover"]("paris", "tokyo"), failover_answers([PRIMARY, IDLE], [pair_status("secondary", wal=5)])
    )

    assert end == "tokyo is the primary now; from it stream: paris, lima"
    assert isinstance(error, RunbookError)
    assert pauses(wanted) == MAX_ARRIVAL_POLLS


def test_failover_right_after_the_first_comparison_when_no_entry_was_streamed_yet():
    lab = Lab.pair()
    lab.replicate("paris", "tokyo")

    assert lab["tokyo"].status()["last_remote_wal"] == 0
    assert lab.failover("paris", "tokyo") == "tokyo is the primary now; from it stream: paris"


def test_what_arrived_by_comparison_shows_in_the_roots_as_they_are_now():
    """The entry that a secondary names is of the stream; a comparison goes past it without naming another."""
    primaries = [pair_status("primary", wal=9, root=root, state="running") for root in ("aa", "bb", "cc")]
    level, done = pair_status("secondary", wal=3, root="cc"), pair_status("primary", wal=9, state="running")
    demoted = pair_status("secondary", state="idle", root="cc")
    answers = failover_answers(
        [*primaries, demoted, demoted, pair_status("secondary", root="cc")], [level, level, level, level, done]
    )
    _, end = drive(RUNBOOKS["failover"]("paris", "tokyo"), answers)

    assert end == "tokyo is the primary now; from it stream: paris, lima"


def test_failover_goes_on_waiting_while_entries_arrive():
    arriving = [pair_status("secondary", wal=5, root=f"{number}") for number in range(200)]
    tokyo = [*arriving, pair_status("secondary", wal=99, root="aa"), PRIMARY]
    paris = [PRIMARY, IDLE, IDLE, pair_status("secondary", root="aa")]
    _, end = drive(RUNBOOKS["failover"]("paris", "tokyo"), failover_answers(paris, tokyo))

    assert end == "tokyo is the primary now; from it stream: paris, lima"


# ---- unsealing


def test_unseal_gives_every_sealed_node_its_shares_and_leaves_the_others():
    def seal_status(step: Ask) -> Response:
        sealed = ok(sealed=True, t=3)
        unsealed = ok(sealed=False, t=3)
        return {"paris-1": sealed, "paris-2": unsealed, "paris-3": silence("not running"), "paris-4": sealed}[step.node]

    wanted, end = drive(RUNBOOKS["unseal"]("paris"), {"GET sys/seal-status": seal_status, "POST sys/unseal": ok()})
    given = [(step.node, step.body["key"]) for step in wanted if isinstance(step, Ask) and step.body]

    assert given == [(node, key) for node in ("paris-1", "paris-4") for key in ("aa", "bb", "cc")]
    assert end == "2 nodes of paris unsealed"


def test_unseal_of_one_node_is_of_that_one():
    answers = {"GET sys/seal-status": ok(sealed=True, t=1), "POST sys/unseal": ok()}
    wanted, end = drive(RUNBOOKS["unseal"]("paris", node="paris-2"), answers)

    assert {step.node for step in wanted if isinstance(step, Ask)} == {"paris-2"}
    assert end == "1 node of paris unsealed"


def test_every_runbook_is_found_under_its_name():
    one_word = {"failover", "ask", "replicate", "promote", "demote", "repoint", "disable", "unseal", "seal"}

    assert set(RUNBOOKS) >= {"enable-primary", "enable-secondary", "operation-token", *one_word}
    assert {name.replace("-", "_") for name in RUNBOOKS} == {steps.__name__ for steps in RUNBOOKS.values()}


# ---- pointed elsewhere, in a lab


def test_what_it_follows_is_cut_only_once_the_new_id_streams(calm):
    calm.run("2s")
    at_ns = calm.now
    calm["tokyo"].repoint("paris")

    assert calm["paris"].status()["known_secondaries"] == ["tokyo~2"]
    streams = [event.at_ns for event in calm.trace.select("mode", cluster="tokyo", state="stream-wals")]
    revoked = [event.at_ns for event in calm.trace.select("message", what="disconnect") if event.at_ns > at_ns]
    assert at_ns < streams[-1] < min(revoked, default=calm.now)
    calm.run("5s")
    assert calm["tokyo"].status()["state"] == "stream-wals"
    assert calm["tokyo"].root == calm["paris"].root
    calm["tokyo"].repoint("paris")
    assert calm["paris"].status()["known_secondaries"] == ["tokyo"]


def test_one_that_fails_leaves_what_it_follows_and_nothing_else(calm):
    calm.run("2s").partition("paris", "tokyo")
    with pytest.raises(RunbookError, match="error unwrapping secondary token"):
        calm["tokyo"].repoint("paris")
    calm.heal()
    calm.run("70s")

    assert calm.parts.stores["tokyo"].get("node/operation-token") is None
    assert calm["paris"].status()["known_secondaries"] == ["tokyo"]
    assert calm["tokyo"].status()["state"] == "stream-wals"


def test_a_promotion_that_fails_leaves_no_operation_token(short_ring):
    """Without anybody to fetch from, a comparison under way never ends: the promotion is given up."""
    lab = short_ring
    lab.partition("paris", "tokyo")
    lab.run("30s").heal()
    lab.run(until=lambda one: one.parts.nodes["tokyo-1"].sync.state == "merkle-diff")
    lab.partition("paris", "tokyo")
    with pytest.raises(RunbookError, match="promote tokyo: answered 503"):
        lab["tokyo"].promote()

    assert lab.parts.stores["tokyo"].get("node/operation-token") is None


def test_of_several_the_one_with_the_newest_entry_is_promoted(trio):
    trio.run("1s").cut("paris", "lima")
    for number in range(5):
        trio["paris"].post("secret/data/app", {"data": {"n": number}}).raise_for_status()
    trio.run("1s").crash("paris")

    assert trio.work_through("promote", furthest_ahead=["lima", "tokyo"]) == "tokyo is the primary now"
    assert trio.queries.mode_of("lima") == "secondary"


def test_of_equals_the_first_is_promoted_and_who_is_down_is_left_out():
    trio = Lab.triangle()
    for name in ("tokyo", "lima"):
        trio.replicate("paris", name)
    trio.run("2s").crash("paris")
    level = trio.branch("level")

    assert level.work_through("promote", furthest_ahead=["lima", "tokyo"]) == "lima is the primary now"
    trio.crash("lima")
    assert trio.work_through("promote", furthest_ahead=["lima", "tokyo"]) == "tokyo is the primary now"


def test_where_none_is_a_secondary_nothing_is_promoted(trio):
    trio.run("1s").crash("tokyo")
    with pytest.raises(RunbookError, match="none of them answers as a secondary; nothing was changed"):
        trio.work_through("promote", furthest_ahead=["paris", "tokyo"])
    assert trio.queries.mode_of("lima") == "secondary"
