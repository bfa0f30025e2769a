"""Which rule of a quota decides about a request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.message import Request
from labkit.vault.context import Context
from labkit.vault.mounts import QUOTAS
from labkit.vault.quotas.rules import (
    NONE,
    LeaseCount,
    RateLimit,
    Rules,
    Scope,
    forget,
    read_quotas,
    rule_for,
    write_quotas,
)


def rule(namespace: str, mount: str, suffix: str, inheritable: bool = False) -> RateLimit:
    scope = Scope(namespace, mount, suffix)
    return RateLimit(scope.path or "all", scope, inheritable, 1.0, 1, 0)


RULES = [
    *(rule("", "", "", True), rule("", "secret/", ""), rule("", "secret/", "data/a"), rule("", "secret/", "data/*")),
    *(rule("", "secret/", "data/ab*"), rule("a/", "secret/", ""), rule("b/", "", "", True), rule("c/", "", "")),
]


@pytest.mark.parametrize(
    ("namespace", "mount", "suffix", "name"),
    [
        ("", "sys/", "mounts", "all"),
        ("", "", "none", "all"),
        ("", "secret/", "metadata/a", "secret/"),
        ("", "secret/", "data/a", "secret/data/a"),
        ("", "secret/", "data/abc", "secret/data/ab*"),
        ("", "secret/", "data/b", "secret/data/*"),
        ("", "secret/", "data/", "secret/data/*"),
        ("", "secret/", "", "secret/"),
        ("a/", "secret/", "data/a", "a/secret/"),
        ("a/", "sys/", "mounts", "all"),
        ("b/", "sys/", "mounts", "b/"),
        ("b/x/y/", "sys/", "mounts", "b/"),
        ("c/", "sys/", "mounts", "c/"),
        ("c/x/", "sys/", "mounts", "all"),
        ("d/x/", "secret/", "data/a", "all"),
    ],
)
def test_the_most_specific_rule_decides(namespace, mount, suffix, name) -> None:
    found = rule_for(Rules(RULES), Scope(namespace, mount, suffix))
    assert found is not None
    assert found.name == name


def test_without_a_rule_nothing_decides() -> None:
    assert rule_for(Rules(), Scope("", "", "")) is None
    own = rule("", "secret/", "")
    assert rule_for(Rules([own]), Scope("", "sys/", "mounts")) is None
    fixed = rule("", "", "", False)
    assert rule_for(Rules([fixed]), Scope("a/", "sys/", "mounts")) is None


names = st.text("ab*/", max_size=4)


@given(st.lists(st.builds(Scope, st.just(""), st.just("m/"), names), max_size=6), names)
def test_of_paths_the_longest_fit_decides(scopes: list[Scope], suffix: str) -> None:
    rules = Rules([RateLimit(scope.path, scope, False, 1.0, 1, 0) for scope in scopes])
    found = rule_for(rules, Scope("", "m/", suffix))
    exact = [scope for scope in scopes if scope.suffix == suffix]
    fitting = [scope for scope in scopes if scope.suffix.endswith("*") and suffix.startswith(scope.suffix[:-1])]
    fitting += [scope for scope in scopes if not scope.suffix]
    wanted = exact[0] if exact and suffix else max(fitting, key=lambda scope: len(scope.suffix), default=None)
    assert (found.scope if found is not None else None) == wanted


def test_quotas_come_back_and_none_leave_nothing(service) -> None:
    step = Context(service.core, Request("GET", "x"), service.core.now())
    quotas = NONE.quotas._replace(
        rate_limits=tuple(RULES), lease_counts=(LeaseCount("l", Scope("", "auth/token/", ""), False, 5),)
    )
    write_quotas(step, quotas)
    assert read_quotas(step) == quotas
    forget(step, "", "secret/")
    assert [rule.name for rule in read_quotas(step).rate_limits] == ["all", "a/secret/", "b/", "c/"]
    forget(step, "a/")
    assert [rule.name for rule in read_quotas(step).rate_limits] == ["all", "b/", "c/"]
    write_quotas(step, NONE.quotas)
    assert step.writes[QUOTAS] is None
    forget(step, "b/")
    assert step.writes[QUOTAS] is None


def test_few_scopes_are_looked_at_however_long_a_path_is() -> None:
    rules = Rules([*RULES, rule("", "secret/", "data/" + "b" * 50 + "*")])
    looked: list[object] = []

    class Watched(Rules[RateLimit]):
        def __contains__(self, scope: object) -> bool:
            assert isinstance(scope, Scope)
            looked.append(scope)
            return super().__contains__(scope)

    found = rule_for(Watched(rules.values()), Scope("", "secret/", "data/" + "b" * 4_000))
    assert found is not None
    assert found.name == "secret/data/" + "b" * 50 + "*"
    assert len(looked) <= 5
