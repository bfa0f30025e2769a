"""What a record shows of itself: never a secret, whichever record it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import labkit

CANARY = "canary-91c2"
PACKAGES = ("labkit.service", "labkit.vault", "labkit.cloud", "labkit.keymaking", "labkit.sealed_box", "labkit.lab")

# Names of fields that may carry a secret: keys, tokens, and whatever came from or goes to a caller.
SUSPECT = {
    *("private", "key", "hmac_key", "root_key", "keyring", "shares", "salt", "otp", "token_private", "keys_base64"),
    *("token", "root_token", "client_token", "progress", "unseal_keys", "keys"),
    *("data", "body", "auth", "wrap_info", "headers", "query", "arguments", "captured", "answers", "tape", "meta"),
    *("plaintext", "ciphertext", "context", "batch_input", "associated_data", "nonce", "id", "value", "payload"),
}

# Records whose field has the name of a secret and is none.
NOT_SECRET = {
    ("SealConfig", "shares"),  # their number
    ("RekeyPlan", "shares"),
    ("Suspended", "keys"),  # a fingerprint
    ("Call", "key"),  # the name of one
    ("OvertakenWrote", "key"),  # the same
    ("ClusterPlan", "shares"),
    ("WorkloadPlan", "keys"),  # how many
    ("CorsConfig", "headers"),  # their names
    ("SetTimer", "payload"),
    ("Item", "keys"),  # of a policy
    ("Item", "value"),
    ("Gauge", "value"),  # a number
    ("ReindexProgress", "progress"),
    ("Work", "progress"),
}


def test_no_record_shows_a_field_that_may_carry_a_secret() -> None:
    shown = [
        f"{record.__module__}.{record.__qualname__}.{field}: {text[:200]}"
        for record, fields in records()
        for field in fields
        if field in SUSPECT and (record.__qualname__, field) not in NOT_SECRET
        if CANARY in (text := shown_with(record, fields, field))
    ]

    assert shown == [], "\n".join(shown)


def test_there_are_records_to_look_at() -> None:
    assert len([1 for _ in records()]) > 60


def shown_with(record: Any, fields: tuple[str, ...], suspect: str) -> str:
    """A record's text when one field carries a secret, in an object as in a text."""
    texts = []
    for secret in (CANARY, CANARY.encode(), {"a": CANARY}, [CANARY], (CANARY.encode(),)):
        made: Any = object.__new__(record) if "__dataclass_fields__" in vars(record) else None
        values = {field: secret if field == suspect else 0 for field in fields}
        if made is None:
            made = record(**values)
        for field, value in values.items() if "__dataclass_fields__" in vars(record) else ():
            object.__setattr__(made, field, value)
        try:
            texts.append(repr(made))
        except (AttributeError, TypeError):
            continue  # it is made for a value of another kind
    return " ".join(texts)


def records() -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Every record of the packages with the names of its fields."""
    for found in walk_packages(labkit.__path__, "labkit."):
        if not found.name.startswith(PACKAGES):
            continue
        module = import_module(found.name)
        for thing in vars(module).values():
            if not isinstance(thing, type) or thing.__module__ != module.__name__:
                continue
            if dataclasses.is_dataclass(thing):
                yield thing, tuple(field.name for field in dataclasses.fields(thing) if field.repr)
            elif issubclass(thing, tuple) and hasattr(thing, "_fields"):
                yield thing, thing._fields
