"""Faults of the cloud: what they do to logins, how long these wait, and who is not affected."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault
from labkit.service.message import Response

SECOND_NS = 1_000_000_000


class Site:
    """A seeded vault beside its cloud, both on a clock that stands unless somebody waits."""

    def __init__(self) -> None:
        self.vault = Vault.dev(seed=11)
        self.cloud = self.vault.cloud
        machine = self.cloud.vm("web-1")
        for role, bound in (("sp", "service_principal_ids"), ("web", "resource_groups")):
            value = machine.principal_id if role == "sp" else machine.resource_group
            self.vault.post(f"auth/cloud/role/{role}", {f"bound_{bound}": value})
        self.waited_s = 0.0

    def login(self, role: str = "web", **fields: Any) -> Response:
        """Log web-1 in; ``waited_s`` is how long that took."""
        began_ns = self.vault.now()
        answer = self.cloud.vm("web-1").login(self.vault, role=role, **fields)
        self.waited_s = (self.vault.now() - began_ns) / SECOND_NS
        return answer


@pytest.fixture
def site() -> Site:
    return Site()


def test_a_throttled_metadata_api_is_waited_for(site: Site) -> None:
    assert site.login().ok
    site.cloud.fail_next("compute", 429, times=2)
    assert site.login().ok
    assert 3.2 + 9.6 <= site.waited_s <= 5.2 + 15.6

    site.cloud.fail_next("compute", 429, retry_after="10")
    assert site.login().ok
    assert site.waited_s == 10


def test_a_longer_wait_than_the_longest_is_passed_on_at_once(site: Site) -> None:
    site.cloud.fail_next("compute", 429, retry_after="300")
    refused = site.login()

    assert (refused.status, refused.headers["Retry-After"], site.waited_s) == (503, "300", 0)


def test_after_the_last_retry_nobody_waits(site: Site) -> None:
    assert site.login().ok
    site.cloud.fail_next("compute", 503, times=4)
    assert site.login().status == 503
    assert 3.2 + 9.6 + 22.4 <= site.waited_s <= 5.2 + 15.6 + 36.4
    assert site.login().ok


def test_pages_and_redirections_in_place_of_json_let_nobody_in(site: Site) -> None:
    site.cloud.fail_next("keys", 302, page=True)
    assert (site.login().status, site.waited_s) == (503, 0)
    assert site.login().ok


def test_without_its_provider_a_login_goes_on_with_the_keys_that_it_has_for_a_day(site: Site) -> None:
    assert site.login().ok
    site.cloud.outage("discovery", "keys")
    for hours in (1, 10, 12):
        site.vault.advance(f"{hours}h")
        assert site.login("sp").ok, hours
    site.vault.advance("1h")
    assert site.login("sp").status == 503
    site.cloud.recover()
    assert site.login("sp").ok


def test_without_metadata_only_roles_that_bind_machines_fail(site: Site) -> None:
    site.cloud.outage("compute")

    assert (site.login("sp").status, site.login().status) == (200, 503)


def test_an_orderly_roll_of_keys_loses_no_login(site: Site) -> None:
    for _ in range(6):
        assert site.login("sp").ok
        site.vault.advance("10m")
        site.cloud.roll_keys()


def test_a_second_roll_within_the_cooldown_waits_for_its_end(site: Site) -> None:
    assert site.login("sp").ok
    site.cloud.roll_keys()
    assert site.login("sp").ok
    site.cloud.roll_keys()
    assert site.login("sp").status == 403
    site.vault.advance("299s")
    assert site.login("sp").status == 403
    site.vault.advance("1s")
    assert site.login("sp").ok


def test_a_key_that_is_used_before_it_is_published_fails_until_then(site: Site) -> None:
    site.cloud.use_unpublished_key()
    assert site.login("sp").status == 403
    site.cloud.publish_key()
    site.vault.advance("5m")
    assert site.login("sp").ok


def test_a_stale_set_of_keys_is_fetched_again_once_it_may_be(site: Site) -> None:
    site.cloud.hold_key_set()
    site.cloud.roll_keys()
    site.cloud.roll_keys()
    assert site.login("sp").status == 403
    site.cloud.release_key_set()
    site.vault.advance("5m")
    assert site.login("sp").ok


def test_a_key_that_was_taken_back_stops_within_the_hour(site: Site) -> None:
    old = site.cloud.vm("web-1").token()
    assert site.login("sp", jwt=old).ok
    site.cloud.revoke_key()
    site.vault.advance("59m")
    assert site.login("sp", jwt=old).ok
    site.vault.advance("1m")
    assert site.login("sp", jwt=old).status == 403


@pytest.mark.parametrize(("ahead", "status"), [("6m", 200), ("6m1s", 403), ("-10m", 200), ("-24h6m", 403)])
def test_clocks_that_differ(site: Site, ahead: str, status: int) -> None:
    """Tokens begin five minutes back and live for a day; the leeway is a minute at both ends."""
    site.cloud.set_clock_ahead(ahead)

    assert site.login("sp").status == status


def test_a_secret_that_takes_a_while_to_spread_is_waited_for(site: Site) -> None:
    site.cloud.spread_secrets("60s")
    began_ns = site.vault.now()
    assert site.vault.post("auth/cloud/rotate-root").status == 204

    assert site.vault.now() - began_ns >= 60 * SECOND_NS
    site.vault.advance("2h")  # the access token of before has ended
    assert site.login().ok
