"""Exercise shift: who logs in, what a token does unrenewed, and what it does when it is renewed each fifty minutes."""

from __future__ import annotations

import pytest

from labkit.lessons.judging import judge
from labkit.lessons.machine_logins.shift import BOUND, ROLE, SHIFT, look, role_maximum, start


def test_without_a_role_nobody_logs_in():
    assert look(start()) == (False, (), 0, *[False] * 4)


def test_a_shift_ends_an_hour_after_the_last_renewal_and_after_eight():
    vault = start()
    role_maximum(vault)

    assert look(vault) == (True, (), 0, True, False, True, False)


@pytest.mark.parametrize(
    ("settings", "period"),
    [
        ({"token_period": "1h"}, True),
        ({"token_period": "1h", "token_max_ttl": "8h"}, True),
        ({"token_ttl": "1h"}, False),
    ],
)
def test_without_a_maximum_that_counts_it_has_no_end(settings, period):
    vault = start()
    vault.post(ROLE, {**BOUND, **settings})
    said = judge(SHIFT, (vault,)).seen

    assert look(vault).after_end
    assert ("of a role with a period only `token_explicit_max_ttl` ends a token" in said) is period


def test_a_period_ends_with_an_explicit_maximum():
    """What is said of a role with a period."""
    vault = start()
    vault.post(ROLE, {**BOUND, "token_period": "1h", "token_explicit_max_ttl": "8h"})

    assert judge(SHIFT, (vault,)).outcome == "right"


def test_who_is_let_in_besides_is_said():
    vault = start()
    vault.post(ROLE, {"bound_locations": "westeurope", "token_ttl": "1h", "token_max_ttl": "8h"})

    assert judge(SHIFT, (vault,))[1:3] == ("keeps out", "let in with role shift: jump-1")
