"""Usual requests, sent again and again by tokens of every kind, with the headers that they may have."""

from __future__ import annotations

from random import Random

from labkit.service.message import Body, Response
from tests.caches.twins import Twins

SECOND_NS = 1_000_000_000
DR = "sys/replication/dr/"
TEAM = {"X-Vault-Namespace": "team"}

ALL = '"create", "read", "update", "delete", "list", "patch"'
POLICIES = (
    f'path "*" {{ capabilities = [{ALL}] }}',
    f'path "secret/*" {{ capabilities = [{ALL}] }} path "transit/*" {{ capabilities = ["update"] }}',
    'path "secret/data/*" { capabilities = ["read", "list"] }',
    'path "secret/data/app" { capabilities = ["create"] } path "kv1/*" { capabilities = ["create", "read"] }',
    'path "secret/data/+" { capabilities = ["update"] } path "transit/encrypt/+" { capabilities = ["create"] }',
    f'path "*" {{ capabilities = [{ALL}] }} path "secret/data/app" {{ capabilities = ["deny"] }}',
    'path "transit/*" { capabilities = ["update"] allowed_parameters = { "plaintext" = [] } }',
    'path "*" { capabilities = ["create", "update", "read"] denied_parameters = { "plaintext" = ["aGk="] } }',
    'path "*" { capabilities = ["read", "update"] min_wrapping_ttl = "10s" max_wrapping_ttl = "20s" }',
    f'path "sys/*" {{ capabilities = [{ALL}, "sudo"] }} path "auth/*" {{ capabilities = [{ALL}, "sudo"] }}',
    f'path "team/secret/*" {{ capabilities = [{ALL}] }} path "secret/data/app" {{ capabilities = ["read"] }}',
)

PATHS = [
    *("secret/data/app", "transit/encrypt/k", "sys/policies/acl/reader", "auth/token/lookup-self"),
    "team/secret/data/app",
]
PLAIN: Body = {"plaintext": "aGk="}
HOT: tuple[tuple[str, str, Body | None], ...] = (
    ("GET", "secret/data/app", None),
    ("POST", "secret/data/app", {"data": {"n": 1}}),
    ("PATCH", "secret/data/app", {"data": {"m": 2}}),
    ("DELETE", "secret/data/app", None),
    ("GET", "secret/data/app?version=1", None),
    ("LIST", "secret/metadata", None),
    ("GET", "secret/metadata/?list=true", None),
    ("GET", "secret/metadata/app", None),
    ("GET", "moved/data/app", None),
    ("POST", "moved/data/app", {"data": {"n": 3}}),
    ("GET", "kv1/app", None),
    ("PUT", "kv1/app", {"user": "ada"}),
    ("DELETE", "kv1/app", None),
    ("POST", "transit/encrypt/k", PLAIN),
    ("POST", "transit/encrypt/k", {"plaintext": "aGkh", "associated_data": "eA=="}),
    ("POST", "transit/encrypt/other", PLAIN),
    ("POST", "transit/encrypt/ext", PLAIN),
    ("GET", "transit/keys/k", None),
    ("POST", "transit/keys/k/rotate", None),
    ("GET", "cubbyhole/x", None),
    ("POST", "cubbyhole/x", {"a": 1}),
    ("GET", "auth/token/lookup-self", None),
    ("POST", "auth/token/renew-self", {"increment": "1h"}),
    ("POST", "sys/capabilities-self", {"paths": PATHS}),
    ("GET", "sys/internal/ui/mounts/secret", None),
    ("GET", "sys/internal/ui/resultant-acl", None),
    ("GET", "sys/policies/acl/reader", None),
    ("GET", "sys/mounts", None),
    ("GET", "sys/health", None),
    ("GET", "sys/seal-status", None),
    ("GET", "sys/leader", None),
    ("POST", "sys/wrapping/wrap", {"a": 1}),
    ("POST", "sys/tools/hash", {"input": "aGk="}),
    ("GET", "team/secret/data/app", None),
    ("POST", "team/secret/data/app", {"data": {"n": 4}}),
    ("GET", "team/sub/secret/data/app", None),
    ("GET", "nowhere/app", None),
    ("GET", "auth/cloud2/config", None),
    ("LIST", "auth/token/accessors", None),
    ("LIST", "team/auth/token/accessors", None),
    ("LIST", "sys/leases/lookup/auth/token/create", None),
    ("GET", DR + "status", None),
    ("POST", "auth/approle/login", {"role_id": "app", "secret_id": "often"}),
    ("POST", "auth/approle/login", {"role_id": "app", "secret_id": "thrice"}),
    ("POST", "auth/approle/login", {"role_id": "app", "secret_id": "wrong"}),
    ("POST", "auth/approle/role/app/custom-secret-id", {"secret_id": "thrice", "num_uses": 3, "ttl": "1h"}),
    ("POST", "auth/approle/role/app/secret-id/destroy", {"secret_id": "thrice"}),
    ("LIST", "auth/approle/role/app/secret-id", None),
    ("GET", "auth/approle/role/app", None),
    ("POST", "auth/userpass/login/ada", {"password": "right"}),
    ("POST", "auth/userpass/login/ada", {"password": "wrong"}),
    ("POST", "auth/userpass/users/ada/password", {"password": "right"}),
    ("GET", "sys/locked-users", None),
    ("POST", "sys/capabilities", {"token": "reader", "paths": PATHS}),
)
"""Method, path and body of what is sent again and again; ``token`` is the name of the token that is asked about."""

ABOUT = HOT[-1]
"""What asks about another token."""

DATA = 17
"""How many of them, the first ones, work with the engines' data."""

CLIENTS = ("root", "reader", "both", "child", "orphan", "team child", "bound", "often")
HABITS = 5
"""How many requests are sent most often at a time, and the names of the tokens by which."""

TOKENS: dict[str, Body] = {
    "reader": {"policies": ["reader"], "ttl": "1h"},
    "both": {"policies": ["reader", "other"], "period": "30m"},
    "orphan": {"policies": ["reader"], "no_parent": True, "ttl": "20m"},
    "counted": {"policies": ["reader"], "num_uses": 6},
    "often": {"policies": ["reader", "other"], "num_uses": 5_000},
    "bound": {"policies": ["reader"], "ttl": "2h"},
    "batch": {"policies": ["reader"], "type": "batch", "ttl": "1h"},
    "second root": {"policies": ["root"], "ttl": "1h"},
    "absent policy": {"policies": ["later"]},
}
"""What is asked for to make a token of each name."""

CHILDREN = ("child", "batch child", "team child")


def hot(twins: Twins, dice: Random) -> Response:
    """Send one of the usual requests, by one of the tokens, perhaps with other headers."""
    habits = twins.facts.get("habits", [])
    if not habits or dice.random() < 0.05:
        habits = twins.facts["habits"] = [(dice.choice(HOT[:DATA]), dice.choice(CLIENTS)) for _ in range(HABITS)]
    if dice.random() < 0.6:
        (method, path, body), name = dice.choice(habits)
    else:
        (method, path, body), name = dice.choice(HOT), dice.choice([*twins.tokens, "root", "reader"])
    body = about(twins, body, dice.choice(("reader", "both", "child", "absent policy")))
    text = twins.tokens.get(name, "hvs.none") if dice.random() < 0.97 else dice.choice(("", "hvs.none"))
    headers = {"X-Vault-Token": text}
    if dice.random() < 0.15:
        headers = dice.choice(
            (
                {"x-vault-token": text},
                {"X-VAULT-TOKEN": text, "x-vault-token": "hvs.none"},
                {"Authorization": f"Bearer {text}"},
                {"X-Vault-Token": "", "authorization": f"bearer {text}"},
                {},
            )
        )
    if dice.random() < 0.15:
        headers |= dice.choice(
            (
                TEAM,
                {"x-vault-namespace": "team/sub/"},
                {"X-Vault-Namespace": "root"},
                {"X-Vault-Namespace": "none"},
                {"X-Vault-Wrap-TTL": "15s"},
                {"X-Vault-Wrap-TTL": "5s"},
                {"X-Vault-Index": twins.facts.get("index", "e30=")},
                {"Origin": "https://a.example"},
                {"X-Request": "seen"},
                {"X-Vault-No-Request-Forwarding": "1"},
            )
        )
    if method == "PATCH":
        headers["Content-Type"] = "application/merge-patch+json"
    address = dice.choice(("127.0.0.1", "127.0.0.1", "10.0.0.7"))
    twins.asked = int(dice.random() < 0.15)
    for _ in range(dice.choice((1, 1, 2, 3))):
        answer = twins.send(method, path, body, "", headers, address=address, ticks=dice.random() < 0.6)
    twins.asked = 0
    twins.facts["index"] = answer.headers.get("X-Vault-Index", twins.facts.get("index", "e30="))
    return answer


def about(twins: Twins, body: Body | None, name: str = "") -> Body | None:
    """Return a body with the text of the token that it asks about, where it does; ``name``: another than it says."""
    if body is None or "token" not in body:
        return body
    return {**body, "token": twins.tokens.get(name or body["token"], "hvs.none")}


def prepare(twins: Twins) -> None:
    """Put something into every engine, and make a token of every name."""
    for path, body in (
        ("sys/mounts/kv1", {"type": "kv"}),
        ("sys/namespaces/team", None),
        ("team/sys/namespaces/sub", None),
        ("team/sys/mounts/secret", {"type": "kv", "options": {"version": "2"}}),
        ("transit/keys/k", None),
        ("kv1/app", {"user": "ada"}),
        ("sys/auth/approle", {"type": "approle"}),
        ("auth/approle/role/app", {"role_id": "app", "token_policies": "reader"}),
        ("auth/approle/role/app/custom-secret-id", {"secret_id": "often"}),
        ("sys/auth/userpass", {"type": "userpass"}),
        ("auth/userpass/users/ada", {"password": "right"}),
        ("secret/data/app", {"data": {"n": 0}}),
        ("team/secret/data/app", {"data": {"n": 0}}),
        ("sys/policies/acl/reader", {"policy": POLICIES[0]}),
        ("sys/policies/acl/other", {"policy": POLICIES[2]}),
        ("team/sys/policies/acl/reader", {"policy": POLICIES[0]}),
        ("auth/token/roles/bound", {"allowed_policies": "reader", "token_bound_cidrs": "127.0.0.0/8"}),
    ):
        assert twins.send("POST", path, body).ok or "team" in path, path  # the community edition has no namespaces
    dice = Random(0)
    for name in (*TOKENS, *CHILDREN):
        make_token(twins, dice, name)


def make_token(twins: Twins, dice: Random, name: str = "") -> None:
    """Make a token again."""
    name = name or dice.choice((*TOKENS, *CHILDREN))
    path, headers, parent = "auth/token/create", {}, "root"
    body = TOKENS.get(name, {"policies": ["reader"], "ttl": "1h"})
    if name == "bound":
        path += "/bound"
    elif name == "batch child":
        body, parent = {**body, "type": "batch"}, "reader"
    elif name == "child":
        parent = "reader"
    elif name == "team child":
        headers = TEAM
    auth = twins.send("POST", path, body, parent, headers).auth
    if auth:
        twins.tokens[name] = auth["client_token"]
        twins.facts.setdefault("accessors", {})[name] = auth["accessor"]
        if auth["lease_duration"]:
            deadlines = twins.facts.setdefault("deadlines", {})
            deadlines[name] = twins.clock.now_ns + auth["lease_duration"] * SECOND_NS


def others(twins: Twins) -> list[str]:
    """The names of all tokens but the root token."""
    return [name for name in twins.tokens if name != "root"]
