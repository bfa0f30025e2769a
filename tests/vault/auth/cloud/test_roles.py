"""Roles: what is written is read back, field by field, and what cannot be is refused unchanged."""

from __future__ import annotations

from typing import Any

import pytest

PATH = "auth/cloud/role/web"
PLAIN: dict[str, Any] = {
    "bound_group_ids": [],
    "bound_locations": [],
    "bound_resource_groups": [],
    "bound_scale_sets": [],
    "bound_service_principal_ids": [],
    "bound_subscription_ids": [],
    "token_bound_cidrs": [],
    "token_explicit_max_ttl": 0,
    "token_max_ttl": 0,
    "token_no_default_policy": False,
    "token_num_uses": 0,
    "token_period": 0,
    "token_policies": [],
    "token_ttl": 0,
    "token_type": "default",
}


def test_what_is_sent_is_shown(service) -> None:
    sent = {
        "bound_service_principal_ids": ["a"],
        "bound_group_ids": "b, c",
        "bound_locations": ["here"],
        "bound_subscription_ids": ["*"],
        "bound_resource_groups": "g",
        "bound_scale_sets": [],
        "token_ttl": "1h",
        "token_max_ttl": 7_200,
        "token_policies": "x,y",
        "token_bound_cidrs": ["10.0.0.0/8", "127.0.0.1"],
        "token_explicit_max_ttl": "3h",
        "token_no_default_policy": "true",
        "token_num_uses": 7,
        "token_period": "10m",
        "token_type": "service",
    }
    assert service.post(PATH, sent).status == 204

    assert service.get(PATH).data == PLAIN | sent | {
        "bound_group_ids": ["b", "c"],
        "bound_resource_groups": ["g"],
        "token_ttl": 3_600,
        "token_policies": ["x", "y"],
        "token_explicit_max_ttl": 10_800,
        "token_no_default_policy": True,
        "token_period": 600,
    }


def test_what_is_not_sent_stays_and_an_empty_list_ends_a_bound(service, bound) -> None:
    service.post(PATH, bound | {"bound_locations": "here", "token_ttl": 60})
    service.post(PATH, {"bound_locations": "", "token_num_uses": 2})

    only = {"bound_service_principal_ids": [bound["bound_service_principal_ids"]]}
    assert service.get(PATH).data == PLAIN | only | {"token_ttl": 60, "token_num_uses": 2}


def test_names_of_peers_set_the_fields_and_are_shown(service, bound) -> None:
    service.post(PATH, bound | {"policies": ["p"], "ttl": "1m", "max_ttl": "2m", "period": 3, "num_uses": 4})
    read = service.get(PATH).data

    assert {name: read[name] for name in ("policies", "ttl", "max_ttl", "period", "num_uses")} == {
        "policies": ["p"],
        "ttl": 60,
        "max_ttl": 120,
        "period": 3,
        "num_uses": 4,
    }
    assert (read["token_policies"], read["token_ttl"], read["token_num_uses"]) == (["p"], 60, 4)

    service.post(PATH, {"token_policies": "q", "policies": "r"})
    read = service.get(PATH).data
    assert (read["token_policies"], read["policies"]) == (["q"], ["q"])

    service.post(PATH, {"token_policies": "s"})
    assert "policies" not in service.get(PATH).data


def test_names_are_the_same_in_any_case_and_listed_sorted(service, bound) -> None:
    assert service.list("auth/cloud/role").status == 404
    for name in ("Web-1", "b.c", "A"):
        service.post(f"auth/cloud/role/{name}", bound)

    assert service.list("auth/cloud/role").data == {"keys": ["a", "b.c", "web-1"]}
    assert service.get("auth/cloud/role/WEB-1").ok
    assert [service.delete("auth/cloud/role/wEb-1").status for _ in range(2)] == [204, 204]
    assert service.get("auth/cloud/role/web-1").status == 404


UNBOUND = "must have at least one bound constraint when creating/updating a role"


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"bound_service_principal_ids": []}, UNBOUND),
        ({"bound_service_principal_ids": ["", " "]}, UNBOUND),
        ({"token_ttl": 10, "token_max_ttl": 9}, "'token_ttl' cannot be greater than 'token_max_ttl'"),
        ({"token_num_uses": -1}, "'token_num_uses' cannot be negative"),
        ({"token_period": "-1h"}, "cannot provide negative value"),
        ({"token_period": "769h"}, 'is longer than the mount\'s maximum of "768h"'),
        ({"token_type": "default-batch"}, "invalid 'token_type' value"),
        ({"token_type": "batch", "token_period": 1}, "periodic tokens"),
        ({"token_type": "batch", "token_num_uses": 1}, "limited use count"),
        ({"token_bound_cidrs": "10.0.0.0/99"}, "neither an address nor a block"),
        ({"bound_locations": {"a": 1}}, "bound_locations"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(service, bound, sent, text) -> None:
    service.post(PATH, bound)
    before = service.get(PATH).data
    refused = service.post(PATH, sent)

    assert refused.status == 400
    assert text in refused.errors[0]
    assert service.get(PATH).data == before


def test_a_longer_life_than_the_mounts_is_kept_with_a_warning(service, bound) -> None:
    service.post("sys/auth/cloud/tune", {"max_lease_ttl": "1h"})
    warned = service.post(PATH, bound | {"token_max_ttl": "2h"})

    assert warned.status == 200
    assert warned.warnings == ['token_max_ttl of "2h" is longer than the mount\'s maximum of "1h": tokens end at that']
    assert service.get(PATH).data["token_max_ttl"] == 7_200


@pytest.mark.parametrize("name", ["-a", "a-", ".a", "a/b", "a b"])
def test_a_name_that_none_can_have_has_no_path(service, bound, name) -> None:
    assert service.post(f"auth/cloud/role/{name}", bound).status in (404, 405)
