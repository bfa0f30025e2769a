"""Bench: what requests to a vault cost, against the least work that gives the same answers in plain Python.

    python tests/bench/bench_vault.py [rounds]

Floor and vault are measured by turns, and the median of the rounds is told: absolute times mean nothing on a machine
that others use too.  Rows without a floor set one figure of the vault against another.  Below a row that misses its
goal stands where its time goes, by module: what the standard library or a primitive does counts for its caller.
"""

from __future__ import annotations

import cProfile
import gc
import json
import pstats
import sys
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from os import urandom
from pathlib import Path
from statistics import median
from time import process_time_ns
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Vault

REQUESTS = 1_000
ITEMS = 1_000
BATCHES = 3
NAMES = 10_000
MEGABYTE = 1_000_000
LISTS = 20
MODULES = 12

Work = Callable[[], object]


class Row(NamedTuple):
    """One line of the table: the vault's work and what it is set against, each done ``count`` times a round."""

    what: str
    ours: Work
    floor: Work
    goal: float | None = None
    count: int = REQUESTS  # type: ignore[assignment]  # a field of this name hides the method of a tuple
    items: int = 1


PLAINTEXT = b64encode(bytes(32)).decode()
SECRET = {"password": "x" * 100, "user": "ada", "url": "postgres://db-1.example.org:5432/orders?sslmode=verify-full"}
PATHS_A_POLICY = 20
POLICIES = tuple([f"policy-{number}" for number in range(20)])
ALLOWED, REFUSED = "secret/data/team-7/app-3/config", "secret/data/nobody/app-3/config"


class Asker:
    """Sends requests to a vault with one token."""

    def __init__(self, vault: Any, token: str = "") -> None:
        self.vault = vault
        self.headers = {"X-Vault-Token": token or vault.root_token}

    def work(self, method: str, path: str, body: dict[str, Any] | None = None, status: int = 200) -> Work:
        """Return a request that must be answered with a status."""
        request, headers, url = self.vault.request, self.headers, f"/v1/{path}"

        def ask() -> Any:
            answer = request(method, url, json=body, headers=headers)
            assert answer.status == status, (answer.status, answer.errors)
            return answer

        return ask

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send one request that prepares a measure; return the answer."""
        return self.vault.request(method, f"/v1/{path}", json=body, headers=self.headers).raise_for_status()


def transit_rows() -> Iterator[Row]:
    """Base64 in, a kept cipher, base64 out."""
    root = Asker(Vault.dev())
    cipher = AESGCM(bytes(32))

    def encrypt() -> str:
        nonce = urandom(12)
        return b64encode(nonce + cipher.encrypt(nonce, b64decode(PLAINTEXT), None)).decode()

    def decrypt() -> str:
        payload = b64decode(sealed)
        return b64encode(cipher.decrypt(payload[:12], payload[12:], None)).decode()

    sealed = encrypt()
    context = b64encode(b"context one").decode()
    root.ask("POST", "transit/keys/plain", {})
    root.ask("POST", "transit/keys/derived", {"derived": True})
    root.ask("POST", "transit/keys/same", {"derived": True, "convergent_encryption": True})
    plain, derived = {"plaintext": PLAINTEXT}, {"plaintext": PLAINTEXT, "context": context}
    stored = {"ciphertext": root.ask("POST", "transit/encrypt/plain", plain).data["ciphertext"]}
    plains, storeds = ({"batch_input": [dict(item) for _ in range(ITEMS)]} for item in (plain, stored))
    yield Row("transit encrypt, 32 bytes", root.work("POST", "transit/encrypt/plain", plain), encrypt, 4.5)
    batch = root.work("POST", "transit/encrypt/plain", plains)
    yield Row("transit encrypt, batch of 1,000, an item", batch, encrypt, 1.3, BATCHES, ITEMS)
    yield Row("transit decrypt, 32 bytes", root.work("POST", "transit/decrypt/plain", stored), decrypt)
    batch = root.work("POST", "transit/decrypt/plain", storeds)
    yield Row("transit decrypt, batch of 1,000, an item", batch, decrypt, None, BATCHES, ITEMS)
    yield Row("transit rewrap, 32 bytes", root.work("POST", "transit/rewrap/plain", stored), encrypt)
    yield from signing_rows(root)
    yield Row("transit encrypt, derived key", root.work("POST", "transit/encrypt/derived", derived), encrypt)
    yield Row("transit encrypt, convergent key", root.work("POST", "transit/encrypt/same", derived), encrypt)


def signing_rows(root: Asker) -> Iterator[Row]:
    """Base64 in, a kept key, base64 out."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    public = key.public_key()

    def sign() -> str:
        return b64encode(key.sign(b64decode(PLAINTEXT))).decode()

    def verify() -> None:
        public.verify(b64decode(signature), b64decode(PLAINTEXT))

    signature = sign()
    root.ask("POST", "transit/keys/signing", {"type": "ed25519"})
    asked = {"input": PLAINTEXT}
    made = {**asked, "signature": root.ask("POST", "transit/sign/signing", asked).data["signature"]}
    batch = {"batch_input": [dict(asked) for _ in range(ITEMS)]}
    yield Row("transit sign, ed25519", root.work("POST", "transit/sign/signing", asked), sign, 1.35)
    yield Row(
        "transit sign, ed25519, batch of 1,000, an item",
        root.work("POST", "transit/sign/signing", batch),
        sign,
        None,
        BATCHES,
        ITEMS,
    )
    yield Row("transit verify, ed25519", root.work("POST", "transit/verify/signing", made), verify)


def secret_rows() -> Iterator[Row]:
    """JSON, a kept cipher, a dict."""
    cipher = AESGCM(bytes(32))
    store: dict[str, bytes] = {}

    def write() -> None:
        nonce = urandom(12)
        store["app"] = nonce + cipher.encrypt(nonce, json.dumps(SECRET).encode(), None)

    def read() -> Any:
        stored = store["app"]
        return json.loads(cipher.decrypt(stored[:12], stored[12:], None))

    def asking(count: int) -> tuple[Asker, Work, Work]:
        root = Asker(Vault.dev())
        for number in range(count):
            root.ask("POST", f"secret/data/app-{number}", {"data": SECRET})
        return root, root.work("POST", "secret/data/app-5", {"data": SECRET}), root.work("GET", "secret/data/app-5")

    write()
    _, write_of_few, read_of_few = asking(10)
    yield Row("KV write, 200 bytes", write_of_few, write, 5.5)
    yield Row("KV read, 200 bytes", read_of_few, read, 3.2)
    many, write_of_many, read_of_many = asking(NAMES)
    yield Row("KV write, 10,000 secrets stored ÷ ten", write_of_many, write_of_few, 1.05)
    yield Row("KV read, 10,000 secrets stored ÷ ten", read_of_many, read_of_few, 1.05)

    yield from metadata_rows()

    keys = {f"secret/metadata/app-{number}": b"" for number in range(NAMES)}

    def names() -> list[str]:
        prefix = "secret/metadata/"
        cut = len(prefix)
        return sorted({key[cut:].partition("/")[0] for key in keys if key.startswith(prefix)})

    assert names() == many.ask("LIST", "secret/metadata").data["keys"]
    yield Row("list of 10,000 names", many.work("LIST", "secret/metadata"), names, 0.05, LISTS)


def metadata_rows() -> Iterator[Row]:
    """What touches no data costs the same whatever its size: ten versions of 1 MB against ten of 200 bytes."""
    small, large = (Asker(Vault.dev()) for _ in range(2))
    for root, secret in ((small, SECRET), (large, {"password": "x" * MEGABYTE})):
        for _ in range(10):
            root.ask("POST", "secret/data/app", {"data": secret})
    numbers = {"versions": [10]}
    for what, ask in (
        ("metadata read", lambda root: root.work("GET", "secret/metadata/app")),
        ("list", lambda root: root.work("LIST", "secret/metadata")),
        ("delete and undelete", lambda root: in_turn(root, "secret/delete/app", "secret/undelete/app", numbers)),
    ):
        yield Row(f"KV {what}, versions of 1 MB ÷ 200 bytes", ask(large), ask(small), 1.1)


def in_turn(root: Asker, first: str, second: str, body: dict[str, Any]) -> Work:
    """Return two writes, one after the other."""
    one, other = (root.work("PUT", path, body, 204) for path in (first, second))
    return lambda: (one(), other())


def policy_rows() -> Iterator[Row]:
    """An exact rule, else the longest of the prefixes that a path begins with."""
    vault = Vault.dev()
    root = Asker(vault)
    prefixes: dict[str, int] = {}
    for number, name in enumerate(POLICIES):
        paths = [f"secret/data/team-{number}/app-{place}/*" for place in range(PATHS_A_POLICY)]
        prefixes.update((path[:-1], 1) for path in paths)
        rules = "\n".join(f'path "{path}" {{ capabilities = ["create", "read", "update"] }}' for path in paths)
        root.ask("PUT", f"sys/policies/acl/{name}", {"policy": rules})
    made = root.ask("POST", "auth/token/create", {"policies": [*POLICIES], "no_default_policy": True})
    app = Asker(vault, made.auth["client_token"])
    root.ask("POST", ALLOWED, {"data": SECRET})
    exact: dict[str, int] = {}

    def probe() -> int:
        path = REFUSED
        found = exact.get(path)
        if found is not None:
            return found
        for end in range(len(path), 0, -1):
            found = prefixes.get(path[:end])
            if found is not None:
                return found
        return 0

    what = "KV read, 20 policies of 20 paths ÷ root token"
    yield Row(what, app.work("GET", ALLOWED), root.work("GET", ALLOWED), 1.05)
    yield Row("refused by policy", app.work("GET", REFUSED, status=403), probe, 4.0)


def token_rows() -> Iterator[Row]:
    """A hash and a dict."""
    tokens: dict[bytes, dict[str, Any]] = {}

    def create() -> str:
        text = urandom(24).hex()
        tokens[sha256(text.encode()).digest()] = {"policies": ["default"], "ttl": 3600}
        return text

    def lookup() -> dict[str, Any]:
        return tokens[sha256(known.encode()).digest()]

    known = create()
    root = Asker(Vault.dev())
    body = {"policies": ["default"], "ttl": "1h"}
    made = root.ask("POST", "auth/token/create", body)
    app = Asker(root.vault, made.auth["client_token"])
    yield Row("token lookup", app.work("GET", "auth/token/lookup-self"), lookup, 16.0)
    yield Row("token create", root.work("POST", "auth/token/create", body), create, 13.0)


def timed(work: Work, count: int) -> int:
    """Nanoseconds of the processor that some work takes when it is done many times, the collector held back."""
    gc.collect()
    gc.disable()
    started = process_time_ns()
    for _ in range(count):
        work()
    passed = process_time_ns() - started
    gc.enable()
    return passed


def where_it_goes(row: Row) -> str:
    """The modules in which the vault's work of a row spends its time, each with its share, and the calls a time."""
    profile = cProfile.Profile()
    work = row.ours
    gc.collect()
    gc.disable()
    with profile:
        for _ in range(row.count):
            work()
    gc.enable()
    measured: Any = pstats.Stats(profile)
    shares: Counter[str] = Counter()
    for (path, _, _), (_, _, own_s, _, callers) in measured.stats.items():
        if "labkit" in Path(path).parts:
            shares[module(path)] += own_s
            continue
        for caller, (_, _, from_caller_s, _) in callers.items():
            shares[module(caller[0])] += from_caller_s
    calls = sum(numbers[1] for numbers in measured.stats.values()) / row.count
    total_s = sum(shares.values())
    first = [f"{name} {share_s / total_s:.0%}" for name, share_s in shares.most_common(MODULES)]
    return f"    {calls:.0f} calls; {', '.join(first)}"


def module(path: str) -> str:
    """A file of the package by its name in it; anything else by its last name."""
    inside = Path(path).parts[-3:]
    parts = inside[inside.index("labkit") + 1 :] if "labkit" in inside else inside[-2:]
    return "/".join(parts).removesuffix(".py") if path.endswith(".py") else "the standard library"


def line(row: Row, rounds: int) -> str:
    """Measure one row by turns, and lay it out."""
    row.ours(), row.floor()
    floor_count = row.count * row.items
    pairs = [(timed(row.ours, row.count), timed(row.floor, floor_count)) for _ in range(rounds)]
    each = row.count * row.items * 1_000
    ratio = median(ours / floor for ours, floor in pairs)
    ours_us, floor_us = (median(figures) / each for figures in zip(*pairs, strict=True))
    verdict = "" if row.goal is None else "kept" if ratio <= row.goal else "MISSED"
    goal = "" if row.goal is None else f"{row.goal:g}"
    text = f"{row.what:46} {floor_us:10.2f} {ours_us:10.2f} {ratio:8.3f} {goal:>6}  {verdict}"
    return text if verdict != "MISSED" else f"{text}\n{where_it_goes(row)}"


def main(rounds: int = 11) -> None:
    """Measure every row, and print the table as it grows."""
    print(f"{'medians of ' + str(rounds) + ' rounds':46} {'floor, µs':>10} {'ours, µs':>10} {'ratio':>8} {'goal':>6}")
    for rows in (transit_rows, secret_rows, policy_rows, token_rows):
        for row in rows():
            print(line(row, rounds).rstrip(), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
