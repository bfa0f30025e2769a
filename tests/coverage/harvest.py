"""Harvest: a pytest plugin that writes down which endpoint answered what in which test.

    python -m pytest -p tests.coverage.harvest --outcomes FILE …

FILE gets, as JSON, ``{endpoint: {"status text": test}}``: of several tests the first.  Property tests are left out,
since what they try differs from run to run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import currently_in_test_context

from labkit.front.vault import Vault
from labkit.service.message import Response, Suspended
from labkit.vault.mounts import ResolvedRoute

Outcomes = dict[str, dict[str, str]]

METHODS = ("approle", "userpass")
PREFIXES = {"system": "sys/", "token": "auth/token/", "kv": "secret/", "transit": "transit/"}
PREFIXES |= {method: f"auth/{method}/" for method in METHODS}
PLAIN = "kv/"  # of version 1
VARIABLE = (
    (re.compile(r"\"[^\"]*\"|'[^']*'|“[^”]*”"), "…"),  # quoted: what was sent
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{32,}\b"), "…"),  # ids and digests
    (re.compile(r"\b\d[\d,.]*\b"), "n"),
    (re.compile(r"[^\x20-\x7e…\s]+"), "…"),
    (re.compile(r"\s+"), " "),
)
MAX_CHARACTERS = 96


class Harvest:
    """What was answered so far, and the test that runs."""

    def __init__(self) -> None:
        self.outcomes: Outcomes = {}
        self.test = ""
        self.waiting: dict[int, ResolvedRoute] = {}

    def note(self, resolved: ResolvedRoute | None, outcome: Response | Suspended) -> None:
        """Write down an answer; a request that waits is written down when it is answered."""
        if not self.test or resolved is None or currently_in_test_context():
            return
        name = endpoint(resolved)
        if isinstance(outcome, Suspended):
            self.waiting[outcome.number] = resolved
        elif name:
            said = f"{outcome.status} {general(outcome.errors[0]) if outcome.errors else ''}".rstrip()
            self.outcomes.setdefault(name, {}).setdefault(said, self.test)


def endpoint(resolved: ResolvedRoute) -> str:
    """An endpoint as the page names it, such as ``write secret/data/<path>``; empty for what is none."""
    route, mount = getattr(resolved.match, "route", None), resolved.mount
    if route is None or mount is None or (mount.kind == "kv" and mount.version == "2" and route.pattern == "<path>"):
        return ""
    prefix = PLAIN if mount.kind == "kv" and mount.version == "1" else PREFIXES.get(mount.kind, mount.path)
    return f"{route.operation} {prefix}{route.pattern.rstrip('/')}"


def general(text: Any) -> str:
    """A refusal's text without what was sent."""
    text = str(text)
    for pattern, instead in VARIABLE:
        text = pattern.sub(instead, text)
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the outcomes are written."""
    parser.addoption("--outcomes", type=Path, required=True)


def pytest_configure(config: pytest.Config) -> None:
    """Listen at the two ways out of a vault."""
    harvest = Harvest()
    config.stash[KEY] = harvest
    handle, resume = Vault.handle, Vault.resume

    def handled(vault: Vault, request: Any, *instant: int) -> Response | Suspended:
        vault.resolved = None
        outcome = handle(vault, request, *instant)
        harvest.note(vault.resolved, outcome)
        return outcome

    def resumed(vault: Vault, suspended: Suspended, answer: Response) -> Response | Suspended:
        outcome = resume(vault, suspended, answer)
        harvest.note(harvest.waiting.get(suspended.number), outcome)
        return outcome

    patch = pytest.MonkeyPatch()
    patch.setattr(Vault, "handle", handled)
    patch.setattr(Vault, "resume", resumed)


KEY: pytest.StashKey[Harvest] = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Remember which test runs; set-up counts for it."""
    harvest = item.config.stash[KEY]
    harvest.test = item.nodeid
    try:
        return (yield)
    finally:
        harvest.test = ""


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the outcomes."""
    outcomes = session.config.stash[KEY].outcomes
    session.config.getoption("--outcomes").write_text(json.dumps(outcomes, indent=1, sort_keys=True))
