"""Both predictions of lesson 03: what is measured, what is missing before, and the numbers of the explanations."""

from __future__ import annotations

import pytest

from labkit import Vault
from labkit.lessons.machine_logins.five_reasons import start
from labkit.lessons.machine_logins.machines import five_tries
from labkit.lessons.machine_logins.questions import FORGERIES, RENEWED, ROLLED


@pytest.mark.slow
def test_no_refusal_shows_what_was_wrong():
    vault = start()
    lines = vault.files.read("audit.log")

    assert FORGERIES.needs(Vault.dev(seed=1)).startswith("This vault has no role web")
    assert FORGERIES.needs(vault) == ""
    assert FORGERIES.measure(vault) == 0
    assert "All five answer 403" in FORGERIES.why(vault)
    assert "resource_group, machine_claim, expired, audience, algorithm" in FORGERIES.why(vault)
    assert vault.cloud.vm("web-1").login(vault, role="web").ok
    assert (vault.files.read("audit.log") or b"").startswith(lines or b"")


def test_a_renewal_never_reaches_past_the_end():
    vault = Vault.dev(seed=1)
    assert "no token has a limit" in RENEWED.needs(vault)
    token = vault.post("auth/token/create", {"ttl": "1h", "explicit_max_ttl": "90m"}).auth["client_token"]
    vault.advance("50m")
    first = vault.post("auth/token/renew-self", {}, token=token).auth["lease_duration"]
    assert "not renewed at 85 minutes yet" in RENEWED.needs(vault)
    vault.advance("35m")
    second = vault.post("auth/token/renew-self", {}, token=token).auth["lease_duration"]

    assert (first, second) == (2_400, 300)
    assert RENEWED.needs(vault) == ""
    assert RENEWED.measure(vault) == 300
    assert "at 85 minutes 300 seconds were left" in RENEWED.why(vault)
    vault.advance("6m")
    assert vault.get("auth/token/lookup-self", token=token).status == 403


def test_what_was_left_of_the_first_hour_is_what_a_reply_says():
    """Renewed to 90 minutes at most at 50 minutes, a usual hour would have left 1,500 s at 85 minutes."""
    assert 50 * 60 + 3_600 - 85 * 60 == 1_500
    assert 1_500 in RENEWED.replies


def test_keys_that_change_twice_keep_an_honest_machine_out_until_they_may_be_fetched_again():
    vault = start()
    assert "0 logins so far" in ROLLED.needs(vault)
    vault.cloud.vm("web-1").login(vault, role="web")
    for wait in ("1s", "1s", "5m"):
        if wait != "5m":
            vault.cloud.roll_keys()
        vault.advance(wait)
        vault.cloud.vm("web-1").login(vault, role="web")

    assert ROLLED.needs(vault) == ""
    assert ROLLED.measure(vault) == 3
    assert "The logins answered 200, 200, 403 and 200" in ROLLED.why(vault)
    assert set(ROLLED.replies) == {4, 2, 1}


def test_logins_of_a_vault_whose_keys_never_changed_are_not_judged():
    """As those of exercise 2, which has the same start."""
    vault = start()
    five_tries(vault)
    assert ROLLED.needs(vault) == "The signing keys of this vault's cloud never changed: run the cell above first."


def test_keys_are_fetched_again_after_the_time_that_the_explanation_says():
    assert "five minutes" in ROLLED.replies[2]
    assert start().core.settings.key_cooldown_s == 300
