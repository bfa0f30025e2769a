"""Vault arguments: what ``Vault.dev``, ``open``, ``advance`` and ``fail_next`` are given, judged before they act."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from labkit.service.arguments import duration_ns, flag, one_of, text, whole_number, wrong
from labkit.service.arguments import seed as checked_seed
from labkit.vault.core import Settings

EDITIONS = ("enterprise", "community")

_VERSION = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}(\+ent)?", re.ASCII)
_NUMBERS = ("max_request_bytes", "backlog_entries", "nonce_limit")
_SECONDS = {"login_leeway_s": 300, "key_cooldown_s": 86_400}
"""{setting: the most that it can be}."""

_OF_DEV = ("clock", "seed", "cloud", "keystore")
_ADDRESS_LISTS = ("peer_api_addresses", "peer_cluster_addresses")


def judge_settings(
    clock: Any, chosen: Mapping[str, Any], seed: Any = None, cloud: Any = None, keystore: Any = None
) -> None:
    """Return if a vault can be made of this; ValueError says what is wrong."""
    if seed is not None:
        checked_seed("seed", seed)
    if clock is not None and not callable(clock):
        raise wrong("clock", "a function that gives nanoseconds since the epoch, or None", clock)
    if cloud is not None and not (hasattr(cloud, "answer") and hasattr(cloud, "config")):
        raise wrong("cloud", "a cloud, such as Cloud.dev() makes, or None", cloud)
    if keystore is not None and not (hasattr(keystore, "answer") and hasattr(keystore, "labels")):
        raise wrong("keystore", "a key store, such as KeyStore.dev() makes, or None", keystore)
    for name, value in chosen.items():
        if name not in Settings._fields:
            known = Settings._fields if name in _OF_DEV else (*_OF_DEV, *Settings._fields)
            raise wrong("settings", "a setting of a vault", name, known)
        if name == "version":
            if not isinstance(value, str) or not _VERSION.fullmatch(value):
                raise wrong(name, "a version such as 1.16.3+ent", value)
        elif name == "edition":
            one_of(name, "an edition", value, EDITIONS)
        elif name in ("high_availability", "fips"):
            flag(name, value)
        elif name in _NUMBERS:
            whole_number(name, "a whole number from 1 up", value, 1)
        elif name in _SECONDS:
            whole_number(name, f"a whole number from 0 to {_SECONDS[name]}", value, 0, _SECONDS[name])
        elif name == "environ":
            if not isinstance(value, Mapping) or not all(type(text) is str for row in value.items() for text in row):
                raise ValueError("environ: expected variables and their values, all of them texts")  # never shown
        elif name in _ADDRESS_LISTS:
            if type(value) is not tuple or not all(type(address) is str for address in value):
                raise wrong(name, "a tuple of addresses", value)
        else:
            text(name, "a text", value)


def judge_path(path: Any) -> None:
    """Return if a path can name a file; ValueError for any other value."""
    named = path if isinstance(path, str) else str(path) if hasattr(path, "__fspath__") else ""
    if not named or "\0" in named:
        raise wrong("path", "the path of a file such as lab.db", path)


def advance_ns(duration: Any) -> int:
    """Return how far to move a clock, in nanoseconds; ValueError for anything but a duration from 0 up."""
    return duration_ns("duration", duration, seconds=True)
