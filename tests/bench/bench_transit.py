"""What the transit engine costs, as ratios to the least work that gives the same answers in plain Python.

Floor and service are measured by turns in one run, and the median of the rounds is told: absolute times mean
nothing on a machine that others use too.  Run it by itself: ``python tests/bench/bench_transit.py``.
"""

from __future__ import annotations

import gc
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable
from os import urandom
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Vault

ROUNDS = 15
REQUESTS = 2_000
ITEMS = 1_000
BATCHES = 5

# What has no goal is told for comparison alone.
GOALS = {
    "encrypt, 32 bytes": 7.0,
    "encrypt, batch of 1,000, per item": 1.3,
    "decrypt, 32 bytes": None,
    "decrypt, batch of 1,000, per item": None,
    "rewrap, 32 bytes": None,
    "encrypt, derived key": None,
    "encrypt, convergent key": None,
}

Work = Callable[[], object]

PLAINTEXT = b64encode(bytes(32)).decode()
CONTEXT = b64encode(b"context one").decode()


def floor_encrypt(cipher: AESGCM, text: str) -> str:
    """Base64 in, a kept cipher with a fresh nonce, base64 out."""
    nonce = urandom(12)
    return b64encode(nonce + cipher.encrypt(nonce, b64decode(text), None)).decode()


def floor_decrypt(cipher: AESGCM, text: str) -> str:
    """Base64 in, a kept cipher, base64 out."""
    payload = b64decode(text)
    return b64encode(cipher.decrypt(payload[:12], payload[12:], None)).decode()


def timed(work: Work) -> int:
    """Nanoseconds that a piece of work takes, the collector held back."""
    gc.collect()
    gc.disable()
    started = perf_counter_ns()
    work()
    passed = perf_counter_ns() - started
    gc.enable()
    return passed


def ratios(measured: Work, floor: Work) -> tuple[float, float]:
    """Return the median ratio of work to floor, taken by turns, and the floor's median in nanoseconds."""
    rounds = [(timed(measured), timed(floor)) for _ in range(ROUNDS)]
    return median(ours / theirs for ours, theirs in rounds), median(theirs for _, theirs in rounds)


def repeated(work: Work, count: int) -> Work:
    """Return the same work done many times in a row."""

    def many() -> None:
        for _ in range(count):
            work()

    return many


def asked(vault: Any, path: str, body: dict[str, Any]) -> Work:
    """Return a request that must be answered with 200."""
    headers = {"X-Vault-Token": vault.root_token}
    url = f"/v1/transit/{path}"

    def ask() -> Any:
        answer = vault.request("POST", url, json=body, headers=headers)
        assert answer.status == 200, answer.errors
        return answer.data

    return ask


def pairs(vault: Any) -> dict[str, tuple[Work, Work, int]]:
    """Return, by what is measured: the service's work, the floor's, and how often it is done in one round."""
    for name, options in (("plain", {}), ("derived", {"derived": True})):
        asked(vault, f"keys/{name}", options)()
    asked(vault, "keys/same", {"derived": True, "convergent_encryption": True})()
    cipher = AESGCM(bytes(32))
    sealed = floor_encrypt(cipher, PLAINTEXT)
    body, with_context = {"plaintext": PLAINTEXT}, {"plaintext": PLAINTEXT, "context": CONTEXT}
    stored: Any = asked(vault, "encrypt/plain", body)()
    stored = {"ciphertext": stored["ciphertext"]}

    def encrypt() -> str:
        return floor_encrypt(cipher, PLAINTEXT)

    def decrypt() -> str:
        return floor_decrypt(cipher, sealed)

    def single(path: str, body: dict[str, Any], floor: Work) -> tuple[Work, Work, int]:
        return repeated(asked(vault, path, body), REQUESTS), repeated(floor, REQUESTS), REQUESTS

    def batch(path: str, item: dict[str, Any], floor: Work) -> tuple[Work, Work, int]:
        request = asked(vault, path, {"batch_input": [dict(item) for _ in range(ITEMS)]})
        return repeated(request, BATCHES), repeated(floor, BATCHES * ITEMS), BATCHES * ITEMS

    return {
        "encrypt, 32 bytes": single("encrypt/plain", body, encrypt),
        "encrypt, batch of 1,000, per item": batch("encrypt/plain", body, encrypt),
        "decrypt, 32 bytes": single("decrypt/plain", stored, decrypt),
        "decrypt, batch of 1,000, per item": batch("decrypt/plain", stored, decrypt),
        "rewrap, 32 bytes": single("rewrap/plain", stored, encrypt),
        "encrypt, derived key": single("encrypt/derived", with_context, encrypt),
        "encrypt, convergent key": single("encrypt/same", with_context, encrypt),
    }


def main() -> int:
    """Measure, print a line each, and return 1 when a goal is missed."""
    missed = 0
    for what, (work, floor, count) in pairs(Vault.dev()).items():
        ratio, floor_ns = ratios(work, floor)
        goal = GOALS[what]
        missed += goal is not None and ratio > goal
        said = f", goal {goal}" if goal else ""
        print(f"{what:34} {ratio:6.2f} of the floor ({floor_ns / count / 1000:.2f} µs){said}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
