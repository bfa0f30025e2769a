"""How long a token lives: caps, periods, explicit maxima, and what is told of a cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest
from labkit.vault.auth.lifetime import Bounds, asked_seconds, grant_s, mount_bounds
from labkit.vault.mounts import Mount

HOUR = 3_600


def granted(bounds: Bounds, asked_s: int = 0, age_s: int = 0) -> tuple[int, list[str]]:
    told: list[str] = []
    return grant_s(bounds, asked_s, age_s * SECOND_NS, told.append), told


def test_the_system_gives_thirty_two_days() -> None:
    assert granted(Bounds()) == (32 * 24 * HOUR, [])


def test_what_is_asked_beats_the_role_and_the_role_beats_the_mount() -> None:
    bounds = Bounds(mount_default_s=HOUR, ttl_s=2 * HOUR)

    assert granted(bounds, asked_s=3 * HOUR)[0] == 3 * HOUR
    assert granted(bounds)[0] == 2 * HOUR
    assert granted(bounds._replace(ttl_s=0))[0] == HOUR


@pytest.mark.parametrize("bound", ["mount_max_s", "max_ttl_s", "explicit_max_ttl_s"])
def test_each_maximum_cuts_and_says_so(bound: str) -> None:
    seconds, told = granted(Bounds()._replace(**{bound: HOUR}), asked_s=2 * HOUR)

    assert seconds == HOUR
    assert told == ['TTL of "2h" exceeded the effective max_ttl of "1h"; TTL value is capped accordingly']


def test_a_renewal_never_goes_beyond_issue_plus_maximum() -> None:
    bounds = Bounds(mount_max_s=10 * HOUR)

    assert granted(bounds, asked_s=4 * HOUR, age_s=8 * HOUR)[0] == 2 * HOUR
    with pytest.raises(BadRequest, match="past the max TTL, cannot renew"):
        granted(bounds, asked_s=1, age_s=10 * HOUR)


def test_a_fraction_of_a_second_is_never_given_too_much() -> None:
    assert grant_s(Bounds(mount_max_s=10), 10, SECOND_NS // 2, lambda text: None) == 9


def test_a_period_is_given_again_for_ever() -> None:
    assert granted(Bounds(mount_max_s=10 * HOUR, period_s=HOUR), asked_s=5, age_s=1_000 * HOUR) == (HOUR, [])


def test_a_period_is_capped_by_the_maximum() -> None:
    seconds, told = granted(Bounds(mount_max_s=HOUR, period_s=5_400))

    assert seconds == HOUR
    assert told == ['period of "1h30m" exceeded the effective max_ttl of "1h"; period value is capped accordingly']


def test_an_explicit_maximum_ends_a_periodic_token() -> None:
    bounds = Bounds(explicit_max_ttl_s=10 * HOUR, period_s=4 * HOUR)

    assert granted(bounds, age_s=8 * HOUR)[0] == 2 * HOUR
    with pytest.raises(BadRequest, match="past the max TTL"):
        granted(bounds, age_s=10 * HOUR)


limits = st.integers(0, 100)


@settings(max_examples=300)
@given(
    st.builds(
        Bounds,
        mount_default_s=st.integers(1, 100),
        mount_max_s=st.integers(1, 100),
        ttl_s=limits,
        max_ttl_s=limits,
        explicit_max_ttl_s=limits,
        period_s=limits,
    ),
    limits,
    limits,
)
def test_no_token_outlives_its_bounds(bounds: Bounds, asked_s: int, age_s: int) -> None:
    longest = min(limit for limit in (bounds.mount_max_s, bounds.max_ttl_s, bounds.explicit_max_ttl_s) if limit)
    try:
        seconds, told = granted(bounds, asked_s, age_s)
    except BadRequest:
        ends = bounds.explicit_max_ttl_s if bounds.period_s else longest
        assert ends
        assert age_s >= ends
        return
    wanted = bounds.period_s or asked_s or bounds.ttl_s or bounds.mount_default_s
    assert 0 < seconds <= longest
    assert bool(told) == (seconds < wanted)
    if bounds.explicit_max_ttl_s:
        assert age_s + seconds <= bounds.explicit_max_ttl_s
    if not bounds.period_s:
        assert age_s + seconds <= longest


def test_a_mount_says_what_holds_for_its_tokens() -> None:
    mount = Mount("auth/token/", "token", "u", "a")

    assert mount_bounds(mount) == Bounds()
    assert mount_bounds(mount._replace(default_lease_ttl_s=60, max_lease_ttl_s=90)) == Bounds(60, 90)
    assert mount_bounds(mount._replace(max_lease_ttl_s=90)) == Bounds(90, 90)


@pytest.mark.parametrize(("sent", "seconds"), [(None, 0), ("", 0), (0, 0), (90, 90), ("90", 90), ("1h30m", 5_400)])
def test_durations_come_in_every_spelling(sent: object, seconds: int) -> None:
    assert asked_seconds(sent, "ttl") == seconds


def test_garbage_and_negative_durations_are_refused() -> None:
    with pytest.raises(BadRequest, match='time: invalid duration "x"'):
        asked_seconds("x", "ttl")
    with pytest.raises(BadRequest, match="ttl must be positive"):
        asked_seconds("-1h", "ttl")
