"""How long a token lives: caps, periods, explicit maxima, and what is told of a cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest
from labkit.vault.auth.lifetime import TtlLimits, asked_seconds, grant_s, mount_limits
from labkit.vault.mounts import Mount
from tests.examples import examples

HOUR = 3_600


def granted(limits: TtlLimits, asked_s: int = 0, age_s: int = 0) -> tuple[int, list[str]]:
    told: list[str] = []
    return grant_s(limits, asked_s, age_s * SECOND_NS, told.append), told


def test_the_system_gives_thirty_two_days() -> None:
    assert granted(TtlLimits()) == (32 * 24 * HOUR, [])


def test_what_is_asked_beats_the_role_and_the_role_beats_the_mount() -> None:
    limits = TtlLimits(mount_default_s=HOUR, ttl_s=2 * HOUR)

    assert granted(limits, asked_s=3 * HOUR)[0] == 3 * HOUR
    assert granted(limits)[0] == 2 * HOUR
    assert granted(limits._replace(ttl_s=0))[0] == HOUR


@pytest.mark.parametrize("bound", ["mount_max_s", "max_ttl_s", "explicit_max_ttl_s"])
def test_each_maximum_cuts_and_says_so(bound: str) -> None:
    seconds, told = granted(TtlLimits()._replace(**{bound: HOUR}), asked_s=2 * HOUR)

    assert seconds == HOUR
    assert told == ['TTL of "2h" exceeded the effective max_ttl of "1h"; TTL value is capped accordingly']


def test_a_renewal_never_goes_beyond_issue_plus_maximum() -> None:
    limits = TtlLimits(mount_max_s=10 * HOUR)

    assert granted(limits, asked_s=4 * HOUR, age_s=8 * HOUR)[0] == 2 * HOUR
    with pytest.raises(BadRequest, match="past the max TTL, cannot renew"):
        granted(limits, asked_s=1, age_s=10 * HOUR)


def test_a_fraction_of_a_second_is_never_given_too_much() -> None:
    assert grant_s(TtlLimits(mount_max_s=10), 10, SECOND_NS // 2, lambda text: None) == 9


def test_a_period_is_given_again_for_ever() -> None:
    assert granted(TtlLimits(mount_max_s=10 * HOUR, period_s=HOUR), asked_s=5, age_s=1_000 * HOUR) == (HOUR, [])


def test_a_period_is_capped_by_the_maximum() -> None:
    seconds, told = granted(TtlLimits(mount_max_s=HOUR, period_s=5_400))

    assert seconds == HOUR
    assert told == ['period of "1h30m" exceeded the effective max_ttl of "1h"; period value is capped accordingly']


def test_an_explicit_maximum_ends_a_periodic_token() -> None:
    limits = TtlLimits(explicit_max_ttl_s=10 * HOUR, period_s=4 * HOUR)

    assert granted(limits, age_s=8 * HOUR)[0] == 2 * HOUR
    with pytest.raises(BadRequest, match="past the max TTL"):
        granted(limits, age_s=10 * HOUR)


limits = st.integers(0, 100)


@settings(max_examples=examples(300))
@given(
    st.builds(
        TtlLimits,
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
def test_no_token_outlives_its_bounds(limits: TtlLimits, asked_s: int, age_s: int) -> None:
    longest = min(limit for limit in (limits.mount_max_s, limits.max_ttl_s, limits.explicit_max_ttl_s) if limit)
    try:
        seconds, told = granted(limits, asked_s, age_s)
    except BadRequest:
        ends = limits.explicit_max_ttl_s if limits.period_s else longest
        assert ends
        assert age_s >= ends
        return
    wanted = limits.period_s or asked_s or limits.ttl_s or limits.mount_default_s
    assert 0 < seconds <= longest
    assert bool(told) == (seconds < wanted)
    if limits.explicit_max_ttl_s:
        assert age_s + seconds <= limits.explicit_max_ttl_s
    if not limits.period_s:
        assert age_s + seconds <= longest


def test_a_mount_says_what_holds_for_its_tokens() -> None:
    mount = Mount("auth/token/", "token", "u", "a")

    assert mount_limits(mount) == TtlLimits()
    assert mount_limits(mount._replace(default_lease_ttl_s=60, max_lease_ttl_s=90)) == TtlLimits(60, 90)
    assert mount_limits(mount._replace(max_lease_ttl_s=90)) == TtlLimits(90, 90)


@pytest.mark.parametrize(("sent", "seconds"), [(None, 0), ("", 0), (0, 0), (90, 90), ("90", 90), ("1h30m", 5_400)])
def test_durations_come_in_every_spelling(sent: object, seconds: int) -> None:
    assert asked_seconds(sent, "ttl") == seconds


def test_garbage_and_negative_durations_are_refused() -> None:
    with pytest.raises(BadRequest, match='time: invalid duration "x"'):
        asked_seconds("x", "ttl")
    with pytest.raises(BadRequest, match="ttl must be positive"):
        asked_seconds("-1h", "ttl")


def test_what_sets_no_limit_leaves_the_systems() -> None:
    assert TtlLimits() == (2_764_800, 2_764_800, 0, 0, 0, 0)
