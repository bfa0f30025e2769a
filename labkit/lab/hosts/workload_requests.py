"""Workload requests: the request of each operation that a client's work consists of, by the name that files use.

1. A request is a function of the turn: whose keys, how often it was done, and what the client remembers.  Without what
   it takes, such as a token to be used, there is none.
2. A secret's value holds a number, and in a group that shares its keys the name of the client, so that no two writers
   leave the same value.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

from labkit.lab.hosts.client_memory import ClientMemory
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan
from labkit.lab.plan.workload_operations import (
    APPROLE,
    CREATE_TOKEN,
    DELETE,
    ENCRYPT,
    GET,
    LOGIN,
    PUT,
    REVOKE_TOKEN,
    USE_TOKEN,
    USERPASS,
)
from labkit.service.durations import SECOND_NS
from labkit.service.message import Body, Request

METADATA_EVERY = 10
"""Each so many-th deletion of a client's workload ends the secret with all its versions."""

CLOUD_LOGIN = "/v1/auth/cloud/login"
TOKEN_HEADER = "X-Vault-Token"


class Turn(NamedTuple):
    """One turn of a workload: the client, under which name its keys stand, and which turn it is.

    ``number`` chooses the key and is part of the value; ``login_body`` gives what a machine of the cloud logs in with,
    nothing while it gets no token.
    """

    client: str
    keys_of: str
    work: WorkloadPlan
    number: int
    token: str
    memory: ClientMemory
    login_body: Callable[[str], Body]

    def __repr__(self) -> str:
        return f"Turn({self.client}, {self.number})"  # never the token


def keys_of(plan: ClientPlan, client: str) -> str:
    """Return the name under which a client's keys stand: its own, or the one that its group shares."""
    return plan.share or client


def counts_apart(plan: ClientPlan) -> bool:
    """Whether each workload of a group counts its own turns, so that all of them come to the same keys."""
    first = (PUT, GET, ENCRYPT)
    return bool(plan.share) or any(work.cas or work.operation not in first for work in plan.workload)


def build_request(turn: Turn) -> Request | None:
    """Make the request of a workload's operation; None while the client has not got what it takes."""
    return BUILDERS[turn.work.operation](turn)


def _headers(turn: Turn) -> dict[str, str]:
    return {TOKEN_HEADER: turn.token}


def _secret(turn: Turn, kind: str = "data") -> str:
    key = turn.number % turn.work.keys if turn.work.keys else turn.number
    return f"/v1/secret/{kind}/{turn.keys_of}/{key}"


def _put_secret(turn: Turn) -> Request:
    path = _secret(turn)
    data: Body = {"number": turn.number, "value": "x" * turn.work.size_bytes}
    if turn.keys_of != turn.client:
        data["client"] = turn.client
    body: Body = {"data": data}
    if turn.work.cas:
        body["options"] = {"cas": turn.memory.versions.get(path.removeprefix("/v1/"), 0)}
    return Request("POST", path, _headers(turn), body)


def _get_secret(turn: Turn) -> Request:
    return Request("GET", _secret(turn), _headers(turn))


def _delete_secret(turn: Turn) -> Request:
    kind = "data" if turn.number % METADATA_EVERY else "metadata"
    return Request("DELETE", _secret(turn, kind), _headers(turn))


def _encrypt(turn: Turn) -> Request:
    plaintext = b64encode(turn.number.to_bytes(8, "big").rjust(turn.work.size_bytes, b"x")).decode()
    return Request("POST", f"/v1/transit/encrypt/{turn.keys_of}", _headers(turn), {"plaintext": plaintext})


def _create_token(turn: Turn) -> Request:
    body: Body = {"policies": ["default"]}
    if turn.work.ttl_ns:
        body["ttl"] = f"{turn.work.ttl_ns // SECOND_NS}s"
    if turn.work.uses:
        body["num_uses"] = turn.work.uses
    return Request("POST", "/v1/auth/token/create", _headers(turn), body)


def _use_token(turn: Turn) -> Request | None:
    text = turn.memory.use(turn.number)
    return Request("GET", "/v1/auth/token/lookup-self", {TOKEN_HEADER: text}) if text else None


def _revoke_token(turn: Turn) -> Request | None:
    text = turn.memory.revoke()
    return Request("POST", "/v1/auth/token/revoke", _headers(turn), {"token": text}) if text else None


def _login(turn: Turn) -> Request:
    work = turn.work
    if work.by == APPROLE:
        ids = {"role_id": work.role_id, **({"secret_id": work.secret_id} if work.secret_id else {})}
        return Request("POST", "/v1/auth/approle/login", {}, ids)
    if work.by == USERPASS:
        return Request("POST", f"/v1/auth/userpass/login/{quote(work.user, safe='')}", {}, {"password": work.password})
    return Request("POST", CLOUD_LOGIN, {}, {"role": work.role, **turn.login_body(work.machine)})


def has_no_machine_token(request: Request) -> bool:
    """Whether a request is a login of a machine that got no token."""
    return request.path == CLOUD_LOGIN and "jwt" not in (request.body or {})


BUILDERS: dict[str, Callable[[Turn], Request | None]] = {
    PUT: _put_secret,
    GET: _get_secret,
    DELETE: _delete_secret,
    ENCRYPT: _encrypt,
    CREATE_TOKEN: _create_token,
    USE_TOKEN: _use_token,
    REVOKE_TOKEN: _revoke_token,
    LOGIN: _login,
}
