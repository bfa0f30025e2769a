"""Bench: what the dearest odd requests cost: each is refused, or answered, well under half a second.

    python tests/bench/bench_odd_requests.py [rounds]

The median of the rounds is printed, beside what the same vault takes for a KV read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Vault

RULE = 'path "secret/data/{}/*" {{ capabilities = ["read"] }}\n'
LIMIT_MS = 500


def odd_requests(vault: Vault) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Each with its name."""
    many, more = ("&".join(f"a{number}=1" for number in range(count)) for count in (10_000, 1_000_000))
    yield "query of 10,000 parameters", lambda: vault.get("secret/data/a?" + many)
    yield "query of 1,000,000 parameters", lambda: vault.get("secret/data/a?" + more)
    yield "path of 200 KB", lambda: vault.get("secret/data/" + "a/" * 100_000)
    yield "path of 200 KB, percent-encoded", lambda: vault.get("secret/data/" + "%61" * 66_000)
    most, all_rules = ("".join(RULE.format(number) for number in range(count)) for count in (4_700, 100_000))
    yield "policy of 4,700 rules", lambda: vault.put("sys/policies/acl/most", {"policy": most})
    yield "policy of 100,000 rules", lambda: vault.put("sys/policies/acl/all", {"policy": all_rules})
    vault.put("sys/policies/acl/most", {"policy": most})
    token = vault.post("auth/token/create", {"policies": ["most"]}).auth["client_token"]
    yield (
        "1,000 capabilities under 4,700 rules",
        lambda: vault.post(
            "sys/capabilities-self", {"paths": [f"secret/data/{number}/x" for number in range(1_000)]}, token=token
        ),
    )
    shared: Any = [1] * 100
    for _ in range(3):
        shared = [shared] * 100
    yield "list in 100^4 places", lambda: vault.post("secret/data/a", {"data": {"a": shared}})
    wide = [[number] * 20 for number in range(10_000)]
    yield "body of 200,000 values", lambda: vault.post("secret/data/b", {"data": {"a": wide}})
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    yield "body of 100,000 levels", lambda: vault.post("secret/data/a", {"data": {"a": deep}})
    yield "number of 5,000 digits", lambda: vault.post("secret/data/a", {"data": {"a": 10**5_000}})
    yield "KV read", lambda: vault.get("secret/data/a")


def main(arguments: list[str]) -> None:
    """Print the table."""
    rounds = int(arguments[0]) if arguments else 5
    vault = Vault.dev()
    vault.post("secret/data/a", {"data": {"x": 1}})
    for what, send in odd_requests(vault):
        times_ms, status = [], 0
        for _ in range(rounds):
            begun = perf_counter_ns()
            status = send().status
            times_ms.append((perf_counter_ns() - begun) / 1e6)
        taken_ms = median(times_ms)
        note = "" if taken_ms < LIMIT_MS else f"  over {LIMIT_MS} ms"
        print(f"{what:40} {status} {taken_ms:10.3f} ms{note}")


if __name__ == "__main__":
    main(sys.argv[1:])
