"""How many examples a property is tried with: all in the whole suite, a share of them in the everyday part."""

from __future__ import annotations

from hypothesis import settings

EVERYDAY = "everyday"
WHOLE = "whole"
DEFAULT_EXAMPLES = 100
EVERYDAY_PERCENT = 25
FEWEST = 5


def register_profiles() -> None:
    """Make both profiles known: a shared machine makes single examples slow now and then, which is no finding."""
    settings.register_profile(WHOLE, deadline=None, max_examples=DEFAULT_EXAMPLES)
    settings.register_profile(EVERYDAY, deadline=None, max_examples=share(DEFAULT_EXAMPLES))


def examples(count: int, *, fewest: int = FEWEST) -> int:
    """How many of so many examples are tried with the profile that is in force."""
    return share(count, fewest) if settings.get_current_profile_name() == EVERYDAY else count


def share(count: int, fewest: int = FEWEST) -> int:
    """How many of so many examples are tried in the everyday part."""
    return min(count, max(fewest, count * EVERYDAY_PERCENT // 100))
