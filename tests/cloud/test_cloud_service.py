"""Cloud service: which part answers a request, tokens of any making, and a state from which it goes on the same."""

from __future__ import annotations

import json
from typing import Any

import jwt
import pytest

from labkit.cloud.machine import NoToken
from labkit.front.cloud import Cloud
from labkit.seeded import SeededEntropy
from labkit.service.errors import Forked
from labkit.service.message import Fetch, Request
from tests.cloud.conftest import MovedClock

KEYS = "/common/discovery/keys"


def test_a_part_is_named_by_the_host_or_by_the_first_segment(cloud: Cloud) -> None:
    for path, host in (
        (KEYS, "login.cloud.test"),
        (KEYS, "LOGIN.cloud.test:443"),
        (f"/login.cloud.test{KEYS}", "127.0.0.1:8300"),
        (f"/login.cloud.test{KEYS}", ""),
    ):
        assert cloud.request("GET", path, headers={"host": host}).body == cloud.jwks(), (path, host)
    assert cloud.request("GET", f"/login.china.cloud.test{KEYS}").body == cloud.jwks("CloudChinaCloud") != cloud.jwks()
    token = cloud.request(
        "GET",
        "/machines/web-1/metadata/identity/oauth2/token?api-version=2018-02-01&resource=api://x",
        headers={"Metadata": "true"},
    )
    assert token.ok


def test_a_tenant_in_front_stands_for_its_authority(cloud: Cloud) -> None:
    other = cloud.inventory.add_tenant("CloudChinaCloud").tenant_id
    for tenant, environment in ((cloud.config["tenant_id"], ""), (other.upper(), "CloudChinaCloud"), ("common", "")):
        assert cloud.request("GET", f"/{tenant}/discovery/keys").body == cloud.jwks(environment), tenant
    assert cloud.request("HEAD", "/common/discovery/keys").status == 405


def test_an_error_that_clients_outside_read_has_ids_and_a_time(cloud: Cloud) -> None:
    path = "/common/oauth2/token"
    inside = cloud.request("POST", path).body
    outside = cloud.request("POST", path, origin="https://localhost:1").body
    assert inside is not None
    assert outside is not None

    assert outside.keys() - inside.keys() == {"timestamp", "trace_id", "correlation_id"}
    assert outside["timestamp"] == "2030-01-01 00:00:00Z"
    assert cloud.request("POST", path, origin="https://localhost:1").body == outside
    refused: Any = cloud.request("GET", "/moon/x", origin="https://localhost:1").body
    assert refused.keys() == {"error"}


def test_what_names_no_part_is_refused(cloud: Cloud) -> None:
    for path, status, code in (
        ("/", 404, "HostNotFound"),
        ("/discovery/keys", 404, "HostNotFound"),
        ("/moon.cloud.test/x", 404, "HostNotFound"),
        ("/machines/moon/x", 404, "MachineNotFound"),
        ("/%ff", 400, "BadRequest"),
        ("/" + "a" * 9_000, 400, "BadRequest"),
        ("/\x00", 400, "BadRequest"),
        (7, 400, "BadRequest"),
    ):
        answer: Any = cloud.request("GET", path)  # type: ignore[arg-type]  # that is the point
        assert (answer.status, answer.body["error"]["code"]) == (status, code), path


@pytest.mark.parametrize(
    "odd", [{"method": None}, {"headers": {7: 8, "host": 9}}, {"body": [1]}, {"body": "x"}, {"remote_address": None}]
)
def test_odd_requests_are_answered(cloud: Cloud, odd: dict[str, Any]) -> None:
    for host in ("login.cloud.test", "management.cloud.test", "graph.cloud.test", "169.254.169.254"):
        request = Request("POST", f"/{cloud.config['tenant_id']}/oauth2/token", {"host": host})._replace(**odd)
        assert 400 <= cloud.handle(request).status < 500, host


def test_a_fetch_to_no_host_of_the_cloud_is_silence(cloud: Cloud) -> None:
    assert cloud.answer(Fetch("https://moon.cloud.test", Request("GET", "/"))).status == 0
    assert cloud.answer(Fetch("https://169.254.169.254", Request("GET", "/"))).status == 0


def test_a_minted_token_is_honest_unless_asked_otherwise(cloud: Cloud) -> None:
    key_set = jwt.PyJWKSet.from_dict(cloud.jwks())
    token = cloud.mint("web-1", claims={"exp": 1, "oid": None, "more": [1]}, headers={"x5t": None, "extra": "a"})
    header = jwt.get_unverified_header(token)
    claims = json.loads(jwt.PyJWS().decode(token, key_set[header["kid"]].key, algorithms=["RS256"]))

    assert (claims["exp"], claims["more"], "oid" in claims) == (1, [1], False)
    assert ("x5t" in header, header["extra"]) == (False, "a")
    honest = jwt.decode(cloud.mint(cloud.vm("web-1")), options={"verify_signature": False})
    kept = jwt.decode(cloud.vm("web-1").token(), options={"verify_signature": False})
    assert {**honest, "uti": 0} == {**kept, "uti": 0}
    by_hmac = cloud.mint("web-1", headers={"alg": "HS256"}, key=b"s" * 32)
    assert jwt.PyJWS().decode(by_hmac, b"s" * 32, algorithms=["HS256"])


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"machine": "moon"}, "name: expected a machine of this cloud, got 'moon'"),
        ({"claims": [1]}, "claims: expected a mapping of names to values"),
        ({"claims": {"a": object()}}, "claims, headers: expected what JSON can say"),
        ({"headers": {"a": {1}}}, "claims, headers: expected what JSON can say"),
        ({"headers": {1: 2}}, "headers: expected a mapping of names to values"),
        ({"key": 7}, "key: expected a private key"),
    ],
)
def test_what_cannot_be_minted_is_refused(cloud: Cloud, how: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        cloud.mint(**{"machine": "web-1", **how})


def test_a_machine_without_an_identity_has_nothing_to_mint(cloud: Cloud) -> None:
    cloud.inventory.keep_machine(cloud.vm("web-1").record._replace(system=None))

    with pytest.raises(ValueError, match="machine: expected a machine with an identity, got 'web-1'"):
        cloud.mint("web-1")


def test_a_cloud_goes_on_from_its_state(cloud: Cloud, clock: MovedClock) -> None:
    cloud.vm("web-1").token()
    entropies = [SeededEntropy(5, "go on") for _ in range(2)]
    first, second = (Cloud(clock, entropy, cloud.state()) for entropy in entropies)

    assert first.state() == second.state() == cloud.state()
    for each in (first, second):
        each.vm("web-2").token()
        each.inventory.add_machine("web-3", each.inventory.machine("web-1").group, "westeurope")
    assert first.state() == second.state() != cloud.state()
    assert "web-3" not in str(cloud.state())


def test_a_clock_that_is_ahead_is_later(cloud: Cloud, clock: MovedClock) -> None:
    cloud.set_clock_ahead("1m")

    assert cloud.parts.now() == clock() + 60 * 10**9


def test_a_process_that_was_forked_is_refused_at_every_entrance(cloud: Cloud) -> None:
    machine = cloud.vm("web-1")
    cloud.use.is_forked = lambda: True
    get = Request("GET", KEYS, {"host": "login.cloud.test"})
    for answer in (cloud.handle(get), cloud.request(*get[:2]), cloud.answer(Fetch("https://login.cloud.test", get))):
        assert (answer.status, answer.body and answer.body["error"]["code"]) == (500, "InternalError")
        assert "this cloud was made before this process was forked" in str(answer.body)
    with pytest.raises(NoToken, match="was made before this process was forked"):
        machine.token()
    for entrance in (
        cloud.jwks,
        cloud.state,
        cloud.outage,
        cloud.recover,
        cloud.restore,
        cloud.unthrottle,
        cloud.roll_keys,
        cloud.revoke_key,
        cloud.publish_key,
        cloud.use_unpublished_key,
        cloud.hold_key_set,
        cloud.release_key_set,
        lambda: cloud.config,
        lambda: cloud.inventory,
        lambda: cloud.vm("web-1"),
        lambda: cloud.mint(machine),
        lambda: cloud.slow("1s"),
        lambda: cloud.fail_next("keys"),
        lambda: cloud.throttle("keys", 1, 1),
        lambda: cloud.spread_secrets("1s"),
        lambda: cloud.set_clock_ahead("1s"),
        lambda: cloud.follow(cloud.clock),
    ):
        with pytest.raises(Forked, match="this cloud was made before this process was forked"):
            entrance()
