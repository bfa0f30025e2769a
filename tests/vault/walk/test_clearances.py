"""Clearances: a request that comes again is not judged again, unless something else decides about it.

That none outlives what it was given under is shown in ``tests/caches``, event by event and with random requests.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import pytest

from labkit import Vault
from labkit.service.message import Request, Response
from labkit.vault.context import own_work
from labkit.vault.mounts import MANAGED_KEYS
from labkit.vault.walk import clearances

SELF = "auth/token/lookup-self"
HOUR_NS = 3_600 * 10**9


class Spelled(str):
    """A text that is not exactly a str."""

    __slots__ = ()


def kept(service: Any) -> dict[Any, Any]:
    """The clearances of a vault."""
    found: dict[Any, Any] = service.core.caches.clearances
    return found


def ask(service: Any, token: str, method: Any = "GET", path: Any = SELF, **headers: str) -> Response:
    """Send a request, with the headers given by their names with ``_`` for ``-``."""
    sent = {"X-Vault-Token": token, **{name.replace("_", "-"): text for name, text in headers.items()}}
    answer: Response = service.request(method, path, None, sent)
    return answer


@pytest.fixture
def token(service: Any) -> str:
    """A token without limits; the vault has no clearance."""
    text: str = service.post("auth/token/create", {"policies": ["default"]}).auth["client_token"]
    kept(service).clear()
    return text


def test_a_cleared_request_is_not_judged_again(service: Any, token: str, monkeypatch: Any) -> None:
    assert ask(service, token).ok
    assert [*kept(service)] == [("GET", SELF, token)]
    for step in ("check_node", "authenticate"):
        monkeypatch.setattr(f"labkit.vault.walk.request_walk.{step}", lambda ctx: pytest.fail("it is judged again"))

    assert ask(service, token).data["display_name"] == "token"
    assert ask(service, token, Accept="*/*", X_Vault_Request="true").ok
    assert ask(service, token).body != ask(service, token).body  # each has an id of its own


def test_policies_fields_and_expiry_are_judged_each_time(service: Any, clock: Any) -> None:
    rule = 'path "secret/data/a" { capabilities = ["update", "create"] denied_parameters = { "options" = [] } }'
    service.put("sys/policies/acl/narrow", {"policy": rule})
    text = service.post("auth/token/create", {"policies": ["narrow"], "ttl": "1h"}).auth["client_token"]
    for _ in range(3):
        assert service.post("secret/data/a", {"data": {}}, token=text).ok
    assert ("POST", "secret/data/a", text) in kept(service)

    assert service.post("secret/data/a", {"data": {}, "options": {"cas": 3}}, token=text).status == 403
    assert service.post("secret/data/a", {"data": 5}, token=text).status == 400
    clock.now_ns += HOUR_NS - 1
    assert service.handle(Request("POST", "secret/data/a", {"X-Vault-Token": text}, {"data": {}})).ok
    clock.now_ns += 1
    assert service.handle(Request("POST", "secret/data/a", {"X-Vault-Token": text}, {"data": {}})).status == 403


def test_policies_are_judged_again_where_they_look_at_what_is_sent_or_there(service: Any) -> None:
    rules = {
        "secret/data/plain": '["read", "update"]',
        "secret/metadata/": '["list"]',
        "sys/auth": '["read"]',
        "secret/data/refused": '["list"]',
        "secret/metadata/narrow": '["read"] min_wrapping_ttl = "1s"',
    }
    rule = "".join(f'path "{path}" {{ capabilities = {granted} }}' for path, granted in rules.items())
    service.put("sys/policies/acl/mixed", {"policy": rule})
    text = service.post("auth/token/create", {"policies": ["mixed"]}).auth["client_token"]
    asked = [*(("GET", path) for path in rules if not path.endswith("/")), ("LIST", "secret/metadata/")]
    asked += [("POST", "secret/data/plain"), ("POST", "sys/mounts/more")]
    for method, path in asked:
        ask(service, text, method, path)

    cleared = {key[:2]: found for key, found in kept(service).items() if key[2] == text}
    permitted = {key for key, found in cleared.items() if found[4]}

    assert cleared.keys() == set(asked)
    assert permitted == {("GET", "secret/data/plain"), ("GET", "sys/auth"), ("LIST", "secret/metadata/")}


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Vault_Namespace": "root"},
        {"Authorization": "Bearer x"},
        {"Origin": "https://a.example"},
        {"X_Vault_Index": "x"},
    ],
)
def test_a_header_that_decides_neither_gets_nor_uses_one(service: Any, token: str, headers: dict[str, str]) -> None:
    for _ in range(3):
        ask(service, token, **headers)
    assert kept(service) == {}
    for _ in range(2):
        ask(service, token)
    (key,) = kept(service)
    _, caller, *rest = kept(service)[key]
    kept(service)[key] = ("no route", caller, *rest)  # whoever uses it fails

    assert ask(service, token, **headers).status in (200, 400)


def test_what_else_decides_gets_none(service: Any) -> None:
    def cleared(path: str = SELF, **made: Any) -> int:
        """Return how many clearances there are when a new token has asked three times."""
        text = service.post("auth/token/create", {"policies": ["default"], **made}).auth["client_token"]
        for _ in range(3):
            ask(service, text, path=path)
        return sum(1 for key in kept(service) if text in key)

    assert cleared() == 1
    assert cleared(num_uses=9) == 0
    assert cleared(type="batch", ttl="1h") == 0
    assert cleared("sys/health") == 0
    assert cleared("nowhere/x") == 0
    assert cleared("secret/data/" + "a" * clearances.MAX_PATH_CHARACTERS) == 0
    service.post("auth/token/roles/bound", {"token_bound_cidrs": ["127.0.0.1"]})
    bound = service.post("auth/token/create/bound", {}).auth["client_token"]
    assert [ask(service, bound).status for _ in range(3)] == [200] * 3
    assert not any(bound in key for key in kept(service))
    service.post("sys/quotas/rate-limit/all", {"rate": 1000})
    assert cleared() == 0


def test_only_exact_texts_are_compared(service: Any, token: str) -> None:
    odd: list[tuple[Any, Any]] = [(Spelled("GET"), SELF), ("GET", Spelled(SELF)), ([], SELF), ("GET", {}), (None, None)]
    judged = [ask(service, token, *sent).status for sent in odd]
    service.core.caches.routes.clear()
    kept(service).clear()
    for _ in range(2):
        ask(service, token)
    assert len(kept(service)) == 1

    assert [ask(service, token, *sent).status for sent in odd] == judged


def test_they_are_bounded(service: Any, token: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(clearances, "MAX_CLEARANCES", 3)
    ask(service, token)
    counts = []
    for number in range(5):
        ask(service, token, path=f"secret/data/{number}")
        counts.append(len(kept(service)))

    assert max(counts) == 3


@pytest.mark.parametrize("size", [clearances.MAX_TOKEN_CHARACTERS, clearances.MAX_TOKEN_CHARACTERS + 1])
def test_long_tokens_are_not_kept(service: Any, size: int) -> None:
    chosen = "t" * size
    assert service.post("auth/token/create", {"id": chosen, "policies": ["default"]}).ok

    assert ask(service, chosen).ok
    assert (("GET", SELF, chosen) in kept(service)) == (size <= clearances.MAX_TOKEN_CHARACTERS), [*kept(service)]


def test_all_end_with_the_next_write_that_decides() -> None:
    vault = Vault.dev(seed=1)
    for _ in range(2):
        vault.get("secret/config")
        vault.post("secret/data/a", {"data": {"a": 1}})
    assert len(kept(vault)) == 2
    known = {**kept(vault)}
    vault.post("transit/keys/a", {})
    vault.post("transit/encrypt/a", {"plaintext": ""})
    assert known.items() <= kept(vault).items()  # the mounts' data decides nothing

    vault.put("sys/policies/acl/a", {"policy": 'path "a" { capabilities = ["read"] }'}).raise_for_status()
    vault.get("secret/config")
    assert [key[:2] for key in kept(vault)] == [("GET", "secret/config")]


def test_a_node_without_keys_answers_nobody(service: Any, token: str) -> None:
    assert ask(service, token).ok
    service.core.keys.drop()

    assert ask(service, token).status == 503


@pytest.mark.parametrize("holder", ["leadership", "keyring"])
def test_all_end_when_leadership_or_keys_are_other_ones(service: Any, token: str, holder: str) -> None:
    ask(service, token)
    (key,) = kept(service)
    _, caller, *rest = kept(service)[key]
    kept(service)[key] = ("no route", caller, *rest)  # whoever uses it fails
    core = service.core
    if holder == "leadership":
        core.leadership = core.leadership._replace()
    else:
        core.keys.barrier = copy(core.keys.barrier)

    assert ask(service, token).ok
    assert kept(service)[key][0] != "no route"


def test_none_answers_on_a_node_that_does_not_lead(service: Any, token: str) -> None:
    assert ask(service, token).ok
    service.core.leadership = service.core.leadership._replace(active=False)

    assert ask(service, token).status != 200
    assert kept(service) == {}


def test_a_cleared_request_gets_its_body_or_its_query(service: Any, token: str) -> None:
    service.post("secret/data/a", {"data": {"n": 1}})
    merge = {"X-Vault-Token": service.root_token, "Content-Type": "application/merge-patch+json"}
    kept(service).clear()
    for number in range(2, 5):
        assert service.request("PATCH", "secret/data/a", {"data": {"n": number}}, merge).ok
        assert service.get("secret/data/a").data["data"] == {"n": number}
        assert service.get("secret/data/a?version=1").data["data"] == {"n": 1}
    assert {("PATCH", "secret/data/a"), ("GET", "secret/data/a")} <= {key[:2] for key in kept(service)}


def test_a_path_as_long_as_may_be_is_kept(service: Any, token: str) -> None:
    longest = "secret/data/".ljust(clearances.MAX_PATH_CHARACTERS, "a")
    for path in (longest, longest + "a"):
        service.get(path)

    assert [key[1] for key in kept(service)] == [longest]


def test_it_knows_whether_audit_devices_or_managed_keys_have_to_see_it(service: Any, token: str) -> None:
    def quiet() -> list[bool]:
        kept(service).clear()
        ask(service, token)
        return [cleared[-1] for cleared in kept(service).values()]

    assert quiet() == [True]
    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "audit.log"}}).raise_for_status()
    assert quiet() == [False]
    service.delete("sys/audit/file")
    assert quiet() == [True]
    work = own_work(service.core)
    work.full_storage.put(MANAGED_KEYS, b"{}")
    service.core.commit(work.writes)
    assert quiet() == [False]
