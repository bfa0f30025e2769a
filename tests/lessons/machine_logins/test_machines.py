"""Machines of a vault's cloud: a machine that is not meant, tokens that were changed, reasons in the audit file."""

from __future__ import annotations

from labkit.lessons.machine_logins.five_reasons import start
from labkit.lessons.machine_logins.machines import five_tries, forged, login, pretending, reasons, with_machines


def test_there_is_one_machine_beside_the_web_shop_at_the_same_place():
    cloud = with_machines(seed=1).cloud
    web, jump = cloud.vm("web-1"), cloud.vm("jump-1")

    assert (jump.location, jump.subscription_id) == (web.location, web.subscription_id)
    assert jump.resource_group != web.resource_group


def test_five_tries_have_one_answer_and_five_reasons():
    vault = start()
    assert reasons(vault) == []
    answers = five_tries(vault)

    assert {(answer.status, *answer.errors) for answer in answers} == {
        (403, "1 error occurred:\n\t* permission denied\n\n")
    }
    assert reasons(vault) == ["resource_group", "machine_claim", "expired", "audience", "algorithm"]


def test_a_refusal_that_is_no_login_and_a_login_that_comes_to_no_check_have_no_reason():
    vault = start()
    for path in ("secret/data/a", "sys/mounts"):
        assert vault.get(path, token="hvs.nothing").status == 403
    assert login(vault, "web-1", jwt="x").status == 400

    assert reasons(vault) == []


def test_an_honest_login_leaves_no_reason():
    vault = start()

    assert login(vault, "web-1").ok
    assert pretending(vault)["vm_name"] == "web-1"
    assert forged(vault).ok, "nothing was changed"
    assert reasons(vault) == []
