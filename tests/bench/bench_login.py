"""Bench: what a login with kept keys costs, against one verified RS256 signature and one token issued; and its growth.

    python tests/bench/bench_login.py [rounds]

Floor and login are measured by turns, and the median of the rounds is told.  Goals: 2.2 times the floor; 10,000 logins
leave nothing but their tokens.  Where the time of a missed goal goes is told below it.
"""

from __future__ import annotations

import cProfile
import json
import pstats
import sys
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA256

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Vault
from tests.bench.bench_vault import Row, timed

LOGINS, MANY = 300, 10_000
GOAL = 2.2


def login_rows(vault: Vault) -> Iterator[Row]:
    """A signature that the bare primitive verifies, and a token that the vault issues."""
    machine = vault.cloud.vm("web-1")
    vault.post("auth/cloud/role/web", {"bound_service_principal_ids": machine.principal_id})
    text = machine.token()
    body = {
        "role": "web",
        "jwt": text,
        "subscription_id": machine.subscription_id,
        "resource_group_name": machine.resource_group,
        "vm_name": machine.name,
    }
    signed, _, signature_text = text.rpartition(".")
    signature, key, padding, digest = unpadded(signature_text), signing_key(vault, text), PKCS1v15(), SHA256()

    def login() -> None:
        assert vault.request("POST", "/v1/auth/cloud/login", json=body, headers={}).status == 200

    headers = {"X-Vault-Token": vault.root_token}
    made = {"policies": ["default"], "no_parent": True, "ttl": "1h"}

    def verify_and_issue() -> None:
        key.verify(signature, signed.encode(), padding, digest)
        assert vault.request("POST", "/v1/auth/token/create", json=made, headers=headers).status == 200

    yield Row("login of a machine", login, verify_and_issue, GOAL, LOGINS)


def unpadded(text: str) -> bytes:
    """Return what base64 of the web without its padding stands for."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def signing_key(vault: Vault, text: str) -> RSAPublicKey:
    """Return the published key by which a token says that it is signed."""
    named = json.loads(unpadded(text.partition(".")[0]))["kid"]
    (found,) = [row for row in vault.cloud.jwks()["keys"] if row["kid"] == named]
    modulus, exponent = (int.from_bytes(unpadded(found[part]), "big") for part in ("n", "e"))
    return RSAPublicNumbers(exponent, modulus).public_key()


def main(rounds: int) -> None:
    """Measure and print."""
    vault = Vault.dev()
    (row,) = login_rows(vault)
    for _ in range(50):
        row.ours(), row.floor()
    pairs = [(timed(row.ours, row.count), timed(row.floor, row.count)) for _ in range(rounds)]
    ratio = median(ours / floor for ours, floor in pairs)
    ours_us, floor_us = (median(column) / row.count / 1_000 for column in zip(*pairs, strict=True))
    print(f"login {ours_us:.0f} µs; RS256 verified and token issued {floor_us:.0f} µs: {ratio:.2f}, goal {GOAL}")
    if ratio > GOAL:
        profile = cProfile.Profile()
        profile.runcall(timed, row.ours, row.count)
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    folders = ("token/id/", "identity/alias/", "node/", "lease/")
    before = sum(len(vault.core.storage.list(folder)) for folder in folders)
    for _ in range(MANY):
        row.ours()
    more = sum(len(vault.core.storage.list(folder)) for folder in folders) - before
    print(f"{MANY} logins leave {more} stored values, {more / MANY:.2f} each (a token is 1)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
