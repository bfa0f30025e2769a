"""Token roles: what is written is read back, field by field, and what cannot be is refused."""

from __future__ import annotations

from typing import Any

import pytest

PLAIN: dict[str, Any] = {
    "allowed_entity_aliases": None,
    "allowed_policies": [],
    "allowed_policies_glob": [],
    "disallowed_policies": [],
    "disallowed_policies_glob": [],
    "explicit_max_ttl": 0,
    "name": "web",
    "orphan": False,
    "path_suffix": "",
    "period": 0,
    "renewable": True,
    "token_explicit_max_ttl": 0,
    "token_no_default_policy": False,
    "token_period": 0,
    "token_type": "default-service",
}


def test_a_role_without_anything_has_the_defaults(service) -> None:
    assert service.post("auth/token/roles/web", {}).status == 204
    assert service.get("auth/token/roles/web").data == PLAIN


def test_what_is_sent_is_shown(service) -> None:
    sent = {
        "allowed_policies": "a, b",
        "disallowed_policies_glob": ["x*"],
        "allowed_entity_aliases": ["ada"],
        "orphan": "true",
        "renewable": False,
        "path_suffix": "tail-1",
        "token_explicit_max_ttl": "2h",
        "token_period": 60,
        "token_bound_cidrs": "10.0.0.0/8,127.0.0.1",
        "token_type": "service",
        "token_no_default_policy": True,
        "token_num_uses": 7,
    }
    assert service.post("auth/token/roles/web", sent).status == 204

    assert service.get("auth/token/roles/web").data == PLAIN | {
        **sent,
        "allowed_policies": ["a", "b"],
        "orphan": True,
        "token_explicit_max_ttl": 7_200,
        "token_bound_cidrs": ["10.0.0.0/8", "127.0.0.1"],
    }


def test_what_is_not_sent_stays(service) -> None:
    service.post("auth/token/roles/web", {"orphan": True, "token_period": "1h"})
    service.post("auth/token/roles/web", {"token_num_uses": 2})

    assert service.get("auth/token/roles/web").data == PLAIN | {
        "orphan": True,
        "token_period": 3_600,
        "token_num_uses": 2,
    }


def test_old_names_set_the_new_ones_and_are_shown(service) -> None:
    service.post("auth/token/roles/web", {"period": "1h", "explicit_max_ttl": "2h", "bound_cidrs": ["10.0.0.0/8"]})
    read = service.get("auth/token/roles/web").data

    assert (read["period"], read["token_period"]) == (3_600, 3_600)
    assert (read["explicit_max_ttl"], read["token_explicit_max_ttl"]) == (7_200, 7_200)
    assert (read["bound_cidrs"], read["token_bound_cidrs"]) == (["10.0.0.0/8"], ["10.0.0.0/8"])

    service.post("auth/token/roles/web", {"token_period": "3h"})
    read = service.get("auth/token/roles/web").data
    assert (read["period"], read["token_period"]) == (0, 10_800)


@pytest.mark.parametrize("suffix", ["a.b", "a-.b", "tail-1.x_"])
def test_a_suffix_may_have_dots(service, suffix: str) -> None:
    assert service.post("auth/token/roles/web", {"path_suffix": suffix}).status == 204
    token = service.post("auth/token/create/web").auth["client_token"]
    assert service.get("auth/token/lookup-self", token=token).data["path"] == f"auth/token/create/web/{suffix}"


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"token_type": "odd"}, "invalid 'token_type' value \"odd\""),
        ({"token_num_uses": -1}, "'token_num_uses' cannot be negative"),
        ({"path_suffix": "a/b"}, "path suffix contains invalid characters; must match \\w[\\w-.]+\\w"),
        ({"path_suffix": "ab"}, "path suffix contains invalid characters"),
        ({"path_suffix": ".ab"}, "path suffix contains invalid characters"),
        ({"token_bound_cidrs": "10.0.0.0/99"}, "neither an address nor a block"),
        ({"token_period": "-1h"}, "cannot provide negative value"),
        ({"token_type": "batch"}, "non-orphan tokens"),
        ({"token_type": "batch", "orphan": True}, "renewable tokens"),
        ({"token_type": "batch", "orphan": True, "renewable": False, "token_period": 60}, "periodic tokens"),
        (
            {"token_type": "batch", "orphan": True, "renewable": False, "token_explicit_max_ttl": 60},
            "tokens with an explicit max TTL",
        ),
        (
            {"token_type": "batch", "orphan": True, "renewable": False, "token_num_uses": 1},
            "tokens with limited use count",
        ),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(service, sent, text: str) -> None:
    refused = service.post("auth/token/roles/web", sent)

    assert refused.status == 400
    assert text in refused.errors[0]
    assert service.get("auth/token/roles/web").status == 404


def test_roles_are_listed_and_deleted(service) -> None:
    assert service.list("auth/token/roles").status == 404
    service.post("auth/token/roles/web", {})
    service.post("auth/token/roles/db", {})
    assert service.list("auth/token/roles").data == {"keys": ["db", "web"]}

    assert service.delete("auth/token/roles/db").status == 204
    assert service.delete("auth/token/roles/db").status == 204
    assert service.get("auth/token/roles/db").errors == []
    assert service.list("auth/token/roles").data == {"keys": ["web"]}


def test_a_role_of_batch_tokens_and_blocks_of_any_spelling_are_kept(service) -> None:
    batch = {"token_type": "batch", "orphan": True, "renewable": False}
    assert service.post("auth/token/roles/batch", batch).status == 204
    blocks = ["10.1.2.3/8", "127.0.0.1", "2001:db8::/32"]
    assert service.post("auth/token/roles/web", {"token_bound_cidrs": blocks}).status == 204

    assert service.get("auth/token/roles/web").data["token_bound_cidrs"] == blocks
