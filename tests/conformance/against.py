"""Asks a server the recorded questions, and prints where its answers, the record and labkit's differ.

    python -m tests.conformance.against http://127.0.0.1:8200 TOKEN [CASE…]

CASE is the beginning of a case's id, such as core or logins.approle; without one all are asked.

1. The token may do anything: it mounts, and writes policies, token roles and namespaces.
2. Each case stands under names of its own, with a tag that no other run has.  What it made is removed when it is over:
   mounts, methods, policies, roles, namespaces, tokens and entities, the newest first; what cannot be is printed.
3. Nothing else of the server is written.  Its health, seal status and leader are read.
4. A server that does not answer within 30 s ends it.  The exit code is 1 where an answer is not as recorded, 2 where
   the server cannot be asked.
"""

from __future__ import annotations

import re
import sys
from secrets import token_hex
from typing import Any, NamedTuple

import requests

from labkit import Vault
from tests.conformance.conftest import Ask, Replay, Verdict, load, through_socket
from tests.conformance.test_replay import OTHERWISE_IN_A_LAB

MADE = re.compile(
    r"/v1/((?:[^/]+/)?(?:sys/(?:mounts|auth|namespaces|policy|policies/acl)|auth/token/roles)/(?!.*/tune$).+)"
)
"""Paths under which a POST makes something that a DELETE of the same path removes."""

GONE = (200, 204, 404)


class Answered(NamedTuple):
    """One case: its id, and what differed from the record in the server's answers and in labkit's."""

    case: str
    server: Verdict
    labkit: Verdict


class Remembering:
    """Sends requests, and remembers what they made, to remove it."""

    def __init__(self, ask: Ask, token: str) -> None:
        self._ask, self._token = ask, token
        self.paths: list[tuple[str, str]] = []
        self.tokens: list[tuple[str, str]] = []
        self.methods: list[tuple[str, str]] = []  # the accessor of each auth method, and its namespace

    def __call__(self, method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        """Send one request."""
        status, found = self._ask(method, path, body, headers)
        namespace = headers.get("X-Vault-Namespace", "")
        made = MADE.fullmatch(path.partition("?")[0].rstrip("/"))
        if made and method in ("POST", "PUT") and status < 300:
            self.paths.append((made[1], namespace))
            if "sys/auth/" in made[1]:
                self.methods.append((self._accessor(made[1], namespace), namespace))
        auth = found.get("auth") if isinstance(found, dict) else None
        if isinstance(auth, dict):
            if auth.get("client_token"):
                self.tokens.append((auth["client_token"], namespace))
            if auth.get("entity_id"):
                self.paths.append((f"identity/entity/id/{auth['entity_id']}", namespace))
        wrapped = found.get("wrap_info") if isinstance(found, dict) else None
        if isinstance(wrapped, dict) and wrapped.get("token"):
            self.tokens.append((wrapped["token"], namespace))
        return status, found

    def remove(self) -> list[str]:
        """Remove what was made, tokens first, then the newest, then entities of its methods; return what is left."""
        for token, namespace in dict.fromkeys(self.tokens):
            self._send("POST", "auth/token/revoke", namespace, {"token": token})
        left = []
        for path, namespace in dict.fromkeys(reversed(self.paths)):
            status = self._send("DELETE", path, namespace, None)
            if status not in GONE and not path.startswith("identity/"):
                left.append(f"{namespace}{path} is left: its removal was answered {status}")
        for path, namespace in self._unseen_entities():
            self._send("DELETE", path, namespace, None)
        return left

    def _unseen_entities(self) -> list[tuple[str, str]]:
        """Return the entities that logins made without naming them: a refused one may have made one too."""
        found = []
        for namespace in dict.fromkeys(namespace for _, namespace in self.methods):
            listed = self._answer("LIST", "identity/entity-alias/id", namespace)
            aliases = (listed.get("data") or {}).get("key_info") or {}
            for alias in aliases.values():
                if (alias["mount_accessor"], namespace) in self.methods:
                    found.append((f"identity/entity/id/{alias['canonical_id']}", namespace))
        return found

    def _accessor(self, path: str, namespace: str) -> str:
        found = self._answer("GET", path, namespace)
        return str((found.get("data") or {}).get("accessor", ""))

    def _answer(self, method: str, path: str, namespace: str) -> dict[str, Any]:
        found = self._ask(method, f"/v1/{path}", None, self._headers(namespace))[1]
        return found if isinstance(found, dict) else {}

    def _send(self, method: str, path: str, namespace: str, body: Any) -> int:
        return self._ask(method, f"/v1/{path}", body, self._headers(namespace))[0]

    def _headers(self, namespace: str) -> dict[str, str]:
        return {"X-Vault-Token": self._token} | ({"X-Vault-Namespace": namespace} if namespace else {})


def replay(ask: Ask, token: str, tag: str, cases: list[dict[str, Any]]) -> tuple[list[Answered], list[str]]:
    """Ask the cases; return what differed, and what could not be removed."""
    answered: list[Answered] = []
    left: list[str] = []
    for number, case in enumerate(cases):
        remembering = Remembering(ask, token)
        try:
            server = judged(Replay(remembering, token, f"{tag}-{number}"), case)
        finally:
            left += remembering.remove()
        answered.append(Answered(case["id"], server, own(case)))
    return answered, left


def judged(asking: Replay, case: dict[str, Any]) -> Verdict:
    """The verdict on a case; one that could not be asked to its end differs by that."""
    try:
        return asking.run(case)
    except (AssertionError, KeyError) as error:
        return Verdict([f"could not be asked: {type(error).__name__}: {error!s:.200}"], [])


def own(case: dict[str, Any]) -> Verdict:
    """What differs in the answers of a vault of labkit."""
    vault = Vault.dev(seed=1)

    def ask(method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        answer = vault.request(method, path, json=body, headers=headers)
        return answer.status, answer.body

    return Replay(ask, vault.root_token).run(case)


def report(answered: list[Answered]) -> list[str]:
    """Say which cases differ, by whose answers, and in what."""
    lines = []
    for one in answered:
        if one.server.hard or one.labkit.hard:
            who = [name for name, verdict in (("server", one.server), ("labkit", one.labkit)) if verdict.hard]
            known = OTHERWISE_IN_A_LAB.get(one.case)
            lines.append(f"{one.case}: {' and '.join(who)} otherwise than recorded")
            lines += [f"    (a cluster of a lab differs too: {known})"] if known else []
            lines += [f"    server, {text}" for text in one.server.hard]
            lines += [f"    labkit, {text}" for text in one.labkit.hard]
    for name, verdicts in (("server", [one.server for one in answered]), ("labkit", [one.labkit for one in answered])):
        matching = sum(not verdict.hard for verdict in verdicts)
        soft = sum(len(verdict.soft) for verdict in verdicts)
        lines.append(f"{name}: {matching} of {len(verdicts)} cases as recorded; {soft} texts and members differ softly")
    return lines


def main(arguments: list[str]) -> int:
    """Ask a server, and print what differs."""
    url, token, *beginnings = [*arguments, "", ""] if len(arguments) < 2 else arguments
    cases = [case for case in load() if not beginnings or case["id"].startswith(tuple(beginnings))]
    if not url.startswith(("http://", "https://")) or not token:
        return refuse("expected a URL and a token: make conformance URL=http://127.0.0.1:8200 TOKEN=…")
    if not cases:
        return refuse(f"expected beginnings of cases, such as core or logins.approle; none begins with {beginnings}")
    with requests.Session() as session:
        ask = through_socket(session, url.rstrip("/"))
        try:
            status, _ = ask("GET", "/v1/auth/token/lookup-self", None, {"X-Vault-Token": token})
            if status != 200:
                return refuse(f"{url}: expected a token that may do anything, got one that is answered {status}")
            answered, left = replay(ask, token, f"lk{token_hex(4)}", cases)
        except (requests.RequestException, ValueError) as error:
            return refuse(f"{url} cannot be asked: {type(error).__name__}: is it a server of this API?")
    print(*report(answered), *left, sep="\n")
    return int(bool(left) or any(one.server.hard for one in answered))


def refuse(text: str) -> int:
    """Say why nothing is asked."""
    print(text, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
