"""Rules: one bit a capability, and which rules judge more of a request than its path."""

from __future__ import annotations

import pytest

from labkit.vault.policies import READ
from labkit.vault.policies.rules import ANY, Rule


@pytest.mark.parametrize(
    "more",
    [
        {"allowed": {"a": ()}},
        {"denied": {"a": ()}},
        {"required": ("a",)},
        {"min_wrapping_ttl_ns": 1},
        {"max_wrapping_ttl_ns": 1},
    ],
)
def test_a_rule_that_judges_parameters_or_wrapping_needs_them(more) -> None:
    assert Rule("x", READ, **more).needs_parameters
    assert not Rule("x", READ).needs_parameters


def test_the_empty_set_of_parameters_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        ANY["a"] = ()  # type: ignore[index]  # that is what is tried
