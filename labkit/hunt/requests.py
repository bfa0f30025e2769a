"""Requests: what is asked of the API in drawn schedules beside the clients' work, by kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.hunt.draws import Draws
from labkit.hunt.schedule import StepData
from labkit.service.durations import SECOND_NS

MAX_VERSION = 3
WRONG_TOKEN = "wrong token"
REST_NS = 3 * SECOND_NS
REST: StepData = {"do": "wait", "for": "3s"}
"""Between two requests, for what expires meanwhile."""


def _ask(cluster: str, method: str, path: str, **more: Any) -> StepData:
    return {"do": "ask", "cluster": cluster, "method": method, "path": path, **more}


def _cas(draws: Draws, cluster: str) -> list[StepData]:
    """Write under a check-and-set, right or wrong."""
    body = {"data": {"n": draws.below(100)}, "options": {"cas": draws.below(MAX_VERSION + 1)}}
    return [_ask(cluster, "POST", "secret/data/shared", body=body), _ask(cluster, "GET", "secret/data/shared")]


def _wrapping(draws: Draws, cluster: str) -> list[StepData]:
    """Read what is there in any case, wrapped, and unwrap it twice."""
    name = f"wrapped-{draws.below(1_000)}"
    ttl = draws.one_of(("2s", "60s"))
    wrapped = {"headers": {"X-Vault-Wrap-TTL": ttl}, "keep": {name: "wrap_info.token"}}
    unwrap = _ask(cluster, "POST", "sys/wrapping/unwrap", body={"token": f"$({name})"})
    return [_ask(cluster, "GET", "sys/mounts", **wrapped), unwrap, dict(unwrap)]


def _lease(draws: Draws, cluster: str) -> list[StepData]:
    """Make a token that expires, renew it, and ask with it at once; perhaps again when it may be over."""
    name, rest = f"leased-{draws.below(1_000)}", draws.apart("leases")
    body = {"ttl": draws.one_of(("2s", "10s", "1h")), "policies": ["default"]}
    made = _ask(cluster, "POST", "auth/token/create", body=body, keep={name: "auth.client_token"})
    renewed = _ask(cluster, "POST", "auth/token/renew-self", body={}, token=f"$({name})")
    used = _ask(cluster, "GET", "auth/token/lookup-self", token=f"$({name})")
    later = [REST, dict(used)] if rest.chance(50) else []
    return [made, renewed, used, *later]


def _spent_token(draws: Draws, cluster: str) -> list[StepData]:
    """Make a token of two uses, and use it three times."""
    name = f"spent-{draws.below(1_000)}"
    body = {"num_uses": 2, "policies": ["default"], "ttl": "1h"}
    made = _ask(cluster, "POST", "auth/token/create", body=body, keep={name: "auth.client_token"})
    return [made, *(_ask(cluster, "GET", "auth/token/lookup-self", token=f"$({name})") for _ in range(3))]


def _wrong_token(draws: Draws, cluster: str) -> list[StepData]:
    """Ask with none of the tokens that it takes: for a secret, a promotion, an update of the primary, a reindex."""
    path = draws.one_of(
        ("secret/data/shared", "sys/replication/dr/secondary/promote", "sys/replication/dr/secondary/update-primary")
    )
    if path.startswith("secret"):
        return [_ask(cluster, "POST", path, body={"data": {"n": 1}}, token="none")]
    wrong = draws.apart("wrong tokens").one_of(({}, {"dr_operation_token": "none"}, {"dr_operation_token": "hvs.none"}))
    reindex = "sys/replication/dr/secondary/reindex"
    return [_ask(cluster, "POST", asked, body=wrong, token="none") for asked in (path, reindex)]


def _deleted_metadata(draws: Draws, cluster: str) -> list[StepData]:
    """Delete a secret with all its versions."""
    path = draws.one_of(("secret/metadata/shared", "secret/metadata/writers-1/0", "secret/metadata/writers-1/1"))
    return [_ask(cluster, "DELETE", path)]


def _policy(draws: Draws, cluster: str) -> list[StepData]:
    """Write a policy."""
    capability = draws.one_of(("read", "list"))
    body = {"policy": f'path "secret/*" {{ capabilities = ["{capability}"] }}'}
    return [_ask(cluster, "POST", "sys/policies/acl/app", body=body)]


def _rotation(draws: Draws, cluster: str) -> list[StepData]:
    """Rotate the keyring."""
    return [_ask(cluster, "POST", "sys/rotate")]


REQUESTS: dict[str, Callable[[Draws, str], list[StepData]]] = {
    "cas": _cas,
    "wrapping": _wrapping,
    "lease": _lease,
    WRONG_TOKEN: _wrong_token,
    "spent token": _spent_token,
    "deleted metadata": _deleted_metadata,
    "policy": _policy,
    "rotation": _rotation,
}
"""{kind: what makes its requests to a cluster}."""
