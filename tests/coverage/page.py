"""The page of coverage: which endpoint answers what, where that is known from, and which test shows it.

    python -m tests.coverage.page

runs the tests of the service, keeps what they show in ``outcomes.json``, and writes ``labkit/reference/coverage.md``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from labkit import Vault
from labkit.service.message import Request
from labkit.service.openapi import endpoints
from labkit.vault.context import Context
from labkit.vault.mounts import read_table, routes_of
from tests.conformance.test_replay import OTHERWISE_IN_A_LAB
from tests.coverage.endpoints import ALIASES, DOCUMENTED, SPECIFIED
from tests.coverage.harvest import METHODS as METHODS_TO_ENABLE
from tests.coverage.harvest import PLAIN, PREFIXES, Outcomes

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = CHECKOUT / "labkit" / "reference" / "coverage.md"
KEPT = Path(__file__).with_name("outcomes.json")
HARVESTED = ("tests/conformance/test_replay.py", "tests/vault")
MAX_REFUSALS = 8
DISTINCT_WORDS = 5  # two refusals that begin with the same words are one

SPEC, RECORDED, DOCUMENTATION = "spec", "recorded", "documentation"

COMMON = {
    "400 what is not JSON or text, is too long or too deep": r"^400 (failed to decode|a path of|.*X-Vault-Index)",
    "400 field of another kind": r"^400 (Field validation failed|error converting input)",
    "400 on a DR secondary": r"^400 path disabled in replication",
    "400 in the community edition": r"^400 enterprise-only",
    "400 in another namespace than the root": r"^400 operation only available in the root",
    "400 answer that cannot be wrapped": r"^400 (a DR secondary cannot wrap|invalid wrap)",
    "403 permission denied, also for a token that is not valid": r"^403 .*(permission denied|invalid token)|^403$",
    "307 standby": r"^307",
    "404 namespace not found": r"^404 (namespace not found|no handler for route)",
    "412 contents do not reach the request's X-Vault-Index": r"^412",
    "413 body over the limit": r"^413",
    "500 damaged value, full disk, no audit device can write": r"^500 ",
    "503 sealed, or no longer active": r"^503 (Vault is sealed|this node|the keys of this)",
    "failure asked for": r"^\d+ failure asked for",
}
"""What every endpoint may answer: said once."""

IN_SPECIFICATION = {
    r"check-and-set": "Errors 9",
    r"deletion is not allowed": "Errors 5",
    r"min(imum)?[ _].*version|encryption version|decryption version": "Errors 6",
    r"auto.rotate|rotation period": "Limits",
    r"key_size": "Limits",
    r"nonce must be": "Limits",
    r"encryption key not found|upsert": "Errors 3",
    r"missing (plaintext|ciphertext|input|batch)|must be supplied.*(plaintext|ciphertext)": "Errors 8",
    r"already in progress|dr operation token|demoted|safety|catch": "Errors 11",
}
"""Refusals, by their words, that the specification names."""


class Outcome(NamedTuple):
    """One way in which an endpoint answers: status, the words of a refusal, its source, and a test that shows it."""

    status: int
    words: str
    source: str
    test: str


def built() -> set[str]:
    """Return the endpoints that there are, as the page names them."""
    vault = Vault.dev(seed=1)
    vault.post("sys/mounts/plain", {"type": "kv"})
    for method in METHODS_TO_ENABLE:
        vault.post(f"sys/auth/{method}", {"type": method})
    table = read_table(Context(vault.core, Request("", ""), vault.now()).full_storage)
    found = set()
    for mount in table.mounts:
        prefix = PLAIN if (mount.kind, mount.version) == ("kv", "1") else PREFIXES.get(mount.kind, mount.path)
        for endpoint in endpoints([("", mount.kind, routes_of(mount).routes)]):
            found.add(f"{endpoint.route.operation} {prefix}{endpoint.route.pattern.rstrip('/')}")
    return found


def harvested(tests: Iterable[str]) -> Outcomes:
    """Run tests, and return what they show."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "outcomes.json"
        options = ["-q", "-p", "no:cacheprovider", "-p", "tests.coverage.harvest", "--outcomes", str(path)]
        subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=CHECKOUT,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        found: Outcomes = json.loads(path.read_text())
    return found


def chosen(found: Outcomes) -> dict[str, list[Outcome]]:
    """Return of each endpoint what only some others answer, one outcome for each status and wording."""
    specified = set(SPECIFIED.split("\n"))
    rows: dict[str, list[Outcome]] = {}
    for endpoint in sorted(found):
        of_endpoint: dict[tuple[str, ...], Outcome] = {}
        for said, test in sorted(found[endpoint].items()):
            if any(re.search(pattern, said) for pattern in COMMON.values()):
                continue
            status, _, words = said.partition(" ")
            same = (status, *words.split()[:DISTINCT_WORDS])
            outcome = Outcome(int(status), words, source(int(status), words, test, endpoint in specified), test)
            if same not in of_endpoint or (outcome.source == RECORDED) > (of_endpoint[same].source == RECORDED):
                of_endpoint[same] = outcome
        rows[endpoint] = fewer(list(of_endpoint.values()))
    return rows


def fewer(outcomes: list[Outcome]) -> list[Outcome]:
    """Return not too many refusals of one endpoint: recorded and specified ones first."""
    order = {RECORDED: 0, SPEC: 1, DOCUMENTATION: 2}
    refusals = sorted((row for row in outcomes if row.status >= 300), key=lambda row: (order[row.source], row))
    return sorted([row for row in outcomes if row.status < 300] + refusals[:MAX_REFUSALS])


def source(status: int, words: str, test: str, specified: bool) -> str:
    """Return where it is known from that an endpoint answers so."""
    if test.startswith("tests/conformance/test_replay") and not any(
        f"[lab-{case}]" in test for case in OTHERWISE_IN_A_LAB
    ):
        return RECORDED
    if status < 300:
        return SPEC if specified else DOCUMENTATION
    return SPEC if any(re.search(pattern, words) for pattern in IN_SPECIFICATION) else DOCUMENTATION


def text(rows: dict[str, list[Outcome]], there: set[str]) -> str:
    """Write the page."""
    missing = {line for line in (SPECIFIED + DOCUMENTED).split("\n") if line} - there - ALIASES.keys()
    lines = [HEAD.format(built=len(there), common="\n".join(f"    {row}" for row in COMMON if row[0].isdigit()))]
    for endpoint in sorted(there, key=place):
        names = [endpoint, *(alias for alias, known in ALIASES.items() if known == endpoint)]
        lines += ["", f"## {', '.join(map(spelled, names))}", ""]
        lines += [f"    {row.status}  {row.source:<13}  {row.words}".rstrip() for row in rows.get(endpoint, ())]
    if missing:
        lines += ["", f"## Not built yet: {len(missing)} endpoints", ""]
        lines += [f"    {spelled(endpoint)}" for endpoint in sorted(missing, key=place)]
    return "\n".join(lines) + "\n"


def place(endpoint: str) -> tuple[str, int]:
    """Where an endpoint stands: by its path, reading before writing."""
    operation, path = endpoint.split(" ")
    return path, list(METHODS).index(operation)


def spelled(endpoint: str) -> str:
    """Write an endpoint as clients do: ``POST secret/data/<path>``."""
    operation, path = endpoint.split(" ")
    return f"{METHODS[operation]} {path}"


METHODS = {"read": "GET", "list": "LIST", "write": "POST", "patch": "PATCH", "delete": "DELETE"}

HEAD = """\
# Coverage

What each of {built} endpoints answers, as tests show it, and where that is known from: *recorded* (a real server
answered so, and the same requests are replayed here), *spec* (the API's specification says so), *documentation* (what
is published about servers of this API; where nothing is, labkit's own choice, see `labkit help differences`).
Mounts stand at their usual places: `secret/` is KV version 2, `kv/` version 1. PUT is accepted wherever POST is.

## Clients tried

Unmodified, over `labkit serve`; of those in Python the project has tests of its own.

    hvac 2.4.0              all that is here: KV 1 and 2, transit, tokens, policies, mounts, wrapping, seal, health,
                            audit, leases, cloud login, AppRole, userpass; also in process, as requests 2.34 and
                            httpx 0.28 are
    bao 2.6.1, 2.7.2        the command line: KV, tokens, policies, transit, wrapping, audit, namespaces, seal, rekey,
                            DR, `operator generate-root`, `path-help`, `version-history`; `monitor` asks for what
                            is not here
    node-vault 0.12.0       KV, tokens, mounts (node 20.20)
    hashi-vault-js 0.5.1    the same
    node-vault-client 1.0.2 the same

## Every endpoint

{common}"""


def evidence(rows: dict[str, list[Outcome]]) -> list[str]:
    """Return the tests that show the page's outcomes."""
    return sorted({outcome.test for outcomes in rows.values() for outcome in outcomes})


def kept() -> dict[str, list[Outcome]]:
    """Return the outcomes that are kept."""
    return {name: [Outcome(*row) for row in rows] for name, rows in json.loads(KEPT.read_text()).items()}


if __name__ == "__main__":
    made = chosen(harvested(HARVESTED))
    made = {name: rows for name, rows in made.items() if name in built()}
    KEPT.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(text(made, built()))
    print(f"{PAGE.name}: {len(made)} endpoints, {sum(map(len, made.values()))} outcomes, {len(evidence(made))} tests")
