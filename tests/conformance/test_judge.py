"""The judge of recorded answers: what it must notice, what it only counts, and what it lets pass."""

from __future__ import annotations

import pytest

STR = {"~type": "str"}


@pytest.mark.parametrize(
    ("want", "body"),
    [
        (None, None),
        (None, {}),
        ({"data": {"a": 1}, "request_id": STR}, {"data": {"a": 1}}),
        ({"lease_duration": 5, "mount_type": "kv"}, {"lease_duration": 0}),
        ({"v": STR}, {"v": "x"}),
        ({"v": {"~type": "str", "prefix": "vault:v"}}, {"v": "vault:v1:abc"}),
        ({"v": {"~type": "int"}}, {"v": 3}),
        ({"v": {"~type": "null"}}, {"v": None}),
        ({"v": [1, {"w": STR}]}, {"v": [1, {"w": "x"}]}),
        ({"errors": []}, {"errors": []}),
    ],
)
def test_what_matches(want, body, judged) -> None:
    assert judged(want, body) == ([], [])


@pytest.mark.parametrize(
    ("want", "body"),
    [
        (None, {"data": None}),
        ({"data": None}, None),
        ({"data": {"a": 1}}, {"data": {}}),
        ({"data": {"a": 1}}, {"data": None}),
        ({"data": {"a": 1}}, {"data": {"a": 2}}),
        ({"data": {"a": 1}}, {"data": {"a": True}}),
        ({"v": False}, {"v": 0}),
        ({"v": STR}, {"v": 1}),
        ({"v": {"~type": "int"}}, {"v": True}),
        ({"v": {"~type": "str", "prefix": "vault:v"}}, {"v": "other"}),
        ({"v": [1]}, {"v": [1, 2]}),
        ({"v": [{"w": 1}]}, {"v": [{"w": 2}]}),
        ({"errors": []}, {"errors": ["no"]}),
        ({"errors": ["no"]}, {"errors": []}),
        ({"v": [{"error": "no"}]}, {"v": [{}]}),
        ({"warnings": None}, {}),
    ],
)
def test_what_counts(want, body, judged) -> None:
    hard, soft = judged(want, body)
    assert len(hard) == 1
    assert soft == []


@pytest.mark.parametrize(
    ("want", "body"),
    [
        ({"errors": ["no"]}, {"errors": ["never"]}),
        ({"warnings": None}, {"warnings": ["mind"]}),
        ({"v": [{"error": "no"}]}, {"v": [{"error": "never"}]}),
        ({"data": {"a": 1}}, {"data": {"a": 1, "b": 2}}),
        ({"data": None}, {"data": None, "more": 1}),
    ],
)
def test_what_is_only_counted(want, body, judged) -> None:
    hard, soft = judged(want, body)
    assert hard == []
    assert len(soft) == 1


def test_variables_are_filled_in_everywhere(replaying) -> None:
    case = {
        "id": "made-up",
        "mounts": {"kv": "kv-v2"},
        "steps": [
            {
                "method": "POST",
                "path": "/v1/${kv}/data/a-${tag}",
                "body": {"data": {"n": "${tag}"}},
                "save": {"version": "data.version", "items": "list.1.x"},
                "want": {"status": 200, "body": {"version": "${version}"}},
            },
            {"method": "GET", "path": "/v1/${kv}/${version}", "token": "", "soft": True},
            {"method": "GET", "path": "/v1/x", "token": "t-${items}", "want": {"status": 404, "body": None}},
        ],
    }
    answers = {
        "/v1/sys/mounts/kv-engine-t1": (204, None),
        "/v1/kv-engine-t1/data/a-t1": (200, {"version": 7, "data": {"version": 7}, "list": [{}, {"x": "y"}]}),
        "/v1/kv-engine-t1/7": (500, {"anything": "at all"}),
        "/v1/x": (403, {"errors": ["no"]}),
    }
    verdict, sent = replaying(case, answers)

    assert [step[1:] for step in sent[1:]] == [
        ("/v1/kv-engine-t1/data/a-t1", {"data": {"n": "t1"}}, {"X-Vault-Token": "root"}),
        ("/v1/kv-engine-t1/7", None, {}),
        ("/v1/x", None, {"X-Vault-Token": "t-y"}),
    ]
    assert len(verdict.hard) == 1
    assert "status 403, not 404" in verdict.hard[0]
