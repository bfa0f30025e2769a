"""Groups of clients and their work: which keys each operation takes, whose keys a group uses, what a lab must have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from labkit.lab.plan.workload_operations import ISSUING, OPERATIONS, OPTIONS, TAKING
from labkit.scenario.client_parts import ClientsPart, WorkPart, errors_of_group, shared_keys
from labkit.scenario.scenario import Scenario
from labkit.scenario.value_types import DeclaredNames

NAMES = DeclaredNames(sites=("paris",), clusters=("paris",))
IDS = {"by": "approle", "role_id": "r", "secret_id": "s"}
PASSWORD = {"by": "userpass", "user": "u", "password": "p"}
VALUES: dict[str, dict[str, Any]] = {
    "cas": {"cas": True},
    "ttl": {"ttl": "30s"},
    "uses": {"uses": 3},
    "role": {"role": "app"},
    "machine": {"machine": "db-1"},
    "by": {"by": "cloud"},
    **dict.fromkeys(("role_id", "secret_id"), IDS),
    **dict.fromkeys(("user", "password"), PASSWORD),
}


def group(*operations: str, **how: Any) -> ClientsPart:
    work = [{"do": name, "every": "1s"} for name in operations]
    return ClientsPart.model_validate({"site": "paris", "use": ["paris"], "work": work, **how}, context=NAMES)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_client_may_do_whatever_clients_can(operation: str) -> None:
    assert WorkPart.model_validate({"do": operation, "every": "1s"}).do == operation


@pytest.mark.parametrize("key", OPTIONS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_option_belongs_to_one_operation(key: str, operation: str) -> None:
    given = {"do": operation, "every": "1s", **VALUES[key]}
    if OPTIONS[key] == operation:
        assert getattr(WorkPart.model_validate(given), key) is not None
    else:
        with pytest.raises(ValidationError, match=f"expected {next(iter(VALUES[key]))} beside {OPTIONS[key]} only, "):
            WorkPart.model_validate(given)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(
            ("ttl", "1500ms"),
            ("ttl", "0s"),
            ("ttl", 30),
            ("uses", 0),
            ("uses", -1),
            ("uses", 1_000_001),
            ("uses", True),
        ),
        *(("cas", "yes"), ("cas", 1), ("role", ""), ("machine", "web-9"), ("machine", 1)),
    ],
)
def test_an_option_of_another_value_is_refused(key: str, value: object) -> None:
    with pytest.raises(ValidationError):
        WorkPart.model_validate({"do": OPTIONS[key], "every": "1s", key: value})


@pytest.mark.parametrize("taking", TAKING)
@pytest.mark.parametrize("issuing", ISSUING)
def test_who_takes_tokens_gets_some(taking: str, issuing: str) -> None:
    assert group(taking, issuing).work[0].do == taking
    with pytest.raises(ValidationError, match=f"since {taking} takes the tokens of these"):
        group(taking, "put-secret")


@pytest.mark.parametrize(("share", "keys"), [(False, ""), (True, "own"), ("writers", "writers")])
def test_a_group_shares_its_own_keys_or_uses_those_of_another(share: object, keys: str) -> None:
    assert shared_keys("own", group(share=share)) == keys


@pytest.mark.parametrize("share", [1, 0, "", "The Writers", ["writers"], {"of": "writers"}])
def test_what_is_shared_is_yes_or_a_name(share: object) -> None:
    with pytest.raises(ValidationError, match="expected true for keys that all its clients use"):
        group(share=share)


def test_keys_are_those_of_a_group_that_shares_its_own() -> None:
    groups = {"one": group(share=True), "two": group(share="one"), "three": group(share="two"), "four": group()}
    found = {name: [*errors_of_group(name, groups, has_cloud=False)] for name in groups}

    assert [name for name, errors in found.items() if errors] == ["three"]
    ((where, text),) = found["three"]
    assert where == ("share",)
    assert "got 'two'" in text


def test_a_login_needs_a_cloud() -> None:
    groups = {"machines": group("put-secret", "login")}

    assert [*errors_of_group("machines", groups, has_cloud=True)] == []
    ((where, text),) = errors_of_group("machines", groups, has_cloud=False)
    assert (where, "expected a cloud in the lab too" in text) == (("work", 1, "do"), True)


def test_who_logs_in_otherwise_needs_no_cloud_but_what_to_log_in_with() -> None:
    people = ClientsPart.model_validate(
        {"site": "paris", "use": ["paris"], "work": [{"do": "login", "every": "1s", **PASSWORD}]}
    )

    assert [*errors_of_group("people", {"people": people}, has_cloud=False)] == []


def test_the_plan_has_what_the_file_says(vary: Callable[..., str], scenario_of: Callable[[str], Scenario]) -> None:
    work = "{do: put-secret, every: 1s, cas: true}, {do: create-token, every: 1s, ttl: 1m, uses: 3}"
    login = "{do: login, every: 2s, role: app, machine: db-1}"
    clients = (
        f"  cloud: {{site: paris}}\n  clients:\n    shop: {{site: paris, use: [paris], share: true, work: [{work}]}}\n"
    )
    clients += f"    machines: {{site: paris, use: [paris], share: shop, work: [{login}]}}\n"
    shop, machines = scenario_of(vary(("timeline:", clients + "timeline:"))).blueprint.clients
    put, create = shop.workload

    assert (shop.share, machines.share) == ("shop", "shop")
    assert (put.cas, create.cas, create.ttl_ns, create.uses, put.ttl_ns) == (True, False, 60_000_000_000, 3, 0)
    assert (machines.workload[0].role, machines.workload[0].machine) == ("app", "db-1")
    assert (put.role, put.machine, put.by) == ("web", "web-1", "cloud")


@pytest.mark.parametrize(
    ("written", "planned"),
    [
        ("by: approle, role_id: r, secret_id: s", ("approle", "r", "s", "", "")),
        ("by: approle, role_id: r", ("approle", "r", "", "", "")),
        ("by: userpass, user: u, password: p", ("userpass", "", "", "u", "p")),
        ("by: cloud", ("cloud", "", "", "", "")),
    ],
)
def test_the_plan_has_what_a_client_logs_in_with(
    written: str, planned: tuple[str, ...], vary: Callable[..., str], scenario_of: Callable[[str], Scenario]
) -> None:
    work = f"{{do: login, every: 2s, {written}}}"
    clients = f"  cloud: {{site: paris}}\n  clients:\n    shop: {{site: paris, use: [paris], work: [{work}]}}\n"
    (plan,) = scenario_of(vary(("timeline:", clients + "timeline:"))).blueprint.clients[0].workload

    assert (plan.by, plan.role_id, plan.secret_id, plan.user, plan.password) == planned
