"""Asking the cloud: which failures are asked again and when, and one attempt for all who need the same."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.service.message import Fetch, Request, Response, respond
from labkit.vault.auth.cloud import upstream
from labkit.vault.auth.cloud.settings import RetryPolicy
from tests.vault.auth.conftest import SECOND_NS

POLICY = RetryPolicy(3, 4 * SECOND_NS, 60 * SECOND_NS)
NOW_NS = 1_893_456_000 * SECOND_NS
FETCH = Fetch("https://management.cloud.test", Request("GET", "/x"))


class Asking:
    """A context in which a fetch is asked, answered by a list of answers; each takes a second."""

    def __init__(self, drawn: int = 0) -> None:
        self.now = NOW_NS
        self.seen: list[int] = []
        self.answer_headers: dict[str, str] | None = None
        self._drawn = drawn

    def entropy(self, count: int) -> bytes:
        """Draw the same every time."""
        return self._drawn.to_bytes(count, "big")

    def observe(self, kind: str, **fields: Any) -> None:
        """Keep what is observed."""
        self.seen.append(fields["retried_in_ns"])

    def ask(self, policy: RetryPolicy, *answers: Response) -> tuple[Response, list[int]]:
        """Return the last answer, and after how many nanoseconds each fetch was due."""
        ctx: Any = self
        asking = upstream.ask(ctx, policy, FETCH)
        fetch, due = next(asking), []
        for answer in answers:
            due.append(max(fetch.not_before_ns - self.now, 0))
            self.now = max(self.now, fetch.not_before_ns) + SECOND_NS
            try:
                fetch = asking.send(answer)
            except StopIteration as end:
                return end.value, due
        raise AssertionError("it goes on asking")


DELAYS = (
    (0, [3.2, 9.6, 22.4, 48, 60]),
    (32_768, [4.2, 12.6, 29.4, 60, 60]),
    (65_535, [5.2, 15.6, 36.4, 60, 60]),
)


@pytest.mark.parametrize(("drawn", "delays_s"), DELAYS)
def test_delays_grow_around_their_mean_up_to_the_longest(drawn, delays_s) -> None:
    delays = [upstream.delay_ns(POLICY, retry, drawn) / SECOND_NS for retry in range(1, 6)]

    assert delays == pytest.approx(delays_s, rel=1e-4)


@pytest.mark.parametrize("status", [0, 408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_asked_again_until_the_last_retry(status) -> None:
    asking = Asking()
    failed = Response(status, {})
    answer, due = asking.ask(POLICY, failed, failed, failed, failed)

    assert (answer, [round(each / SECOND_NS, 1) for each in due]) == (failed, [0, 3.2, 9.6, 22.4])
    assert asking.seen == [*due[1:], None]


@pytest.mark.parametrize("status", [200, 307, 400, 401, 403, 404, 409, 501])
def test_what_will_not_pass_is_not_asked_again(status) -> None:
    asking = Asking()
    answer, due = asking.ask(POLICY, Response(status, {}))

    assert (answer.status, due) == (status, [0])
    assert asking.seen == ([] if status in (200, 404) else [None]), "what is not there is not a failed call"


def test_no_retries_are_none() -> None:
    assert Asking().ask(POLICY._replace(max_retries=0), respond(503))[1] == [0]


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"Retry-After": "10"}, 10),
        ({"retry-after-ms": "1500", "Retry-After": "10"}, 1.5),
        ({"x-ms-retry-after-ms": "2500"}, 2.5),
        ({"Retry-After": "Tue, 01 Jan 2030 00:00:31 GMT"}, 30),
        ({"Retry-After": "Mon, 31 Dec 2029 23:00:00 GMT"}, 3.2),
        ({"Retry-After": "0"}, 3.2),
        ({"Retry-After": "-5"}, 3.2),
        ({"Retry-After": "soon"}, 3.2),
        ({"Retry-After": "Tue, 41 Jan 2030 00:00:30 GMT"}, 3.2),
        ({"Retry-After": "60"}, 60),
    ],
)
def test_when_to_come_again_takes_the_place_of_the_delay(headers, wait_s) -> None:
    _, due = Asking().ask(POLICY, Response(429, headers), respond(200))

    assert due[1] / SECOND_NS == pytest.approx(wait_s)


def test_a_longer_wait_than_the_longest_ends_it_at_once_and_is_passed_on() -> None:
    asking: Any = Asking()
    answer, due = asking.ask(POLICY, Response(429, {"Retry-After": "300"}))
    refused = upstream.unavailable(asking, "it was so", upstream.retry_after_s(asking, answer))

    assert due == [0]
    assert (refused.status, refused.code, asking.answer_headers) == (503, "cloud_unavailable", {"Retry-After": "300"})


def test_a_login_waits_as_long_as_it_is_to(stand) -> None:
    failures = [respond(503), respond(503)]
    stand.instead[:] = [lambda fetch: failures.pop() if failures else None]
    before_ns = stand.vault.now()
    assert stand.login().ok
    passed_s = (stand.vault.now() - before_ns) / SECOND_NS

    assert 12.8 <= passed_s <= 20.8
    assert stand.asked == ["openid-configuration"] * 3 + ["keys"]


def test_an_attempt_that_fails_fails_all_who_waited_and_the_answer_says_when_to_come(stand) -> None:
    stand.instead[:] = [lambda fetch: Response(429, {"Retry-After": "300"})]
    refused = stand.login()

    assert (refused.status, refused.headers["Retry-After"]) == (503, "300")
    assert stand.asked == ["openid-configuration"]


def test_a_configuration_that_is_changed_meanwhile_ends_the_attempt(stand) -> None:
    def change(fetch: Any) -> None:
        stand.instead.clear()
        stand.vault.post("auth/cloud/config", {"max_retries": 2})

    stand.instead[:] = [change]
    refused = stand.login()

    assert refused.status == 503
    assert "the configuration was changed meanwhile" in refused.errors[0]
    assert stand.login().ok


def test_an_attempt_of_before_keeps_nothing_for_one_that_began_at_the_same_time(stand) -> None:
    """The clock stands: the old tenant's documents come while those of the new one are asked for."""
    vm = stand.cloud.vm("web-1")
    body = {
        "role": "sp",
        "jwt": vm.token(),
        "subscription_id": vm.subscription_id,
        "resource_group_name": vm.resource_group,
        "vm_name": vm.name,
    }
    asked = Request("POST", "/v1/auth/cloud/login", {}, body)
    for answers in range(2):
        old = stand.vault.handle(asked)
        for _ in range(answers):
            old = stand.vault.resume(old, stand.cloud.answer(old.fetch))
        other = f"99999999-0000-4000-8000-00000000000{answers}"
        stand.vault.post("auth/cloud/config", {"tenant_id": other}).raise_for_status()
        new = stand.vault.handle(asked)
        assert new.fetch.request.path.startswith(f"/{other}/")

        ended = stand.vault.resume(old, stand.cloud.answer(old.fetch))
        assert "the configuration was changed meanwhile" in ended.errors[0], answers
        uuid = stand.vault.get("sys/auth").data["cloud/"]["uuid"]
        assert stand.vault.core.storage.list(f"node/mount/{uuid}/") == ["attempt/"], answers
        assert "answered 400" in stand.vault.resume(new, stand.cloud.answer(new.fetch)).errors[0], answers
        stand.vault.post("auth/cloud/config", stand.cloud.config).raise_for_status()
        assert stand.login().ok
        stand.vault.post("auth/cloud/config", stand.cloud.config).raise_for_status()


def test_an_attempt_knows_whether_it_succeeded() -> None:
    assert [upstream.FetchAttempt("", 0, ended=ended).succeeded for ended in ("", "fetched", "x")] == [
        False,
        True,
        False,
    ]
