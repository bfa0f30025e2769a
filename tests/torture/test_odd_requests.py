"""Odd requests: every route with every kind of wrong value, on vaults in every state; what holds of each answer.

    python tests/torture/test_odd_requests.py [requests] [seed] [processes]

1. No exception leaves ``request``, and no answer is a 500 but two mistakes (decision C10).
2. A refused request changes no byte of the store but what R4 names: a spent use and what ends with the last one.
3. Every answer is JSON: it is written, read back and equal.  A refusal has a text, but for the API's empty 404.
4. Where audit is on and the vault unsealed, every request has the response's record, one that is recorded has no value.

A request is a function of seed and number, so that a failure can be met again.
"""

from __future__ import annotations

import json
import pickle
import re
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Vault
from labkit.sealed_box import seal_to
from labkit.service.message import Fetch, Response, respond, silence
from labkit.service.routing import Route
from labkit.vault.audit import UNRECORDED
from labkit.vault.core import Environment, Leadership, Settings
from labkit.vault.files import Files
from labkit.vault.mounts import CATALOGUE, read_table, routes_of
from labkit.vault.sealing.initialise import DEV_MOUNTS, set_up
from labkit.vault.storage.memory import MemoryStorage

EVERYDAY = 20_000
CHUNKS = 20
QUICK_CHUNKS = 8
REQUESTS_PER_WORLD = 200

START_NS = 1_893_456_000 * 1_000_000_000
CANARY = "canary-5e1f9"

MISTAKES = ("is disallowed on the policy", '" already exists')

POLICY = """
path "secret/*" { capabilities = ["create", "read", "update", "delete", "list", "patch"] }
path "transit/+/app" { capabilities = ["update"] denied_parameters = { "context" = [] } }
path "sys/*" { capabilities = ["read", "list", "update", "sudo"] }
path "auth/token/*" { capabilities = ["update", "read", "list", "sudo"] }
"""

SEGMENTS = (
    *("app", "k", "secret", "default", "root", "reader", "token", "r", "kv1", "config", "data", "metadata", "x" * 300),
    *(
        "",
        ".",
        "..",
        "*",
        "+",
        "%",
        "%00",
        "%2e%2e",
        "%2F",
        "%ff",
        "%C3%BC",
        "ü",
        "\ud800",
        "\0",
        " ",
        "a b",
        "😀",
        "{{x}}",
    ),
    *("a/b/c", "a/" * 63, "a/" * 70, "y" * 4_200, "-1", "0", "1e9", "?", "#", "\n"),
)
WORDS = (
    *(
        "",
        " ",
        "a",
        "app",
        "x" * 40,
        "ü",
        "😀",
        "\0",
        "\ud800",
        "\udfff\ud800",
        "null",
        "true",
        "false",
        "T",
        "root",
        "default",
    ),
    *(
        "0",
        "-1",
        "1",
        "2",
        "007",
        "0x10",
        "0x" + "f" * 4_000,
        "9" * 5_000,
        "9223372036854775808",
        "1e3",
        "NaN",
        "\u0663",
    ),
    *("1h", "-1h", "1h30m", "292y", "9999999h", "1.5s", "1.5", "2d", "9" * 19 + "s", "system", "µs", "1" * 300 + "ns"),
    *("batch", "service", "kv", "kv-v2", "transit", "file", "hmac", "aes256-gcm96", "secret/", "auth/", "sys/", "2"),
    *(
        "vault:v1:",
        "vault:v1:AAAA",
        "vault:v99:" + "A" * 60,
        "vault:v-1:AA",
        "hvb.",
        "hvb.AAAA",
        "a.b.c",
        "eyJ9.eyJ9.AA",
    ),
    *("AAAA", "AAA", b64encode(bytes(12)).decode(), b64encode(bytes(32)).decode(), b64encode(bytes(33)).decode()),
    *(
        "00" * 16,
        "00" * 33,
        "zz",
        "%s",
        "{}",
        "[]",
        '{"a": 1}',
        'path "a" { capabilities = ["read"] }',
        "path {",
        "a,b,,c",
    ),
    *(
        "127.0.0.1/8",
        "::/0",
        "https://127.0.0.1:8201",
        "../../x",
        "2030-01-31T12:00:00Z",
        "10000-01-01T00:00:00Z",
        CANARY,
    ),
)
SCALARS = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        3,
        12,
        2**31,
        2**63 - 1,
        2**63,
        -(2**63) - 1,
        10**30,
        10**3_999,
        10**4_000,
        -(10**5_000),
    ),
    *(0.0, -0.0, 1.5, 2.0, 1e308, 5e-324, float("nan"), float("inf"), -float("inf")),
)
NO_JSON = (b"bytes", {1, 2}, object(), 1j, (1, 2), {1: 2}, {None: 1}, range(3))

NO_BUNDLES = (
    *(b"garbage", b"[1]", b"{}", b"5", b"null", b"\xff", b'["a","b","c","d","zz","f","g"]', b"[1,2,3,4,5,6,7]"),
    *(
        b'["","","","","","",""]',
        b'["a","b","c","d","00","f","g"]',
        b'[NaN,"b","c","d","00","f","g"]',
        b"[[],[],[],[],[],[],[]]",
    ),
    b'["a","b","c","d","' + b"00" * 32 + b'","f","g"]',
)


GUID = "11111111-0000-4000-8000-000000000001"
LOGIN = {
    "jwt": "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.e30.AA",  # an honest header, and a key's name that CLOUD_BODIES has
    "role": "r",
    "subscription_id": GUID,
    "resource_group_name": "g",
}
CLOUD_BODIES: tuple[dict[str, Any] | None, ...] = (
    {"issuer": "i", "jwks_uri": "https://login.cloud.test/keys"},
    {"issuer": "i", "jwks_uri": "https://login.cloud.test/keys"},
    {"keys": [{"kty": "RSA", "kid": "k", "n": "_" * 342, "e": "AQAB"}]},
    {"access_token": CANARY, "expires_in": 3_600},
    {"value": [{"id": GUID, "passwordCredentials": [{"hint": CANARY[:3], "keyId": GUID}]}]},
    {"secretText": CANARY, "keyId": GUID},
    {},
    None,
)
"""What a cloud answers, each to any question."""


class World(NamedTuple):
    """A vault, what is known of it, and where its requests begin."""

    vault: Vault
    files: Files
    clock: list[int]
    tokens: tuple[Any, ...]
    boxes: tuple[str, ...] = ()


class Drawn:
    """Random bytes of a world, and numbers of its RSA keys: finding primes for each would take all the time."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def __call__(self, count: int) -> bytes:
        return self._dice.randbytes(count)

    def draw_once(self, kind: str, count: int) -> int:
        return self._dice.randrange(count)


class Sent(NamedTuple):
    """One request as it is given to a vault."""

    method: Any
    path: Any
    body: Any
    headers: Any

    def shown(self) -> str:
        try:
            return ascii(tuple(self))[:3_000]
        except (ValueError, RecursionError):  # more digits or levels than Python writes
            return ascii(self[:2])[:1_000]


# ---- worlds


def make_world(dice: Random) -> World:
    """A vault in one of many states."""
    clock, files = [START_NS], Files()
    edition = "community" if dice.random() < 0.1 else "enterprise"
    environment = Environment(lambda: clock[0], Drawn(dice), lambda kind, **fields: None, fetcher(dice))
    vault = Vault(MemoryStorage(), environment, Settings(edition=edition, max_request_bytes=200_000), files=files)
    state = dice.choice(("plain",) * 8 + ("primary", "secondary", "sealed", "standby", "lost", "uninitialised"))
    if state == "uninitialised":
        return World(vault, files, clock, ("", "hvs.x"))
    vault.root_token, vault.unseal_keys = set_up(vault.core, mounts=DEV_MOUNTS)
    tokens = prepare(vault)
    if dice.random() < 0.5:
        assert vault.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}}).ok
    boxes = box_up(vault, dice)
    if state in ("primary", "secondary") and edition == "enterprise":
        assert vault.post("sys/replication/dr/primary/enable", {}).ok
        if state == "secondary":
            assert vault.post("sys/replication/dr/primary/demote", {}).ok
    elif state == "sealed":
        vault.put("sys/seal")
        if dice.random() < 0.5:
            vault.put("sys/unseal", {"key": vault.unseal_keys[0]}, token="")
            vault.put("sys/unseal", {"key": vault.unseal_keys[1]}, token="")
    elif state in ("standby", "lost"):
        vault.set_leadership(Leadership(False, 1, 0, "http://n2:8200" if state == "standby" else ""))
    return World(vault, files, clock, tokens, boxes)


def prepare(vault: Vault) -> tuple[Any, ...]:
    """Put something into every engine; return tokens of every kind."""
    mount_the_others(vault)
    vault.post("kv1/app", {"user": "ada"})
    for version in range(3):
        vault.post("secret/data/app", {"data": {"n": version}})
    vault.post("secret/delete/app", {"versions": [2]})
    vault.post("transit/keys/app")
    vault.post("transit/keys/k", {"derived": True, "convergent_encryption": True})
    vault.post("transit/keys/r", {"type": "hmac", "exportable": True, "allow_plaintext_backup": True})
    vault.put("sys/policies/acl/reader", {"policy": POLICY})
    vault.post("auth/token/roles/r", {"allowed_policies": "reader", "token_bound_cidrs": "10.0.0.0/8"})
    vault.post("auth/cloud/config", {"tenant_id": GUID, "resource": "r", "client_id": GUID, "client_secret": CANARY})
    vault.post("auth/cloud/role/r", {"bound_locations": "here"})
    vault.post("auth/approle/role/r", {"token_policies": "reader", "secret_id_num_uses": 3})
    vault.post("auth/approle/role/r/custom-secret-id", {"secret_id": CANARY})
    made = [
        vault.post("auth/token/create", body).auth["client_token"]
        for body in (
            {"policies": ["reader"]},
            {"policies": ["reader"], "num_uses": 3},
            {"policies": ["root"], "num_uses": 1},
            {"policies": ["reader"], "type": "batch", "ttl": "1h"},
            {"policies": ["default"], "ttl": "1s"},
            {"policies": ["reader"], "period": "1h"},
        )
    ]
    wrapped = vault.post("sys/wrapping/wrap", {"a": 1}, headers={"X-Vault-Wrap-TTL": "5m"}).wrap_info["token"]
    return (vault.root_token,) * 6 + (*made, wrapped)


def box_up(vault: Vault, dice: Random) -> tuple[str, ...]:
    """What is encrypted to the public key that the vault makes for activations, but is no bundle."""
    answer = vault.post("sys/replication/dr/secondary/generate-public-key", {})
    if not answer.ok:
        return ()
    public = b64decode(answer.data["secondary_public_key"])
    return tuple(b64encode(seal_to(public, row, dice.randbytes)).decode() for row in dice.sample(NO_BUNDLES, 3))


def fetcher(dice: Random) -> Callable[[Fetch], Response]:
    """What another service answers: silence, refusals, and answers of every odd shape."""

    def fetch(asked: Fetch) -> Response:
        if "cloud.test" in asked.address:
            return respond(dice.choice((200, 200, 200, 404, 503)), deepcopy(dice.choice(CLOUD_BODIES)))
        shape = dice.randrange(6)
        if shape == 0:
            return silence("nobody is there")
        if shape == 1:
            return respond(dice.choice((400, 403, 503, 307)), dice.choice((None, {"errors": ["no"]}, {})))
        bundle = [dice.choice(("", "x", "00" * 32, 7, None, CANARY)) for _ in range(dice.choice((7, 7, 7, 9, 3)))]
        data: dict[str, Any] = {"bundle": dice.choice((bundle, bundle, None, 7, "seven__", {}))}
        if shape > 3:
            data = {
                name: dice.choice(("", "zz", "00" * 32, None, 7)) for name in ("root_key", "keyring", "seal_config")
            }
        return respond(200, dice.choice(({"data": data}, {"data": data}, {"data": None}, {}, None)))

    return fetch


# ---- requests


def make_request(world: World, dice: Random) -> Sent:
    """The next odd request to a world."""
    prefix, route = dice.choice(ROUTES)
    fields = [field.name for field in route.fields]
    odd = dice.random()
    path: Any = prefix + re.sub(
        r"<\w+>", lambda _: dice.choice(SEGMENTS[: 10 if dice.random() < 0.7 else None]), route.pattern
    )
    body = members(world, dice, fields)
    method: Any = {"read": "GET", "write": "POST", "list": "LIST", "delete": "DELETE", "patch": "PATCH"}[
        route.operation
    ]
    if odd < 0.05:
        method = dice.choice(
            ("GET", "HEAD", "LIST", "PUT", "PATCH", "DELETE", "get", "", "TRACE", None, 7, "\ud800", ["GET"])
        )
    sent: Any = body
    if method not in ("POST", "PUT", "PATCH"):
        path, sent = path + query(dice, body), None if dice.random() < 0.9 else body
    elif dice.random() < 0.03:
        sent = dice.choice(
            ([1], "text", 7, True, b"{}", {}, None, deep(dice), {"a": [1] * 10_001}, {"a": "x" * 250_000})
        )
    if dice.random() < 0.1:
        path = dice.choice(("/v1/", "//v1//", "/", "v1/", "v1/v1/")) + path
    if dice.random() < 0.01:
        path = dice.choice(
            (None, 7, b"secret/data/app", "", "/", "?", "sys", "\ud800", "secret/data/app?list=x", "nowhere/a")
        )
    return Sent(method, path, sent, headers(world, dice, method))


def members(world: World, dice: Random, fields: list[str]) -> dict[Any, Any]:
    """Some of a route's fields, and others, with odd values."""
    body: dict[Any, Any] = {}
    for name in fields:
        if dice.random() < 0.5:
            boxed = name == "token" and world.boxes and dice.random() < 0.4
            body[name] = dice.choice(world.boxes) if boxed else value(world, dice)
        if name in LOGIN and dice.random() < 0.8:
            body[name] = LOGIN[name]
    while dice.random() < 0.15:
        body[
            dice.choice(
                ("from", "to", "options", "data", "unknown", "ü", "", "\ud800" if dice.random() < 0.05 else "z")
            )
        ] = value(world, dice)
    return body


def value(world: World, dice: Random, depth: int = 0) -> Any:
    """An odd value; some are what the vault knows, so that handlers get further."""
    kind = dice.random()
    if kind < 0.35:
        return dice.choice(WORDS)
    if kind < 0.6:
        return dice.choice(SCALARS)
    if kind < 0.7:
        return dice.choice((*world.tokens, *world.vault.unseal_keys[:3], *world.boxes))
    if kind < 0.72:
        return deepcopy(dice.choice(NO_JSON))
    if kind < 0.721:
        return deep(dice)
    if depth > 2:
        return "x"
    if kind < 0.86:
        return [value(world, dice, depth + 1) for _ in range(dice.randrange(4))]
    names = (
        "plaintext",
        "ciphertext",
        "context",
        "nonce",
        "key_version",
        "cas",
        "type",
        "a",
        "ü",
        "version",
        "file_path",
        "reference",
    )
    return {dice.choice(names): value(world, dice, depth + 1) for _ in range(dice.randrange(4))}


def deep(dice: Random) -> Any:
    """A value that is nested, wide, or in many places at once."""
    nested: Any = "x"
    for _ in range(dice.choice((50, 298, 305, 2_000))):
        nested = [nested] if dice.random() < 0.5 else {"a": nested}
    shared: Any = [1] * 100
    for _ in range(dice.choice((1, 1, 1, 3))):
        shared = [shared] * 100
    circle: list[Any] = []
    circle.append(circle)
    return dice.choice((nested, nested, shared, circle))


def query(dice: Random, body: dict[Any, Any]) -> str:
    """A query string of some members, encoded well or badly."""
    if not body or dice.random() < 0.3:
        return ""
    parts = []
    for name, member in body.items():
        text = str(name) + "=" + written(member)[:6_000]
        parts.append(text if dice.random() < 0.2 else quote(text, safe="=", errors="surrogatepass"))
    if dice.random() < 0.05:
        parts += dice.choice(
            (["%ff=%ff"], ["list=true"], ["list"], ["a=1"] * 20, ["&", ";", "=", "=="], ["x=1"] * 10_001)
        )
    return "?" + "&".join(parts)


def written(member: Any) -> str:
    items = [member]
    for item in items:  # one list in many places, written whole, would take gigabytes
        if len(items) > 100_000:
            return "9" * 5_000
        items += item.values() if isinstance(item, dict) else item if isinstance(item, (list, tuple)) else ()
    try:
        return str(member)
    except (ValueError, RecursionError):
        return "9" * 5_000


def headers(world: World, dice: Random, method: Any) -> Any:
    """Headers of every kind, most of them with a token that is known."""
    sent: dict[Any, Any] = {}
    if method == "PATCH" and dice.random() < 0.9:
        sent["Content-Type"] = "application/merge-patch+json"
    chance = dice.random()
    if chance < 0.85:
        sent["X-Vault-Token"] = dice.choice(world.tokens)
    elif chance < 0.95:
        name = dice.choice(("X-Vault-Token", "x-vault-token", "Authorization"))
        sent[name] = dice.choice(
            ("\ud800", "hvb.\ud800", "hvb.AAAA", "", "ü", "\0", 7, None, b"x", "Bearer \udfff", "hvs." + "x" * 24)
        )
    if dice.random() < 0.12:
        names = (
            "X-Vault-Wrap-TTL",
            "X-Vault-Namespace",
            "Content-Type",
            "x-vault-wrap-ttl",
            "X-Other",
            7,
            "\ud800",
            None,
            "",
        )
        values = (
            "5m",
            "1h",
            "-1",
            "x",
            "9" * 400,
            "",
            "root",
            "root/",
            "team/a",
            "n/" * 70,
            "n" * 5_000,
            "\ud800",
            7,
            None,
        )
        sent[dice.choice(names)] = dice.choice(values)
    return dice.choice((None, [], "x", 7)) if dice.random() < 0.005 else sent


def mount_the_others(vault: Vault) -> None:
    """Mount what is not there from the start."""
    vault.post("sys/mounts/kv1", {"type": "kv"}).raise_for_status()
    for kind in ("approle", "userpass"):
        vault.post(f"sys/auth/{kind}", {"type": kind}).raise_for_status()


def all_routes() -> list[tuple[str, Route]]:
    """Every route of every engine, under a path where the engine is mounted."""
    vault = Vault.dev()
    mount_the_others(vault)
    from labkit.vault.context import own_work

    mounts = read_table(own_work(vault.core).full_storage).mounts
    assert {(mount.kind, mount.version) for mount in mounts} == set(CATALOGUE), "an engine is not mounted here"
    return [(mount.path, route) for mount in mounts for route in routes_of(mount).routes]


# ---- judgement


def play(seed: int, count: int) -> Iterator[str]:
    """Send requests; yield what is wrong with each answer that does not hold."""
    for number in range(count // REQUESTS_PER_WORLD):
        dice = Random(f"odd requests {seed} {number}")
        world = make_world(dice)
        for index in range(REQUESTS_PER_WORLD):
            world.clock[0] += dice.choice((0, 1, 10**9, 3_600 * 10**9))
            sent = make_request(world, dice)
            wrong = judge(world, sent)
            if wrong:
                yield f"seed {seed}, world {number}, request {index}: {wrong}\n    {sent.shown()}"
                break


def judge(world: World, sent: Sent) -> str:
    """Send one request; return what does not hold of its answer."""
    vault, lines = world.vault, world.files.lines.setdefault("/log", [])
    vault.tick()
    before, written, sealed = stored(vault), len(lines), vault.sealed
    devices = vault.core.storage.get("core/audit")
    try:
        answer = vault.request(*sent)
    except Exception as error:  # whatever it is, it must not get here
        return f"{type(error).__name__} left request: {ascii(str(error))[:300]}"
    wrong = judge_answer(sent.path, answer) if sent.method != "HEAD" else ""  # its answer may have no body
    if not wrong and answer.status >= 400 and not is_partial(answer) and not sent_health(sent):
        wrong = judge_store(before, stored(vault))
    if not wrong and devices is not None and not sealed and vault.core.storage.get("core/audit") is devices:
        wrong = judge_records(sent, [json.loads(line) for line in lines[written:]])
    return wrong


def stored(vault: Vault) -> dict[str, bytes]:
    assert isinstance(vault.core.storage, MemoryStorage)
    items: dict[str, bytes] = vault.core.storage.state()["items"]
    return items


def judge_answer(path: Any, answer: Response) -> str:
    expected = any(mistake in text for mistake in MISTAKES for text in answer.errors)
    if answer.status >= 500 and answer.status not in (501, 503) and not expected:
        return f"{answer.status} {answer.errors}"
    try:
        text = json.dumps(answer.body, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        return f"the answer is not JSON: {error}"
    if json.loads(text) != answer.body:
        return "the answer reads back as another one"
    if (
        answer.status in (400, 403, 413, 415, 503)  # a 405 of an unknown method has no text either
        and not answer.errors
        and not answer.data
        and len(answer.body or {}) < 3
        and "list" not in str(path)  # a parameter list that is neither true nor false is refused so, as recorded
        and not (answer.status == 400 and "sys/health" in str(path))  # so is a status that is none of HTTP's
    ):
        return f"a {answer.status} without a word"
    return ""


def is_partial(answer: Response) -> bool:
    """Whether a batch's items have outcomes of their own."""
    return isinstance(answer.data, dict) and "batch_results" in answer.data


def sent_health(sent: Sent) -> bool:
    return "sys/health" in str(sent.path)


def judge_store(before: dict[str, bytes], after: dict[str, bytes]) -> str:
    changed = sorted(key for key in before.keys() | after.keys() if before.get(key) is not after.get(key))
    changed = [
        key
        for key in changed
        if not key.startswith(("node/wal", "node/index/"))  # the entry's number and names
        and not key.startswith("node/mount/")  # what was fetched for all, and attempts at it (R4)
        and not re.fullmatch(r"logical/[^/]+/rotation", key)  # how far a rotation came (R4)
    ]
    spent = [key for key in changed if key.startswith("token/id/")]
    if not changed or (len(changed) == 1 and spent):
        return ""
    if spent and all(key.startswith(("token/", "cubbyhole/")) and key not in after for key in changed):
        return ""
    return f"a refused request changed {changed}"


def judge_records(sent: Sent, records: list[dict[str, Any]]) -> str:
    kinds = [record["type"] for record in records]
    path = sent.path if isinstance(sent.path, str) else ""
    if any(name.rpartition("/")[2] in path for name in UNRECORDED) and not kinds:
        return ""
    if kinds not in (["request", "response"], ["response"]):
        return f"the records are {kinds}"
    for record in records:
        shown = json.dumps({**record, "request": {**record["request"], "path": ""}})
        if CANARY in shown and "capabilities" not in path:  # its answer names paths
            return f"a record shows a value: {shown[:600]}"
    return ""


ROUTES = all_routes()


@pytest.mark.parametrize(
    "chunk",
    [pytest.param(chunk, marks=pytest.mark.slow) if chunk >= QUICK_CHUNKS else chunk for chunk in range(CHUNKS)],
)
@pytest.mark.slow
def test_every_odd_request_is_answered(chunk: int) -> None:
    wrong = list(play(chunk, EVERYDAY // CHUNKS))

    assert wrong == [], "\n".join(wrong)


@pytest.mark.slow
def test_what_is_changed_after_sending_or_reading_changes_no_vault() -> None:
    """Two equal vaults get the same requests; bodies and answers of one are spoilt right after."""
    for number in range(10):
        dice, other = Random(f"spoilt {number}"), Random(f"spoilt {number}")
        spoilt, clean = make_world(dice), make_world(other)
        for _ in range(100):
            one, two = make_request(spoilt, dice), make_request(clean, other)
            answers = spoilt.vault.request(*one), clean.vault.request(*two)
            assert answers[0] == answers[1], one.shown()
            for thing in (one.body, one.headers, answers[0].body, answers[0].headers):
                spoil(thing)
            assert stored(spoilt.vault) == stored(clean.vault), one.shown()
        made, wanted = ([pickle.dumps(tuple(call)) for call in world.vault.calls] for world in (spoilt, clean))
        assert made == wanted  # as bytes: a body may be NaN, which equals nothing
        assert spoilt.files.state() == clean.files.state()


def spoil(thing: Any, depth: int = 0) -> None:
    """Change everything in a value that can be changed."""
    if depth > 20 or not isinstance(thing, (dict, list)):
        return
    for member in list(thing.values() if isinstance(thing, dict) else thing)[:50]:
        spoil(member, depth + 1)
    if isinstance(thing, dict):
        for name in list(thing):
            thing[name] = "spoilt"
        thing["more"] = "spoilt"
    else:
        thing[:] = ["spoilt"]


def main(arguments: list[str]) -> int:
    """Play requests in several processes; print what does not hold, and how many there were."""
    from concurrent.futures import ProcessPoolExecutor

    count = int(arguments[0]) if arguments else 500_000
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    processes = int(arguments[2]) if len(arguments) > 2 else 2
    share = 10_000
    found = 0
    with ProcessPoolExecutor(processes) as pool:
        for wrong in pool.map(_share, [(f"{seed}.{part}", share) for part in range(-(-count // share))]):
            found += len(wrong)
            for line in wrong:
                print(line, flush=True)
    print(f"{-(-count // share) * share} odd requests of seed {seed}: {found} answers that do not hold")
    return 1 if found else 0


def _share(part: tuple[Any, int]) -> list[str]:
    return list(play(*part))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
