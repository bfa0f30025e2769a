"""Fault controls: each verb takes effect, its opposite ends that, and what cannot be is refused."""

from __future__ import annotations

from typing import Any

import jwt
import pytest

from labkit.cloud.failures import ENDPOINTS
from labkit.cloud.machine import NoToken
from labkit.front.cloud import Cloud
from labkit.service.message import Fetch, Request
from tests.cloud.conftest import PUBLIC, Ask, MovedClock

KEYS = "/common/discovery/keys"


def kid_of(token: str) -> str:
    kid: str = jwt.get_unverified_header(token)["kid"]
    return kid


def kids(cloud: Cloud) -> set[str]:
    return {key["kid"] for key in cloud.jwks()["keys"]}


def asked_of_all(cloud: Cloud) -> dict[str, int]:
    """The status of one request to each endpoint."""
    tenant = cloud.config["tenant_id"]
    paths = {
        "discovery": ("login", f"/{tenant}/.well-known/openid-configuration"),
        "keys": ("login", KEYS),
        "token": ("login", f"/{tenant}/oauth2/token"),
        "compute": ("management", "/subscriptions/x"),
        "directory": ("graph", "/v1.0/applications"),
    }
    found = {
        name: cloud.answer(Fetch(PUBLIC.format(part), Request("GET", path))).status
        for name, (part, path) in paths.items()
    }
    machine = Request("GET", "/machines/web-1/metadata/instance?api-version=1", {"Metadata": "true"})
    return found | {"machine": cloud.handle(machine).status}


def test_an_outage_silences_what_is_named_or_all_until_it_ends(cloud: Cloud) -> None:
    well = asked_of_all(cloud)
    for endpoint in ENDPOINTS:
        cloud.outage(endpoint)
        assert asked_of_all(cloud) == well | {endpoint: 0}, endpoint
        cloud.recover(endpoint)
        cloud.fail_next(endpoint, 503)
        assert asked_of_all(cloud) == well | {endpoint: 503}, endpoint
    assert asked_of_all(cloud) == well
    cloud.outage()
    assert set(asked_of_all(cloud).values()) == {0}
    with pytest.raises(NoToken, match="its endpoint answered 0: no answer: the cloud's machine is down"):
        cloud.vm("web-1").token()
    assert cloud.request("GET", "/login.cloud.test" + KEYS).status == 503
    cloud.fail_next("keys", 500, times=5)
    cloud.recover()
    assert asked_of_all(cloud) == well


def test_slowness_lasts_beyond_the_askers_patience_or_not(cloud: Cloud, ask: Ask) -> None:
    cloud.slow("10s", "keys")
    request = Request("GET", KEYS, {"Host": "login.cloud.test"})

    assert cloud.delay_ns(request) == 10 * 10**9
    assert cloud.delay_ns(request._replace(path="/\0")) == 0
    assert ask("login", "GET", KEYS).status == 0
    cloud.slow("9.9s", "keys")
    assert ask("login", "GET", KEYS).status == 200
    cloud.restore()
    assert cloud.delay_ns(request) == 0


def test_a_rate_is_limited_until_it_is_not(cloud: Cloud, ask: Ask, clock: MovedClock) -> None:
    cloud.throttle("keys", per_second=1, burst=2)

    assert [ask("login", "GET", KEYS).status for _ in range(3)] == [200, 200, 429]
    clock.move(1)
    assert [ask("login", "GET", KEYS).status for _ in range(2)] == [200, 429]
    cloud.unthrottle("keys")
    assert ask("login", "GET", KEYS).status == 200


def test_keys_roll_are_used_unpublished_and_revoked(cloud: Cloud) -> None:
    vm = cloud.vm("web-1")
    first = kid_of(vm.token())
    assert kid_of(vm.token()) == first != cloud.roll_keys() == kid_of(vm.token())
    assert first in kids(cloud)
    early = cloud.use_unpublished_key()
    assert kid_of(vm.token()) == early not in kids(cloud)
    cloud.publish_key()
    assert early in kids(cloud)
    assert cloud.revoke_key() == kid_of(vm.token()) in kids(cloud)
    assert early not in kids(cloud)


def test_a_held_key_set_is_stale(cloud: Cloud) -> None:
    before = kids(cloud)
    cloud.hold_key_set()
    signs = [cloud.roll_keys(), cloud.roll_keys()][1]

    assert kids(cloud) == before
    assert signs not in before
    cloud.release_key_set()
    assert signs in kids(cloud) != before


def test_the_clouds_clock_is_ahead_or_behind(cloud: Cloud, clock: MovedClock) -> None:
    for offset, seconds in (("10m", 600), ("-10m", -600), ("0s", 0)):
        cloud.set_clock_ahead(offset)
        assert cloud.parts.now() - clock() == seconds * 10**9


def test_secrets_spread_slowly(cloud: Cloud) -> None:
    cloud.spread_secrets("2m")

    assert cloud.parts.settings["spread_ns"] == 120 * 10**9


def test_each_verb_is_observed_with_what_it_did(cloud: Cloud) -> None:
    seen: list[tuple[str, dict[str, Any]]] = []
    cloud.observe = lambda kind, **fields: seen.append((kind, fields))
    cloud.fail_next("keys", 503, 2)
    cloud.outage("keys")
    cloud.recover("keys")
    cloud.slow("2s", "token")
    cloud.restore("token")
    cloud.throttle("compute", 1, 2)
    cloud.unthrottle("compute")
    kids_of = [cloud.roll_keys(), cloud.use_unpublished_key(), cloud.revoke_key()]
    cloud.publish_key()
    cloud.hold_key_set()
    cloud.release_key_set()
    cloud.spread_secrets("1s")
    cloud.set_clock_ahead("-1s")

    assert seen == [
        ("cloud fails", {"endpoint": "keys", "status": 503, "times": 2}),
        ("cloud outage", {"endpoint": "keys"}),
        ("cloud recovered", {"endpoint": "keys"}),
        ("cloud slow", {"endpoint": "token", "delay_ns": 2 * 10**9}),
        ("cloud restored", {"endpoint": "token"}),
        ("cloud throttled", {"endpoint": "compute", "per_second": 1, "burst": 2}),
        ("cloud unthrottled", {"endpoint": "compute"}),
        ("keys rolled", {"kid": kids_of[0]}),
        ("key unpublished", {"kid": kids_of[1]}),
        ("key revoked", {"kid": kids_of[2]}),
        ("key published", {}),
        ("key set held", {}),
        ("key set released", {}),
        ("secrets spread", {"delay_ns": 10**9}),
        ("cloud clock", {"ahead_ns": -(10**9)}),
    ]


def test_failures_keys_and_settings_are_state(cloud: Cloud, clock: MovedClock) -> None:
    cloud.outage("keys")
    cloud.slow("2s", "token")
    cloud.throttle("compute", 1, 1)
    cloud.fail_next("directory", 503, 2, "10")
    cloud.hold_key_set()
    cloud.set_clock_ahead("1m")

    assert Cloud(clock, cloud.parts.entropy, cloud.state()).state() == cloud.state()


@pytest.mark.parametrize(
    ("verb", "arguments", "said"),
    [
        ("outage", ("moon",), "endpoint: expected an endpoint of the cloud, got 'moon'; there are: discovery, keys"),
        ("recover", (7,), "endpoint: expected an endpoint"),
        ("fail_next", ("keys", 200), "status: expected a status from 300 to 599, got 200"),
        ("fail_next", ("keys", 503, 0), "times: expected a whole number from 1"),
        ("fail_next", ("keys", 503, 1, "a\nb"), "retry_after: expected the text of a header"),
        ("fail_next", ("keys", 503, 1, 10), "retry_after: expected the text of a header"),
        ("slow", ("soon", "keys"), "delay: expected a duration"),
        ("slow", ("1s", "moon"), "endpoint: expected an endpoint"),
        ("throttle", ("keys", 0, 1), "per_second: expected a whole number"),
        ("throttle", ("keys", 1, True), "burst: expected a whole number"),
        ("unthrottle", ("moon",), "endpoint: expected an endpoint"),
        ("spread_secrets", ("-1s",), "delay: expected a duration"),
        ("set_clock_ahead", ("soon",), "offset: expected a duration"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(cloud: Cloud, verb: str, arguments: Any, said: str) -> None:
    before = cloud.state()

    with pytest.raises(ValueError, match=said):
        getattr(cloud, verb)(*arguments)
    assert cloud.state() == before
