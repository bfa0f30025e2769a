"""Tokens revoked; families of tokens and counted uses against models."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import Vault
from tests.examples import examples
from tests.token_requests import create_plain, is_alive

INVALID = ["2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n"]
DENIED = ["1 error occurred:\n\t* permission denied\n\n"]


def test_ways_to_revoke(service) -> None:
    one, two, three = (create_plain(service) for _ in range(3))
    assert service.post("auth/token/revoke", {"token": one["client_token"]}).status == 204
    assert service.post("auth/token/revoke-self", token=two["client_token"]).status == 204
    assert service.post("auth/token/revoke-accessor", {"accessor": three["accessor"]}).status == 204
    assert not any(is_alive(service, auth["client_token"]) for auth in (one, two, three))


def test_what_is_not_there(service) -> None:
    assert service.post("auth/token/revoke", {"token": "none"}).status == 204
    unknown = service.post("auth/token/revoke-accessor", {"accessor": "none"})
    assert (unknown.status, unknown.warnings) == (200, ["No token found with this accessor"])
    orphaning = service.post("auth/token/revoke-orphan", {"token": "none"})
    assert (orphaning.status, orphaning.errors) == (400, ["token to revoke not found"])
    for path in ("revoke", "revoke-orphan"):
        assert service.post(f"auth/token/{path}").errors == ["missing token ID"]
    assert service.post("auth/token/revoke-accessor").errors == ["missing accessor"]


def test_children_outlive_a_parent_that_is_revoked_as_an_orphan(service) -> None:
    parent = create_plain(service, {"policies": ["root"]})["client_token"]
    child = service.post("auth/token/create", token=parent).auth["client_token"]

    assert service.post("auth/token/revoke-orphan", {"token": parent}).status == 204

    assert service.get("auth/token/lookup-self", token=parent).status == 403
    assert service.get("auth/token/lookup-self", token=child).data["orphan"] is True


def test_what_a_token_kept_to_itself_goes_with_it(service) -> None:
    wrapping = service.post("sys/wrapping/wrap", {"k": "v"}, headers={"X-Vault-Wrap-TTL": "1h"}).wrap_info
    assert len(service.core.storage.list("cubbyhole/")) == 1
    service.post("auth/token/revoke", {"token": wrapping["token"]})
    assert service.core.storage.list("cubbyhole/") == []


def test_orphaning_and_accessors_need_sudo(service) -> None:
    service.put("sys/policies/acl/all", {"policy": 'path "auth/token/*" { capabilities = ["update", "list"] }'})
    plain = create_plain(service, {"policies": ["all"]})["client_token"]
    victim = create_plain(service)["client_token"]

    assert service.post("auth/token/revoke-orphan", {"token": victim}, token=plain).errors == DENIED
    assert service.list("auth/token/accessors", token=plain).errors == DENIED
    assert service.post("auth/token/revoke", {"token": victim}, token=plain).status == 204


def test_tidying_takes_away_what_is_left_of_tokens(service) -> None:
    before = service.core.storage.keys()
    core, key = service.core, "token/accessor/gone"
    core.commit({key: core.keys.encrypt(key, b"none", core.entropy), "token/child/none/gone": b""})
    tidied = service.post("auth/token/tidy")

    assert (tidied.status, len(tidied.warnings)) == (202, 1)
    assert service.core.storage.keys() == before


class TestUses:
    @settings(max_examples=examples(40))
    @given(uses=st.integers(1, 6), denied=st.lists(st.booleans(), min_size=8, max_size=8))
    def test_every_request_costs_one_denied_ones_too(self, uses: int, denied: list[bool]) -> None:
        vault = Vault.dev()
        token = create_plain(vault, {"num_uses": uses})["client_token"]
        for number, is_denied in enumerate(denied):
            path = "sys/mounts" if is_denied else "auth/token/lookup-self"
            response = vault.get(path, token=token)
            if number >= uses:
                assert (response.status, response.errors) == (403, INVALID)
            elif is_denied:
                assert (response.status, response.errors) == (403, DENIED)
            else:
                left = uses - number - 1
                assert response.data["num_uses"] == (left or -1)
        assert not is_alive(vault, token)

    def test_a_refused_request_costs_one(self, service) -> None:
        service.put("sys/policies/acl/m", {"policy": 'path "sys/mounts/*" { capabilities = ["update"] }'})
        token = create_plain(service, {"policies": ["m"], "num_uses": 2})["client_token"]
        assert service.post("sys/mounts/x", {"type": "none"}, token=token).status == 400
        assert service.post("auth/token/lookup", {"token": token}).data["num_uses"] == 1
        assert service.get("nowhere/at/all", token=token).status == 403
        assert not is_alive(service, token)

    def test_open_paths_cost_nothing(self, service) -> None:
        token = create_plain(service, {"num_uses": 1})["client_token"]
        assert service.get("sys/health", token=token).status == 200
        assert service.get("auth/token/lookup-self", token=token).status == 200


class Family:
    """A model of tokens and their parents."""

    def __init__(self, root: str) -> None:
        self.parents: dict[str, str] = {root: ""}
        self.root = root

    def revoke(self, token: str) -> None:
        for child in [child for child, parent in self.parents.items() if parent == token]:
            self.revoke(child)
        self.parents.pop(token, None)

    def orphan(self, token: str) -> None:
        self.parents = {child: "" if parent == token else parent for child, parent in self.parents.items()}
        self.parents.pop(token, None)


verbs = st.sampled_from(["create", "create", "orphan", "revoke", "revoke", "revoke-orphan"])
steps = st.tuples(verbs, st.integers(0, 99))


@settings(max_examples=examples(60))
@given(st.lists(steps, max_size=25))
def test_a_token_dies_with_its_parent_and_with_nobody_else(made: list[tuple[str, int]]) -> None:
    vault = Vault.dev()
    family = Family(vault.root_token)
    ever = [vault.root_token]
    for verb, number in made:
        known = list(family.parents)
        chosen = known[number % len(known)]
        if verb in ("create", "orphan"):
            path = "auth/token/create" if verb == "create" else "auth/token/create-orphan"
            text = vault.post(path, {}, token=chosen).auth["client_token"]
            family.parents[text] = chosen if verb == "create" else ""
            ever.append(text)
        elif chosen != family.root:
            vault.post(f"auth/token/{verb}", {"token": chosen})
            family.revoke(chosen) if verb == "revoke" else family.orphan(chosen)
    for text in ever:
        told = vault.post("auth/token/lookup", {"token": text})
        assert (told.status == 200) == (text in family.parents)
        if told.status == 200:
            assert told.data["orphan"] == (family.parents[text] == "")
    accessors = vault.list("auth/token/accessors").data["keys"]
    assert len(accessors) == len(family.parents)


@settings(max_examples=examples(40))
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 50)), min_size=1, max_size=12), st.integers(1, 60))
def test_a_parent_s_end_is_the_end_of_its_descendants(made: list[tuple[int, int]], later_s: int) -> None:
    vault = Vault.dev()
    tokens = [(vault.root_token, 10**9)]
    for parent, ttl_s in made:
        text, ends_s = tokens[parent % len(tokens)]
        child = vault.post("auth/token/create", {"ttl": ttl_s}, token=text).auth["client_token"]
        tokens.append((child, min(ttl_s, ends_s)))
    vault.advance(f"{later_s}s")
    for text, ends_s in tokens:
        assert is_alive(vault, text) == (ends_s > later_s)
