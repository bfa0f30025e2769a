"""Outcome counts: by group and outcome, the longest time to an answer, logins by their paths."""

from __future__ import annotations

import pickle

import pytest

from labkit.lab.records.outcome_counts import LOGIN, OutcomeCounts
from labkit.lab.wire.messages import Correlation
from labkit.lab.wire.reports import OperationEnded


def ended(client: str, outcome: str, took_ns: int) -> OperationEnded:
    where = (client, "put-secret", "secret/data/a", "paris", outcome, 200, 1, Correlation(client, 1, 1))
    return OperationEnded(1_000 + took_ns, 1_000, *where)


def counted() -> OutcomeCounts:
    counts = OutcomeCounts()
    for client, outcome, took_ns, acknowledged in (
        ("web-front-1", "answered", 5, True),
        ("web-front-12", "answered", 9, False),
        ("web-front-1", "unknown", 70, False),
        ("back-1", "refused", 3, False),
    ):
        counts.end_of_client(ended(client, outcome, took_ns), acknowledged=acknowledged)
    return counts


def test_operations_are_counted_by_the_group_of_their_client() -> None:
    counts = counted()

    assert counts.of("web-front").counts == {"answered": 2, "acknowledged": 1, "refused": 0, "unknown": 1}
    assert counts.of("back").counts == {"answered": 0, "acknowledged": 0, "refused": 1, "unknown": 0}
    assert (counts.of("web-front").longest_ns, counts.of("back").longest_ns) == (9, 0), "what was answered only"


def test_a_group_that_did_nothing_has_nothing() -> None:
    assert set(counted().of("other").counts.values()) == {0}


@pytest.mark.parametrize(
    ("path", "is_login"),
    [
        ("auth/cloud/login", True),
        ("auth/cloud/login/", True),
        ("auth/userpass/login/ada", True),
        ("auth/cloud/login?x=1", True),
        ("auth/login", False),
        ("auth/cloud/role/login", False),
        ("secret/data/auth/x/login", False),
        ("secret/data/login", False),
        ("sys/auth/cloud", False),
        ("auth/cloud/logins", False),
    ],
)
def test_a_login_is_known_by_its_path(path: str, is_login: bool) -> None:
    counts = OutcomeCounts()
    counts.end(path, "refused")

    assert (counts.logins["refused"] == 1, bool(LOGIN.fullmatch(path))) == (is_login, is_login)


def test_they_are_plain_values_and_the_same_again() -> None:
    counts = counted()
    counts.end("auth/cloud/login", "answered")
    again = OutcomeCounts(pickle.loads(pickle.dumps(counts.state())))

    assert again.state() == counts.state()
    again.end_of_client(ended("back-1", "answered", 4), acknowledged=True)
    assert again.of("back").longest_ns == 4
    assert repr(counts) == "OutcomeCounts(2 groups, 1 logins)"
    assert repr(counts.of("web-front")) == "GroupCounts(2 answered)"
