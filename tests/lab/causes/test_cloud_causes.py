"""Why a login was refused or a call of the cloud failed: the fault that was played is the root of the explanation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import CloudPlan, pair


@pytest.fixture(scope="module")
def stand() -> Any:
    """A lab whose cloud is at tokyo, with a method and a role at paris, where nobody has logged in."""
    lab = Lab(replace(pair(), cloud=CloudPlan(site="tokyo")), seed=5)
    for path, body in (
        ("sys/auth/cloud", {"type": "cloud"}),
        ("auth/cloud/config", {**lab.cloud.config, "max_retries": 0}),
        ("auth/cloud/role/web", {"bound_service_principal_ids": lab.cloud.vm("web-1").principal_id}),
        ("auth/cloud/role/group", {"bound_resource_groups": "web"}),
    ):
        assert lab["paris"].post(path, body).status == 204
    return lab.snapshot()


def login(lab: Lab, **forged: Any) -> int:
    """Log web-1 in at paris, with an honest token or another; return the answer's status."""
    vm = lab.cloud.vm("web-1")
    place = {"subscription_id": vm.subscription_id, "resource_group_name": vm.resource_group, "vm_name": "web-1"}
    body = {"role": "web", "jwt": lab.cloud.mint("web-1", **forged), **place}
    return lab["paris"].post("auth/cloud/login", body, token="").status


def refused(stand: Any, act: Callable[[Lab], object], **forged: Any) -> tuple[str, str]:
    """Return why a login is refused after something was done: the root in words, and its kind."""
    lab = Lab.restore(stand)
    act(lab)
    assert login(lab, **forged) in (403, 503)
    found = lab.why("refused")
    return found.root.sentence, found.origin


def known_and(act: Callable[[Lab], object]) -> Callable[[Lab], object]:
    """Let a machine log in, so that paris has keys, and then something be done."""

    def acted(lab: Lab) -> None:
        assert login(lab) == 200
        act(lab)

    return acted


def out_and_back(lab: Lab) -> None:
    """Some faults end; that of the keys stands."""
    lab.cloud_slow("1s", "keys")
    lab.cloud_outage("discovery")
    lab.cloud_outage("keys")
    lab.cloud_recover("discovery")
    lab.cloud_outage("compute")
    lab.cloud_restore("keys")


def planned_again(lab: Lab) -> None:
    """What was to come is taken back, and asked for again."""
    lab.cloud.fail_next("keys", 503, times=2)
    lab.cloud.recover("keys")
    lab.cloud.fail_next("keys", 503)


def fail_twice(lab: Lab) -> None:
    """Two failures are to come, and the second one does."""
    lab.cloud.fail_next("keys", 502)
    assert login(lab) == 503
    lab.run("5m")
    lab.cloud.fail_next("keys", 504)


def rolled_twice(lab: Lab) -> None:
    """The second of two rolls makes the key unknown."""
    lab.roll_keys()
    lab.run("1s")
    lab.roll_keys()


OUTAGE = "the cloud's endpoint {} answers nothing any more, by hand"
FAULTS = (
    (lambda lab: lab.cloud_outage(), OUTAGE.format("discovery")),
    (out_and_back, OUTAGE.format("keys")),
    (lambda lab: lab.cloud_slow("20s", "keys"), "the cloud's endpoint keys becomes slower (20s), by hand"),
    (
        lambda lab: lab.cloud.fail_next("keys", 503),
        "the cloud's endpoint keys is set to fail with 503 (1 times), by hand",
    ),
    (planned_again, "the cloud's endpoint keys is set to fail with 503 (1 times), by hand"),
    (fail_twice, "the cloud's endpoint keys is set to fail with 504 (1 times), by hand"),
    (known_and(rolled_twice), "the cloud signs with its next key, by hand"),
    (
        known_and(lambda lab: lab.cloud.use_unpublished_key()),
        "the cloud signs with a key that it does not publish, by hand",
    ),
    (lambda lab: lab.skew("paris", "-1h"), "the wall clock of paris-1 becomes wrong (-1h0m0s), by hand"),
    (lambda lab: lab.cloud.set_clock_ahead("1h"), "the cloud's clock is set to be ahead by 1h0m0s, by hand"),
)


@pytest.mark.slow
def test_a_fault_of_the_cloud_or_a_clock_is_the_root(stand: Any) -> None:
    for act, words in FAULTS:
        assert refused(stand, act) == (words, "fault")


def test_so_it_is_of_machines_that_are_looked_up_and_of_the_root_credential(stand: Any) -> None:
    def throttled(lab: Lab) -> None:
        lab.cloud.throttle("compute", 1, 1)
        assert lab.cloud.vm("web-1").login(lab["paris"], role="group").ok

    def root(lab: Lab) -> int:
        return lab["paris"].post("auth/cloud/rotate-root", timeout="10m").status

    def group(lab: Lab) -> int:
        return lab.cloud.vm("web-1").login(lab["paris"], role="group").status

    for act, ask, words in (
        (lambda lab: lab.cloud_outage("compute"), group, OUTAGE.format("compute")),
        (throttled, group, "the cloud's endpoint compute lets 1 requests a second pass, 1 at once, by hand"),
        (lambda lab: lab.cloud_outage("token"), group, OUTAGE.format("token")),
        (lambda lab: lab.cloud_outage("directory"), root, OUTAGE.format("directory")),
        (lambda lab: lab.cloud.spread_secrets("1h"), root, "new secrets of the cloud spread after 1h0m0s, by hand"),
    ):
        lab = Lab.restore(stand)
        act(lab)
        assert ask(lab) == 503
        found = lab.why("refused")
        assert (found.root.sentence, found.origin) == (words, "fault")


def test_what_was_not_played_is_not_named(stand: Any) -> None:
    """Made-up tokens are refused for what they are, also where faults have ended or concern something else."""

    def long_ago(lab: Lab) -> None:
        rolled_twice(lab)
        lab.run("6m")
        assert login(lab) == 200

    def clock_put_right(lab: Lab) -> None:
        lab.cloud.set_clock_ahead("1h")
        lab.cloud.set_clock_ahead("0s")

    def published(lab: Lab) -> None:
        lab.cloud.use_unpublished_key()
        lab.cloud.publish_key()

    elsewhere = known_and(lambda lab: lab.cloud_outage("compute"))
    for act in (elsewhere, known_and(long_ago), known_and(clock_put_right), known_and(published)):
        for forged in ({"headers": {"kid": "made-up"}}, {"claims": {"exp": 1}}):
            sentence, origin = refused(stand, act, **forged)
            assert (sentence[:20], origin) == ("an operator sends pa", "operator"), (sentence, forged)


def test_the_reason_that_the_node_recorded_is_a_step(stand: Any) -> None:
    lab = Lab.restore(stand)
    login(lab, claims={"exp": 1})

    assert "login refused (mount auth/cloud/, reason expired" in lab.why("refused").steps[1].sentence


def test_a_line_is_the_root_of_a_call_that_it_loses_or_delays(stand: Any) -> None:
    def cut_off(lab: Lab) -> None:
        lab.cloud.fail_next("keys", 503)
        lab.partition("paris", "tokyo")

    def healed_and_slow(lab: Lab) -> None:
        lab.partition("paris", "tokyo")
        assert login(lab) == 503
        lab.heal()
        lab.run("1m")
        lab.slow("paris", "tokyo", latency="20s")

    assert refused(stand, cut_off) == ("the line paris <> tokyo is cut both ways, by hand", "fault")
    sentence, origin = refused(stand, healed_and_slow)
    assert (sentence[:37], origin) == ("the line paris <> tokyo becomes slowe", "fault")


def test_a_cloud_that_answers_so_of_itself_has_no_fault(stand: Any) -> None:
    def other_tenant(lab: Lab) -> None:
        lab["paris"].post("auth/cloud/config", {"tenant_id": "99999999-0000-4000-8000-000000000001"}).raise_for_status()

    assert refused(stand, other_tenant) == ("paris-1 asked login.cloud.test, which answered 400", "not recorded")


def test_a_call_that_failed_is_a_step_also_where_nobody_waited_for_the_end(stand: Any) -> None:
    lab = Lab.restore(stand)
    lab["paris"].post("auth/cloud/config", {"max_retries": 9})
    lab.cloud_outage("discovery")
    with pytest.raises(TimeoutError):
        login(lab)

    found = lab.why("unknown")
    assert [step.sentence for step in found.steps[2:]] == [
        "paris-1 asked login.cloud.test, which did not answer",
        OUTAGE.format("discovery"),
    ]
    assert found.origin == "fault"
    assert [step.at_ns for step in found.steps] == sorted([step.at_ns for step in found.steps], reverse=True)


def test_what_was_done_to_the_cloud_is_explained_by_its_row(stand: Any) -> None:
    """Every verb has words, those that put something right too."""
    lab = Lab.restore(stand)
    cloud = lab.cloud
    for verb, *arguments in (
        ("outage",),
        ("recover",),
        ("slow", "2s"),
        ("restore",),
        ("throttle", "keys", 5, 9),
        ("unthrottle",),
        ("fail_next", "keys"),
        ("hold_key_set",),
        ("release_key_set",),
        ("roll_keys",),
        ("use_unpublished_key",),
        ("publish_key",),
        ("revoke_key",),
        ("spread_secrets", "1s"),
        ("set_clock_ahead", "-90s"),
    ):
        before = len(list(lab.trace))
        getattr(cloud, verb)(*arguments)
        rows = range(before, len(list(lab.trace)))
        assert rows, verb
        found = [lab.why(row) for row in rows]
        assert {each.origin for each in found} == {"fault"}, verb
        assert {"the cloud" in each.root.sentence and "{" not in each.root.sentence for each in found} == {True}, verb
    assert lab.why(len(list(lab.trace)) - 1).root.sentence == "the cloud's clock is set to be ahead by -1m30s, by hand"


def test_the_step_of_a_scenario_is_named(checkout: Any) -> None:
    lab = Lab.load(checkout / "scenarios/cloud/keys-roll.lab.yaml").run("4m")

    found = lab.why("refused")
    assert (found.root.sentence, found.origin) == ("the cloud signs with its next key, step 8: roll-keys", "fault")
