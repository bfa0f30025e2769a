"""Both predictions of lesson 03: what is measured, what is missing before, and the numbers of the explanations."""

from __future__ import annotations

import pytest

from labkit import Vault
from labkit.lessons.machine_logins.five_reasons import start
from labkit.lessons.machine_logins.questions import FORGERIES, RENEWED


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
