"""Stolen keys: a key that was taken back lets nobody in an hour after the last fetch, whatever happens meanwhile.

A table of states × events in a lab whose cloud answers: somebody holds the private key with which it signed, and goes
on minting tokens.  Nobody else logs in after the event, so that nothing but the thief's own login can find out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import pytest

from labkit import Lab
from labkit.cloud.application_directory import new_secret
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import CloudPlan, ClusterPlan, pair
from labkit.service.message import Response

HOUR = "61m"


class Theft(NamedTuple):
    """A lab whose cluster paris lets machines log in, and the key that its cloud signed with at first."""

    lab: Lab
    steal: Callable[[Lab], str]

    def body(self, role: str = "sp", jwt: str = "") -> dict[str, Any]:
        """What web-1 logs in with, with an honest token unless another one is given."""
        vm = self.lab.cloud.vm("web-1")
        place = {"subscription_id": vm.subscription_id, "resource_group_name": "web", "vm_name": "web-1"}
        return {"role": role, "jwt": jwt or vm.token(), **place}

    def login(self, cluster: str = "paris", role: str = "sp", jwt: str = "", lab: Lab | None = None) -> Response:
        """Log web-1 in."""
        answer: Response = (lab or self.lab)[cluster].post("auth/cloud/login", self.body(role, jwt), token="")
        return answer

    def begin(self, role: str = "sp", jwt: str = "") -> int:
        """Begin a login whose answer nobody waits for; return its number."""
        path = "auth/cloud/login"
        number: int = self.lab.parts.console.ask(Ask("paris", "POST", path, self.body(role, jwt), token=""))
        self.lab.run("1s")
        return number

    def status(self, number: int) -> int:
        """How a login ended that was begun."""
        answer = self.lab.parts.console.answers.get(number)
        return 0 if answer is None else answer.status


@pytest.fixture
def theft() -> Theft:
    """One cluster beside its cloud."""
    return stolen(pair().clusters[:1])


@pytest.fixture
def theft_of_two() -> Theft:
    """Paris beside its cloud, and tokyo, which follows it and then leads; paris has kept keys and an access token."""
    made = stolen(pair().clusters)
    made.lab.replicate("paris", "tokyo")
    assert made.login(role="loc").ok
    made.lab.failover("paris", "tokyo")
    return made


def stolen(clusters: tuple[ClusterPlan, ...]) -> Theft:
    """Make a lab of these clusters, and steal the key that signs."""
    lab = Lab(replace(pair(), clusters=clusters, cloud=CloudPlan(site="paris")), seed=5)
    paris, vm = lab["paris"], lab.cloud.vm("web-1")
    paris.post("sys/auth/cloud", {"type": "cloud"}).raise_for_status()
    paris.post("auth/cloud/config", lab.cloud.config).raise_for_status()
    paris.post("auth/cloud/role/sp", {"bound_service_principal_ids": vm.principal_id}).raise_for_status()
    paris.post("auth/cloud/role/loc", {"bound_locations": "westeurope"}).raise_for_status()
    keys = lab.cloud.parts.keys["CloudPublicCloud"]
    kid, key = keys.signing.kid, keys.private(keys.signing)
    return Theft(lab, lambda lab: lab.cloud.mint("web-1", headers={"kid": kid}, key=key))


# ---- in which state of a cluster's keys it happens


def fresh(theft: Theft) -> None:
    """Its keys were fetched just now."""
    assert theft.login().ok


def middle_aged(theft: Theft) -> None:
    """They were fetched 50 minutes ago."""
    assert theft.login().ok
    theft.lab.run("50m")


def first_fetch(theft: Theft) -> None:
    """They are fetched for the first time."""
    theft.lab.cloud.slow("5s", "keys")
    theft.begin()


def refreshing(theft: Theft) -> None:
    """They are an hour old, and refreshed."""
    assert theft.login().ok
    theft.lab.run(HOUR)
    theft.lab.cloud.slow("1500ms", "discovery", "keys")
    theft.begin()


def refused_once(theft: Theft) -> None:
    """They are an hour old, and one attempt to refresh them has just failed."""
    assert theft.login().ok
    theft.lab.run(HOUR)
    theft.lab.cloud.fail_next("discovery", 503, times=1)
    assert theft.login().ok


def fetching_an_unknown_name(theft: Theft) -> None:
    """They are fetched for a token whose key has an unknown name."""
    assert theft.login().ok
    theft.lab.run("6m")
    theft.lab.cloud.slow("5s", "keys")
    theft.begin(jwt=theft.lab.cloud.mint("web-1", headers={"kid": "made-up"}))


# ---- what happens


def nothing(theft: Theft) -> None:
    """Nothing."""


def crash(theft: Theft) -> None:
    """The active node crashes, and starts again."""
    node = theft.lab["paris"].active
    theft.lab.crash(node)
    theft.lab.run("20s")
    theft.lab.restart(node)


def whole_crash(theft: Theft) -> None:
    """All nodes crash, and start again."""
    theft.lab.crash("paris")
    theft.lab.run("5s")
    theft.lab.restart("paris")
    theft.lab.unseal("paris")


def step_down(theft: Theft) -> None:
    """Another node leads."""
    theft.lab["paris"].post("sys/step-down").raise_for_status()


def seal(theft: Theft) -> None:
    """The cluster is sealed and unsealed again."""
    theft.lab.seal("paris")
    theft.lab.run("3s")
    theft.lab.unseal("paris")


def pause_all(theft: Theft) -> None:
    """All nodes stall for two hours: messages that had come wait as long."""
    for node in theft.lab["paris"].nodes:
        theft.lab.pause(node)
    theft.lab.run("2h")
    for node in theft.lab["paris"].nodes:
        theft.lab.resume(node)


def pause_one(theft: Theft) -> None:
    """The active node stalls for two minutes."""
    node = theft.lab["paris"].active
    theft.lab.pause(node)
    theft.lab.run("2m")
    theft.lab.resume(node)


def skewed(by: str) -> Callable[[Theft], None]:
    def act(theft: Theft) -> None:
        theft.lab.skew("paris", by=by)

    act.__name__ = f"skew {by}"
    return act


def skewed_for_a_while(by: str) -> Callable[[Theft], None]:
    def act(theft: Theft) -> None:
        theft.lab.skew("paris", by=by)
        theft.lab.run("10s")
        theft.login()
        theft.lab.correct("paris")

    act.__name__ = f"skew {by} and back"
    return act


def replaced(theft: Theft) -> None:
    """The configuration is written again."""
    theft.lab["paris"].post("auth/cloud/config", {"max_retries": 1}).raise_for_status()


def branched(theft: Theft) -> None:
    """A branch is made, and left alone: what happens there is not known here."""
    theft.login(lab=theft.lab.branch("aside"))


STATES = (fresh, middle_aged, first_fetch, refreshing, refused_once, fetching_an_unknown_name)
EVENTS = (
    nothing,
    crash,
    whole_crash,
    step_down,
    seal,
    pause_all,
    pause_one,
    skewed("240h"),
    skewed("-4m"),
    skewed("-240h"),
    skewed_for_a_while("20m"),
    skewed_for_a_while("240h"),
    skewed_for_a_while("-20m"),
    replaced,
    branched,
)
IN_EACH_STATE = (crash, pause_all)

# Everyday each event happens in one state, and two of them in all.
CASES = [
    pytest.param(
        state,
        event,
        id=f"{state.__name__}-{event.__name__}",
        marks=[] if state is refreshing or event in IN_EACH_STATE else pytest.mark.slow,
    )
    for state, event in product(STATES, EVENTS)
]


@pytest.mark.parametrize(("state", "event"), CASES)
def test_after_an_hour_a_stolen_key_lets_nobody_in(theft, state, event) -> None:
    state(theft)
    event(theft)
    lab = theft.lab
    lab.cloud.restore()
    lab.run("12s")  # whatever was under way has been answered
    lab.cloud.revoke_key()
    lab.run(HOUR)

    assert theft.login(jwt=theft.steal(lab)).status in (403, 503), "the thief"
    if not event.__name__.endswith("240h"):  # honest tokens are not valid by such a clock
        lab.run("5m1s")
        assert theft.login().ok, "an honest machine"
        assert theft.login(jwt=theft.steal(lab)).status == 403


@pytest.mark.parametrize("role", ["sp", "loc"])
def test_a_login_that_waited_while_its_node_stalled_is_judged_as_of_when_it_goes_on(theft, role) -> None:
    """The thief's own login waits: for the refresh, or for what the cloud says of the machine."""
    assert theft.login(role="loc").ok
    theft.lab.run("50m" if role == "loc" else HOUR)
    theft.lab.cloud.slow("1500ms", "discovery", "keys", "compute")
    number = theft.begin(role, theft.steal(theft.lab))
    theft.lab.cloud.restore()
    for node in theft.lab["paris"].nodes:
        theft.lab.pause(node)
    theft.lab.run("2s")
    theft.lab.cloud.revoke_key()
    theft.lab.run("2h")
    for node in theft.lab["paris"].nodes:
        theft.lab.resume(node)
    theft.lab.run("40s")

    assert theft.status(number) != 200


# ---- on two clusters


def test_a_stolen_key_after_failover_and_failback(theft_of_two) -> None:
    theft, lab = theft_of_two, theft_of_two.lab
    assert theft.login("tokyo").ok
    lab.cloud.revoke_key()
    lab.run("30m")
    lab.failover("tokyo", "paris")
    lab.run("30m")

    assert theft.login("paris", jwt=theft.steal(lab)).status == 403
    assert theft.login("paris").ok


def test_a_configuration_that_was_replaced_on_the_other_cluster(theft_of_two) -> None:
    """Another client, which may read nothing: what paris kept was fetched for the one before."""
    theft, lab = theft_of_two, theft_of_two.lab
    inventory = lab.cloud.inventory
    tenant = next(iter(inventory.tenants.values()))
    made = inventory.add_application("v2", tenant)
    secret = new_secret(lab.cloud.parts, "x", lab.cloud.parts.now() + 10**18, 0)
    inventory.keep_secrets(made, (secret,))
    config = {"client_id": made.client_id, "client_secret": secret.text}
    lab["tokyo"].post("auth/cloud/config", config).raise_for_status()
    assert theft.login("tokyo", "loc").status == 503
    lab.failover("tokyo", "paris")

    assert theft.login("paris", "loc").status == 503


def test_another_tenant_that_was_configured_on_the_other_cluster(theft_of_two) -> None:
    theft, lab = theft_of_two, theft_of_two.lab
    other = "99999999-0000-4000-8000-000000000001"
    lab["tokyo"].post("auth/cloud/config", {"tenant_id": other, "max_retries": 0}).raise_for_status()
    lab.failover("tokyo", "paris")

    assert theft.login("paris").status == 503, "of that tenant no keys can be fetched; those of the other are no use"


def test_a_lab_that_is_restored_in_the_middle_of_a_refresh(theft) -> None:
    refreshing(theft)
    saved = theft.lab.snapshot()
    theft.lab.run("5s")
    again = Lab.restore(saved)
    again.cloud.restore()
    again.run("12s")
    again.cloud.revoke_key()
    again.run(HOUR)

    assert theft.login(jwt=theft.steal(again), lab=again).status == 403
