"""Bench: what a login with kept keys costs, against one verified RS256 signature and one token issued; and its growth.

    python tests/bench/bench_login.py [rounds]

Floor and login are measured by turns, and the median of the rounds is told.  Goals: 2.5 times the floor; 10,000 logins
leave nothing but their tokens.  Where the time of a missed goal goes is told below it.
"""

from __future__ import annotations

import cProfile
import gc
import pstats
import sys
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Vault
from labkit.vault.auth.cloud.key_sets import acceptable_keys, public_key
from labkit.vault.auth.cloud.signed_token import check_signature, read_token

LOGINS, MANY = 300, 10_000
GOAL = 2.5


def measured_us(work: Any, count: int = LOGINS) -> float:
    """Return what one piece of work takes, in microseconds."""
    gc.collect()
    begin = perf_counter_ns()
    for _ in range(count):
        work()
    return (perf_counter_ns() - begin) / count / 1_000


def main(rounds: int) -> None:
    """Measure and print."""
    vault = Vault.dev()
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
    token = read_token(text)
    ((_, modulus, exponent), *_) = [row for row in acceptable_keys(vault.cloud.jwks()) if row[0] == token.key_id]
    key = public_key(modulus, exponent)

    def login() -> None:
        assert vault.request("POST", "/v1/auth/cloud/login", json=body, headers={}).status == 200

    def verify() -> None:
        check_signature(token, key)

    headers = {"X-Vault-Token": vault.root_token}
    made = {"policies": ["default"], "no_parent": True, "ttl": "1h"}

    def issue() -> None:
        assert vault.request("POST", "/v1/auth/token/create", json=made, headers=headers).status == 200

    for work in (login, verify, issue):
        measured_us(work, 50)
    rows = [(measured_us(login), measured_us(verify), measured_us(issue)) for _ in range(rounds)]
    logins, verified, issued = [median(column) for column in zip(*rows, strict=True)]
    ratio = median([row[0] / (row[1] + row[2]) for row in rows])
    floor = f"RS256 verified {verified:.0f} µs, token issued {issued:.0f} µs"
    print(f"login {logins:.0f} µs; {floor}: {ratio:.2f}, goal {GOAL}")
    if ratio > GOAL:
        profile = cProfile.Profile()
        profile.runcall(measured_us, login)
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    folders = ("token/id/", "identity/alias/", "node/", "lease/")
    before = sum(len(vault.core.storage.list(folder)) for folder in folders)
    for _ in range(MANY):
        login()
    more = sum(len(vault.core.storage.list(folder)) for folder in folders) - before
    print(f"{MANY} logins leave {more} stored values, {more / MANY:.2f} each (a token and its accessor are 2)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
