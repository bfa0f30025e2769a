"""Creating tokens: policies, life, uses, kinds, orphans and roles, each good and refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.token_requests import create

SYSTEM_S = 2_764_800

DENIED = ["1 error occurred:\n\t* permission denied\n\n"]


def refused(service, body=None, path: str = "auth/token/create", token: str | None = None) -> str:
    response = service.post(path, body or {}, token=token)
    assert response.status == 400, response.body
    return response.errors[0]


def lookup(service, token: str):
    return service.post("auth/token/lookup", {"token": token}).data


@pytest.fixture
def maker(service) -> str:
    """A token that may create tokens with the policies a, b and default, without sudo."""
    service.put("sys/policies/acl/a", {"policy": 'path "auth/token/create*" { capabilities = ["update"] }'})
    service.put("sys/policies/acl/b", {"policy": 'path "secret/*" { capabilities = ["read"] }'})
    return create(service, {"policies": ["a", "b"]})["client_token"]


class TestPolicies:
    def test_a_token_without_any_has_its_creator_s(self, service, maker) -> None:
        assert create(service)["policies"] == ["root"]
        assert create(service, token=maker)["policies"] == ["a", "b", "default"]

    def test_names_are_cleaned(self, service) -> None:
        assert create(service, {"policies": [" B ", "a", "b", ""]})["policies"] == ["a", "b", "default"]

    def test_root_swallows_the_rest(self, service) -> None:
        assert create(service, {"policies": ["b", "Root"]})["policies"] == ["root"]

    def test_default_may_be_left_out(self, service, maker) -> None:
        body = {"policies": ["b"], "no_default_policy": True}
        assert create(service, body)["policies"] == ["b"]
        assert create(service, body, token=maker)["policies"] == ["b"]

    def test_default_asked_for_by_name_stays(self, service) -> None:
        body = {"policies": ["b", "default"], "no_default_policy": True}
        assert create(service, body)["policies"] == ["b", "default"]

    def test_a_child_has_some_of_its_parent_s(self, service, maker) -> None:
        assert create(service, {"policies": ["b"]}, token=maker)["policies"] == ["b", "default"]
        assert refused(service, {"policies": ["c"]}, token=maker) == "child policies must be subset of parent"
        assert refused(service, {"policies": ["root"]}, token=maker) == "child policies must be subset of parent"

    def test_default_is_not_given_to_a_child_whose_parent_has_none(self, service) -> None:
        service.put("sys/policies/acl/a", {"policy": 'path "auth/token/create" { capabilities = ["update"] }'})
        parent = create(service, {"policies": ["a"], "no_default_policy": True})["client_token"]
        assert create(service, {"policies": ["a"]}, token=parent)["policies"] == ["a"]

    def test_unknown_ones_are_told(self, service) -> None:
        response = service.post("auth/token/create", {"policies": ["nobody-wrote", "default"]})
        assert response.warnings == ['Policy "nobody-wrote" does not exist']

    @pytest.mark.parametrize("name", ["response-wrapping"])
    def test_internal_ones_are_not_given(self, service, name: str) -> None:
        assert refused(service, {"policies": [name]}) == f'cannot assign policy "{name}"'

    def test_sudo_gives_any_but_root(self, service) -> None:
        policy = 'path "auth/token/create" { capabilities = ["update", "sudo"] }'
        service.put("sys/policies/acl/s", {"policy": policy})
        sudo = create(service, {"policies": ["s"]})["client_token"]

        assert create(service, {"policies": ["other"]}, token=sudo)["policies"] == ["default", "other"]
        text = "root tokens may not be created without parent token being root"
        assert refused(service, {"policies": ["root"]}, token=sudo) == text


class TestLife:
    def test_it_is_the_system_s_unless_asked_otherwise(self, service) -> None:
        assert create(service, {"policies": ["default"]})["lease_duration"] == SYSTEM_S
        assert create(service, {"policies": ["default"], "ttl": "1h"})["lease_duration"] == 3_600
        assert create(service, {"policies": ["default"], "lease": "90"})["lease_duration"] == 90

    def test_too_long_is_cut_and_told(self, service) -> None:
        response = service.post("auth/token/create", {"policies": ["default"], "ttl": "800h"})
        assert response.auth["lease_duration"] == SYSTEM_S
        assert response.warnings == [
            'TTL of "800h" exceeded the effective max_ttl of "768h"; TTL value is capped accordingly'
        ]

    def test_an_explicit_maximum_cuts(self, service) -> None:
        auth = create(service, {"policies": ["default"], "ttl": "3h", "explicit_max_ttl": "2h"})
        assert auth["lease_duration"] == 7_200
        assert lookup(service, auth["client_token"])["explicit_max_ttl"] == 7_200

    def test_a_mount_s_tuning_holds(self, service) -> None:
        service.post("sys/auth/token/tune", {"default_lease_ttl": "1h", "max_lease_ttl": "2h"})
        assert create(service, {"policies": ["default"]})["lease_duration"] == 3_600
        assert create(service, {"policies": ["default"], "ttl": "5h"})["lease_duration"] == 7_200

    def test_it_ends(self, service) -> None:
        token = create(service, {"policies": ["default"], "ttl": "1h"})["client_token"]
        service.advance("3599s")
        assert service.get("auth/token/lookup-self", token=token).data["ttl"] == 1
        service.advance("1s")
        assert service.get("auth/token/lookup-self", token=token).status == 403
        assert service.post("auth/token/lookup", {"token": token}).errors == ["bad token"]

    def test_root_lives_for_ever_unless_bounded(self, service) -> None:
        forever = create(service)
        assert (forever["lease_duration"], forever["renewable"]) == (0, False)
        assert create(service, {"ttl": "1h"})["lease_duration"] == 3_600
        assert create(service, {"explicit_max_ttl": "2h"})["lease_duration"] == 7_200

    def test_a_root_token_that_ends_makes_none_that_does_not(self, service) -> None:
        ending = create(service, {"ttl": "1h"})["client_token"]
        text = "expiring root tokens cannot create non-expiring root tokens"
        assert refused(service, token=ending) == text
        assert create(service, {"ttl": "30m"}, token=ending)["policies"] == ["root"]

    def test_a_period_needs_sudo(self, service, maker) -> None:
        assert create(service, {"policies": ["default"], "period": "30m"})["lease_duration"] == 1_800
        text = "root or sudo privileges required to create periodic token"
        assert refused(service, {"period": "30m"}, token=maker) == text

    @pytest.mark.parametrize(
        ("body", "text"),
        [
            ({"ttl": "x"}, 'time: invalid duration "x"'),
            ({"ttl": "-1h"}, "ttl must be positive"),
            ({"explicit_max_ttl": -5}, "explicit_max_ttl must be positive"),
            ({"period": "-5s"}, "period must be positive"),
            ({"num_uses": -1}, "number of uses cannot be negative"),
            ({"type": "nonsense"}, "invalid 'token_type' value"),
            ({"entity_alias": "ada"}, "identity store"),
            ({"num_uses": "many"}, 'error converting input for field "num_uses"'),
        ],
    )
    def test_what_cannot_be_is_refused(self, service, body, text: str) -> None:
        before = service.list("auth/token/accessors").data["keys"]
        assert text in refused(service, body)
        assert service.list("auth/token/accessors").data["keys"] == before


class TestShape:
    def test_names_and_members(self, service) -> None:
        auth = create(service, {"policies": ["default"], "display_name": "a b!", "meta": {"k": "v", "n": 1}})
        told = lookup(service, auth["client_token"])

        assert auth["client_token"].startswith("hvs.")
        assert len(auth["client_token"]) == 28
        assert auth["metadata"] == told["meta"] == {"k": "v", "n": "1"}
        assert told["display_name"] == "token-a-b"
        assert told["path"] == "auth/token/create"
        assert told["accessor"] == auth["accessor"]

    def test_a_token_of_one_s_own_making_needs_sudo(self, service, maker) -> None:
        assert create(service, {"id": "my-token"})["client_token"] == "my-token"
        assert service.get("auth/token/lookup-self", token="my-token").data["id"] == "my-token"
        assert refused(service, {"id": "my-token"}) == "cannot create a token with a duplicate ID"
        assert "prefix" in refused(service, {"id": "hvs.mine"})
        assert "character" in refused(service, {"id": "my.token"})
        text = "root or sudo privileges required to specify token id"
        assert refused(service, {"id": "other"}, token=maker) == text

    def test_orphans(self, service, maker) -> None:
        assert create(service)["orphan"] is False
        assert create(service, {"no_parent": True})["orphan"] is True
        assert create(service, path="auth/token/create-orphan")["orphan"] is True
        assert create(service, path="auth/token/create-orphan", token=maker)["orphan"] is True
        text = "root or sudo privileges required to create orphan token"
        assert refused(service, {"no_parent": True}, token=maker) == text

    def test_a_counted_token_makes_no_others(self, service) -> None:
        counted = create(service, {"num_uses": 5})["client_token"]
        assert refused(service, token=counted) == "restricted use token cannot generate child tokens"
        assert lookup(service, counted)["num_uses"] == 4

    def test_wrapping_names_the_accessor(self, service) -> None:
        response = service.post("auth/token/create", {"policies": ["default"]}, headers={"X-Vault-Wrap-TTL": "1m"})
        assert response.auth is None
        inner = service.post("sys/wrapping/unwrap", {"token": response.wrap_info["token"]})
        assert inner.auth["accessor"] == response.wrap_info["wrapped_accessor"]


class TestBatch:
    BODY = {"type": "batch", "policies": ["default"]}  # noqa: RUF012 - never changed

    def test_nothing_of_it_is_stored(self, service) -> None:
        before = service.core.storage.keys()
        auth = create(service, self.BODY)

        assert service.core.storage.keys() == before
        assert auth["client_token"].startswith("hvb.")
        assert (auth["accessor"], auth["renewable"], auth["token_type"]) == ("", False, "batch")
        told = service.get("auth/token/lookup-self", token=auth["client_token"]).data
        assert (told["type"], told["ttl"], told["renewable"]) == ("batch", SYSTEM_S, False)

    def test_it_ends_with_its_time_and_with_its_parent(self, service) -> None:
        parent = create(service, {"policies": ["root"]})["client_token"]
        own = create(service, self.BODY | {"ttl": "1h"}, token=parent)["client_token"]
        free = create(service, self.BODY | {"ttl": "1h", "no_parent": True}, token=parent)["client_token"]
        service.post("auth/token/revoke", {"token": parent})

        assert service.get("auth/token/lookup-self", token=own).status == 403
        assert service.get("auth/token/lookup-self", token=free).status == 200
        service.advance("1h")
        assert service.get("auth/token/lookup-self", token=free).status == 403

    def test_an_altered_one_is_none(self, service) -> None:
        token = create(service, self.BODY)["client_token"]
        altered = token[:-2] + ("A" if token[-2] != "A" else "B") + token[-1]
        assert service.get("auth/token/lookup-self", token=altered).status == 403

    @pytest.mark.parametrize(
        ("body", "text"),
        [
            ({"num_uses": 1}, 'batch tokens cannot have "num_uses" set'),
            ({"period": "1h"}, 'batch tokens cannot have "period" set'),
            ({"explicit_max_ttl": "1h"}, 'batch tokens cannot have "explicit_max_ttl" set'),
            ({"policies": ["root"]}, "batch tokens cannot be root tokens"),
        ],
    )
    def test_what_it_cannot_have(self, service, body, text: str) -> None:
        assert refused(service, self.BODY | body) == text

    @pytest.mark.parametrize(
        ("role", "field"),
        [
            ({"token_num_uses": 2}, "num_uses"),
            ({"token_explicit_max_ttl": "1h"}, "explicit_max_ttl"),
        ],
    )
    def test_a_role_s_limits_that_it_could_not_keep_refuse_it(self, service, role, field) -> None:
        service.post("auth/token/roles/r", role)
        before = service.core.storage.state()
        for body in (self.BODY, self.BODY | {"ttl": "10m"}):
            answered = service.post("auth/token/create/r", body)
            assert (answered.status, answered.errors) == (400, [f'batch tokens cannot have "{field}" set'])
        assert service.core.storage.state() == before
        assert service.post("auth/token/create/r", {"policies": ["default"]}).ok

    def test_it_has_neither_the_id_that_was_asked_for_nor_its_role_s_period(self, service) -> None:
        service.post("auth/token/roles/r", {"token_period": "1h", "token_type": "default-batch"})

        made = service.post("auth/token/create/r", {"policies": ["default"], "id": "mine"})

        assert (made.status, made.auth["token_type"]) == (200, "batch")
        assert made.auth["client_token"].startswith("hvb.")
        assert service.get("auth/token/lookup-self", token="mine").status == 403
        assert "period" not in service.get("auth/token/lookup-self", token=made.auth["client_token"]).data

    def test_it_can_neither_create_nor_be_renewed_nor_revoked(self, service) -> None:
        service.put("sys/policies/acl/all", {"policy": 'path "*" { capabilities = ["update", "sudo"] }'})
        token = create(service, {"type": "batch", "policies": ["all"]})["client_token"]

        assert refused(service, token=token) == "batch tokens cannot create more tokens"
        assert refused(service, path="auth/token/renew-self", token=token) == "batch tokens cannot be renewed"
        assert refused(service, path="auth/token/revoke-self", token=token) == "batch tokens cannot be revoked"
        body = {"token": token}
        assert refused(service, body, "auth/token/revoke-orphan") == "batch tokens cannot be revoked"


class TestRoles:
    def test_an_unknown_role_is_refused(self, service) -> None:
        assert refused(service, path="auth/token/create/none") == "unknown role none"

    def test_a_role_named_in_the_body_is_no_role(self, service) -> None:
        service.post("auth/token/roles/r", {"orphan": True})
        response = service.post("auth/token/create", {"role_name": "r"})
        assert response.auth["orphan"] is False
        assert response.warnings == ["Endpoint ignored these unrecognized parameters: [role_name]"]

    def test_its_rules_take_the_place_of_the_creator_s(self, service, maker) -> None:
        service.post("auth/token/roles/r", {"allowed_policies": ["x", "y"], "allowed_policies_glob": "t-*"})
        path = "auth/token/create/r"

        assert create(service, path=path, token=maker)["policies"] == ["default", "x", "y"]
        assert create(service, {"policies": ["x"]}, path, maker)["policies"] == ["default", "x"]
        assert create(service, {"policies": ["t-one"]}, path, maker)["policies"] == ["default", "t-one"]
        assert refused(service, {"policies": ["a"]}, path, maker) == (
            'token policies (["a" "default"]) must be subset of the role\'s allowed policies (["default" "x" "y"]) '
            'or glob policies (["t-*"])'
        )

    def test_a_glob_knows_only_the_star(self, service) -> None:
        service.post("auth/token/roles/r", {"allowed_policies_glob": "t?[ab]*"})
        assert create(service, {"policies": ["t?[ab]c"]}, "auth/token/create/r")["policies"] == ["default", "t?[ab]c"]
        assert "must be subset" in refused(service, {"policies": ["tabc"]}, "auth/token/create/r")

    def test_what_it_forbids_is_refused(self, service, maker) -> None:
        service.post("auth/token/roles/r", {"disallowed_policies": ["b"], "disallowed_policies_glob": ["d*"]})
        path = "auth/token/create/r"

        assert create(service, {"policies": ["x"]}, path, maker)["policies"] == ["x"]
        assert refused(service, {"policies": ["b"]}, path, maker) == 'token policy "b" is disallowed by this role'
        assert refused(service, path=path, token=maker) == 'token policy "b" is disallowed by this role'

    def test_it_shapes_the_token(self, service) -> None:
        service.post(
            "auth/token/roles/r",
            {
                "path_suffix": "tail",
                "orphan": True,
                "renewable": False,
                "token_num_uses": 5,
                "token_explicit_max_ttl": "1h",
                "token_bound_cidrs": ["127.0.0.0/8"],
            },
        )
        auth = create(service, {"policies": ["default"], "num_uses": 9}, "auth/token/create/r")
        told = lookup(service, auth["client_token"])

        assert (auth["orphan"], auth["renewable"], auth["num_uses"]) == (True, False, 5)
        assert (told["path"], told["role"], told["ttl"]) == ("auth/token/create/r/tail", "r", 3_600)
        assert told["bound_cidrs"] == ["127.0.0.0/8"]

    def test_the_lesser_length_counts_and_is_told(self, service) -> None:
        service.post("auth/token/roles/r", {"token_period": "1h", "token_explicit_max_ttl": "5h"})
        body = {"policies": ["default"], "period": "30m", "explicit_max_ttl": "9h"}
        response = service.post("auth/token/create/r", body)

        assert response.auth["lease_duration"] == 1_800
        both = "specified both during creation call and in role; using the lesser value of"
        assert response.warnings == [f"Period {both} 1800 seconds", f"Explicit max TTL {both} 18000 seconds"]

    @pytest.mark.parametrize(
        ("of_role", "asked", "kind"),
        [
            ("default-service", None, "service"),
            ("default-service", "batch", "batch"),
            ("default-batch", None, "batch"),
            ("default-batch", "service", "service"),
            ("service", "batch", "service"),
            ("batch", "service", "batch"),
        ],
    )
    def test_whose_kind_counts(self, service, of_role: str, asked: str | None, kind: str) -> None:
        service.post("auth/token/roles/r", {"token_type": of_role, "orphan": True, "renewable": False})
        body = {"policies": ["default"]} | ({"type": asked} if asked else {})
        assert create(service, body, "auth/token/create/r")["token_type"] == kind

    @pytest.mark.parametrize(
        "asked",
        [
            {"policies": ["default"]},
            {"policies": ["default"], "ttl": "1h"},
            {"policies": ["default"], "period": "1h"},
            {"policies": ["default"], "type": "batch", "ttl": "1h"},
            {"policies": ["root"]},
            {"policies": ["root"], "ttl": "1h"},
            {},
        ],
    )
    def test_a_bound_token_works_only_from_its_addresses(self, service, asked: dict[str, Any]) -> None:
        """The role's blocks bind each of its tokens, one that never ends too."""
        roles = {"near": ["127.0.0.1"], "far": ["10.0.0.0/8", "2001:db8::/32"]}
        for name, blocks in roles.items():
            service.post(f"auth/token/roles/{name}", {"token_bound_cidrs": blocks})
        near, far = (create(service, asked, f"auth/token/create/{name}")["client_token"] for name in roles)

        assert service.get("auth/token/lookup-self", token=near).data["bound_cidrs"] == roles["near"]
        assert service.get("auth/token/lookup-self", token=far).errors == ["permission denied"]
        if asked.get("type") != "batch":
            assert lookup(service, far)["bound_cidrs"] == roles["far"]


def test_creating_needs_the_capability(service) -> None:
    plain = create(service, {"policies": ["default"]})["client_token"]
    for path in ("auth/token/create", "auth/token/create-orphan"):
        response = service.post(path, {}, token=plain)
        assert (response.status, response.errors) == (403, DENIED)
