"""The requests of workloads: the same for the same turn, keys of one's own or shared, deletions, tokens, logins."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace
from typing import Any

import pytest

from labkit.lab.hosts.client_memory import ClientMemory
from labkit.lab.hosts.workload_requests import (
    BUILDERS,
    Turn,
    build_request,
    counts_apart,
    has_no_machine_token,
    keys_of,
)
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan
from labkit.lab.plan.workload_operations import LOGIN, OPERATIONS, USE_TOKEN, WITHOUT_BODY
from tests.lab.hosts.turns import asked


def sent(*turn: Any, **given: Any) -> Any:
    """The request of a turn, with a body."""
    return asked(*turn, **given)


def did(operation: str, **how: Any) -> WorkloadPlan:
    return WorkloadPlan(operation=operation, every_ns=1, **how)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_workload_makes_the_same_request_for_the_same_number(operation):
    work = did(operation, size_bytes=40, keys=4)
    request = asked("shop-1", work, 6, "hvs.x")

    assert request == asked("shop-1", work, 6, "hvs.x")
    token = {USE_TOKEN: "hvs.held", LOGIN: None}.get(operation, "hvs.x")
    assert request.headers == ({} if token is None else {"X-Vault-Token": token})
    assert (request.body is None) == (operation in WITHOUT_BODY)


def test_every_operation_has_a_request():
    assert tuple(BUILDERS) == OPERATIONS


def test_clients_that_share_use_the_keys_of_one_name_and_no_two_leave_the_same_value():
    one, other = (sent(name, did("put-secret", keys=4), 6, "", keys_of="shop") for name in ("shop-1", "shop-2"))

    assert one.path == other.path == "/v1/secret/data/shop/2"
    assert (one.body["data"]["client"], other.body["data"]["client"]) == ("shop-1", "shop-2")
    assert asked("shop-1", did("encrypt"), 1, "", keys_of="shop").path == "/v1/transit/encrypt/shop"
    assert "client" not in sent("shop-1", did("put-secret"), 6, "").body["data"]


def test_a_group_shares_under_one_name_or_each_client_has_its_own():
    plan = ClientPlan(name="shop", site="lisbon", use=("paris",))

    assert keys_of(plan, "shop-1") == "shop-1"
    assert keys_of(replace(plan, share="shop"), "shop-1") == "shop"


@pytest.mark.parametrize(
    ("apart", "work", "share"),
    [
        (False, (did("put-secret"), did("get-secret"), did("encrypt")), ""),
        (True, (did("put-secret"),), "shop"),
        (True, (did("put-secret", cas=True), did("get-secret")), ""),
        (True, (did("put-secret"), did("delete-secret")), ""),
    ],
)
def test_workloads_that_have_to_meet_on_keys_count_their_turns_apart(apart, work, share):
    plan = ClientPlan(name="shop", site="lisbon", use=("paris",), workload=work, share=share)

    assert counts_apart(plan) == apart


def test_every_tenth_deletion_ends_a_secret_with_all_its_versions():
    sent = [asked("shop-1", did("delete-secret", keys=3), number, "") for number in range(1, 21)]

    assert {request.method for request in sent} == {"DELETE"}
    assert [request.path.split("/")[3] for request in sent] == [*["data"] * 9, "metadata"] * 2
    assert [request.path.split("/")[-1] for request in sent[:4]] == ["1", "2", "0", "1"]


def test_a_check_and_set_names_the_version_that_was_seen_last_and_none_before():
    memory = ClientMemory({"versions": {"secret/data/shop-1/2": 7}})

    def options(number: int, **how: Any) -> Any:
        turn = Turn("shop-1", "shop-1", did("put-secret", keys=4, **how), number, "", memory, lambda machine: {})
        request: Any = build_request(turn)
        return request.body.get("options")

    assert (options(6, cas=True), options(5, cas=True), options(6)) == ({"cas": 7}, {"cas": 0}, None)


def test_a_token_is_created_with_a_life_and_a_number_of_uses():
    plain, bound = did("create-token"), did("create-token", ttl_ns=90_000_000_000, uses=3)

    assert asked("c", plain, 1, "").body == {"policies": ["default"]}
    assert asked("c", bound, 1, "").body == {"policies": ["default"], "ttl": "90s", "num_uses": 3}


@pytest.mark.parametrize("operation", ["use-token", "revoke-token"])
def test_without_a_token_there_is_none_to_be_used_or_revoked(operation):
    assert build_request(Turn("c", "c", did(operation), 1, "hvs.x", ClientMemory(), lambda machine: {})) is None


def test_a_revocation_names_the_token_in_its_body_alone():
    sent = asked("c", did("revoke-token"), 1, "hvs.root")

    assert (sent.path, sent.body) == ("/v1/auth/token/revoke", {"token": "hvs.held"})
    assert "hvs" not in repr(sent)


def test_a_login_has_the_token_of_its_machine_and_a_role_or_says_that_it_has_none():
    work = did("login", role="app", machine="db-1")

    assert asked("c", work, 1, "hvs.root").body == {"role": "app", "jwt": "of db-1"}
    bare: Any = build_request(Turn("c", "c", work, 1, "hvs.x", ClientMemory(), lambda machine: {}))
    assert [has_no_machine_token(request) for request in (bare, asked("c", work, 1, ""))] == [True, False]


def test_a_login_by_ids_or_by_a_password_says_them_at_its_own_path():
    ids = did("login", by="approle", role_id="shop", secret_id="s-1")
    user = did("login", by="userpass", user="ada b", password="p-1")

    assert asked("c", ids, 1, "hvs.root")[:4] == (
        "POST",
        "/v1/auth/approle/login",
        {},
        {"role_id": "shop", "secret_id": "s-1"},
    )
    assert asked("c", replace(ids, secret_id=""), 1, "hvs.root").body == {"role_id": "shop"}
    sent = asked("c", user, 1, "hvs.root")
    assert sent[:4] == ("POST", "/v1/auth/userpass/login/ada%20b", {}, {"password": "p-1"})
    assert not has_no_machine_token(sent)
    assert [hidden for hidden in ("s-1", "p-1") if hidden in repr((ids, user, sent))] == []


def test_keys_bound_how_many_secrets_there_are():
    bounded, free = (WorkloadPlan(operation="put-secret", every_ns=1, keys=keys) for keys in (4, 0))

    assert len({asked("c", bounded, number, "").path for number in range(40)}) == 4
    assert len({asked("c", free, number, "").path for number in range(40)}) == 40


def test_a_size_is_the_size_of_what_is_stored():
    put, encrypt = (WorkloadPlan(operation=name, every_ns=1, size_bytes=100) for name in ("put-secret", "encrypt"))

    stored, encrypted = asked("c", put, 1, "").body, asked("c", encrypt, 1, "").body
    assert stored
    assert encrypted
    assert len(stored["data"]["value"]) == 100
    assert b64decode(encrypted["plaintext"]) == 92 * b"x" + (1).to_bytes(8, "big"), "its number stands at the end"


def test_a_plaintext_that_is_wanted_short_is_its_number():
    """A number has eight bytes, whatever size is wanted."""
    sent = asked("c", WorkloadPlan(operation="encrypt", every_ns=1, size_bytes=1), 258, "").body

    assert sent == {"plaintext": "AAAAAAAAAQI="}
