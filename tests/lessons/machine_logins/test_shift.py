"""Exercise shift: what a token does unrenewed, and what it does when it is renewed each fifty minutes."""

from __future__ import annotations

import pytest

from labkit.lessons.machine_logins.shift import BOUND, ROLE, look, role_maximum, start


def test_without_a_role_nobody_logs_in():
    assert look(start()) == (False,) * 5


def test_a_shift_ends_an_hour_after_the_last_renewal_and_after_eight():
    vault = start()
    role_maximum(vault)

    assert look(vault) == (True, True, False, True, False)


@pytest.mark.parametrize("settings", [{"token_period": "1h"}, {"token_ttl": "1h"}])
def test_without_a_maximum_it_has_no_end(settings):
    vault = start()
    vault.post(ROLE, {**BOUND, **settings})

    assert look(vault).after_end
