"""The guard against the real clock and real dice bites, but no module that may ask."""

from __future__ import annotations

import os
import random
import secrets
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest

ASKING = {
    "time.time": time,
    "time.monotonic_ns": time,
    "random.random": random,
    "secrets.token_bytes": secrets,
    "uuid.uuid4": uuid,
    "os.urandom": os,
}

INSIDE = [
    "service.routing",
    "vault.vault",
    "vault.engines.kv.data",
    "cloud.keys",
    "sim.clock",
    "lab.lab",
    "trace",
]
OUTSIDE = ["real", "cli", "doors.server", "views.map", "laboratory"]


@pytest.mark.parametrize("verb", ASKING)
@pytest.mark.parametrize("module", INSIDE)
def test_a_module_that_must_be_handed_them_is_refused(module: str, verb: str) -> None:
    with pytest.raises(AssertionError, match=rf"labkit\.{module} called {verb}\(\)"):
        asker(module, verb)()


@pytest.mark.parametrize("verb", ASKING)
@pytest.mark.parametrize("module", OUTSIDE)
def test_others_ask_as_they_like(module: str, verb: str) -> None:
    assert asker(module, verb)() is not None


def asker(module: str, verb: str) -> Callable[[], Any]:
    """A function that asks the system, as if it stood in the given module of labkit."""
    library, name = verb.split(".")
    arguments = "8" if name in {"urandom", "token_bytes"} else ""
    names: dict[str, Any] = {"__name__": f"labkit.{module}", library: ASKING[verb]}
    exec(f"def ask():\n    return {library}.{name}({arguments})\n", names)
    ask: Callable[[], Any] = names["ask"]
    return ask
