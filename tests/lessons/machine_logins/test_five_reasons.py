"""Exercise five_reasons: reasons are those of the audit file, and whoever passed is seen by the token that is left."""

from __future__ import annotations

from labkit.lessons.machine_logins.five_reasons import look, start, tokens_only
from labkit.lessons.machine_logins.machines import login


def test_at_the_start_there_is_nothing_to_see():
    assert look(start()) == ((), 0, True)


def test_five_tokens_have_five_reasons():
    vault = start()
    tokens_only(vault)

    assert look(vault).reasons == ("audience", "early", "expired", "issuer", "missing_claim")
    login(vault, "web-1")
    assert look(vault).passed == 1
