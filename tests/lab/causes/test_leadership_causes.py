"""Leadership causes: who takes the lead and why, and why a node does not serve."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labkit import Lab
from labkit.lab.operations.runbook_effects import RunbookError

BY_HAND = "an operator sends paris-1 the request that led to it, by hand"


def sealed(lab: Lab) -> None:
    lab.seal("paris")


def stepped_down(lab: Lab) -> None:
    lab["paris"].put("sys/step-down")


def restarted(lab: Lab) -> None:
    lab.crash("paris-1")
    lab.restart("paris-1")


@pytest.mark.parametrize(
    ("act", "says", "root"),
    [
        (sealed, "paris-1, which led until then, was sealed", BY_HAND),
        (stepped_down, "paris-1, which led until then, was stepped down", BY_HAND),
        (restarted, "paris-1, which led until then, went down and came up sealed", "paris-1 goes down, by hand"),
        (
            lambda lab: lab.crash("paris-1"),
            "paris-1, which led until then, has gone down",
            "paris-1 goes down, by hand",
        ),
        (
            lambda lab: lab.pause("paris-1"),
            "stands still and does not renew its lease",
            "the process of paris-1 stands",
        ),
    ],
)
def test_a_node_takes_the_lead_of_one_that_ceased_to_serve(calm, act: Callable[[Lab], None], says, root):
    act(calm)
    calm.run("8s")

    found = calm.why("paris: leads")

    assert says in found.steps[0].sentence
    assert root in found.root.sentence


def test_what_a_step_of_a_scenario_did_is_named_with_its_number():
    lab = Lab.load("scenarios/faults/stalled-leader.lab.yaml").run()

    assert lab.why("paris: leads").root.sentence == "the process of paris-1 stands still, step 2: pause paris-1"
    assert lab.why("paris-1: stepped down").steps[1:] == lab.why("paris: leads").steps


def test_a_cluster_that_cannot_be_asked_names_what_took_its_leader(calm):
    calm.crash("paris")
    with pytest.raises((TimeoutError, RunbookError)):
        calm["paris"].get("secret/data/app", timeout="1s")

    found = calm.why("unknown")

    assert found.root.sentence == "paris-1 goes down, by hand"


def test_a_standby_that_says_so_names_who_leads(calm):
    calm["paris"].request("GET", "sys/health", node="paris-2")

    assert "paris-2 is a standby: paris-1 leads" in str(calm.why("refused"))


def test_a_secondary_that_cannot_be_promoted_yet_names_why_it_compares(short_ring):
    short_ring.partition("paris", "tokyo")
    short_ring.run("9s")
    short_ring.heal()
    short_ring.run(until=lambda lab: lab.trace.select("mode", cluster="tokyo")[-1].state.startswith("merkle"))
    token = short_ring["tokyo"].operation_token()
    short_ring["tokyo"].post("sys/replication/dr/secondary/promote", {"dr_operation_token": token}, token="")

    found = short_ring.why("refused")

    assert "tokyo is still catching up" in str(found)
    assert found.root.sentence == "the line paris <> tokyo is cut both ways, by hand"


def test_a_leader_that_recorded_nothing_is_not_said_to_serve_no_requests():
    lab = Lab.pair(seed=5)  # without a cloud: the key store is nowhere
    lab["paris"].post("sys/managed-keys/pkcs11/k", {"key_label": "k", "mechanism": "CKM_AES_GCM"}).raise_for_status()
    assert lab["paris"].post("transit/keys/k", {"type": "managed_key", "managed_key_name": "k"}).status == 503

    assert lab.why("refused").root.sentence == "paris-1 leads paris, and recorded no reason"


def test_a_secondary_that_lacks_the_root_key_names_what_took_its_primary(calm):
    calm["paris"].rekey(5, 3)
    calm.run("100ms")  # the keyring has arrived by then, and the question for its root key has not
    calm.crash("paris")
    calm.run("40s")
    token = calm["tokyo"].operation_token()
    calm["tokyo"].post("sys/replication/dr/secondary/promote", {"dr_operation_token": token}, token="")

    found = calm.why("refused")

    assert found.steps[1].sentence == "tokyo is a secondary that has no connection to its primary"
    assert found.root.sentence.endswith("goes down, by hand")
