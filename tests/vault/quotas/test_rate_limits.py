"""Rate limits: how requests are counted, and what becomes of one too many."""

from __future__ import annotations

import json

import pytest

from labkit import Lab, Vault
from labkit.service.durations import SECOND_NS
from labkit.service.message import Request
from labkit.vault.mounts import QUOTAS
from labkit.vault.quotas import rate_limits
from labkit.vault.quotas.rate_limits import is_exempt
from labkit.vault.storage.memory import MemoryStorage
from tests.vault.test_damage import spoil

RATE = "sys/quotas/rate-limit/r"


def limit(service, **rule) -> None:
    done = service.put(RATE, {"path": "secret", "rate": 2, **rule})
    assert done.status == 204, done.errors


def statuses(service, times: int, path: str = "secret/data/a") -> list[int]:
    return [service.get(path).status for _ in range(times)]


def test_one_request_too_many_is_429_until_the_next_window(service, clock) -> None:
    limit(service)
    assert statuses(service, 3) == [404, 404, 429]
    refused = service.get("secret/data/a")
    assert refused.errors == ['request path "secret/data/a": rate limit quota exceeded']
    assert statuses(service, 3, "sys/mounts") == [200] * 3
    clock.now_ns += SECOND_NS - 1
    assert statuses(service, 1) == [429]
    clock.now_ns += 1
    assert statuses(service, 3) == [404, 404, 429]


def test_a_client_has_a_window_of_its_own(service, clock) -> None:
    limit(service, interval="10s")

    def ask(address: str) -> int:
        headers = {"X-Vault-Token": service.root_token}
        return service.handle(Request("GET", "secret/data/a", headers, None, address)).status

    assert [ask("10.0.0.1") for _ in range(3)] == [404, 404, 429]
    clock.now_ns += 4 * SECOND_NS
    assert [ask("10.0.0.2") for _ in range(3)] == [404, 404, 429]
    clock.now_ns += 6 * SECOND_NS
    assert [ask("10.0.0.1"), ask("10.0.0.2")] == [404, 429]


def test_a_client_that_sent_too_many_is_refused_until_the_block_is_over(service, clock) -> None:
    limit(service, block_interval="60s")
    assert statuses(service, 3) == [404, 404, 429]
    clock.now_ns += 59 * SECOND_NS
    assert statuses(service, 2) == [429, 429]
    clock.now_ns += SECOND_NS
    assert statuses(service, 3) == [404, 404, 429]


@pytest.mark.parametrize("ahead_s", [61, 864_000])
def test_a_block_of_a_clock_that_was_ahead_is_over_once_it_is_right(service, clock, ahead_s) -> None:
    limit(service, block_interval="60s")
    clock.now_ns += ahead_s * SECOND_NS
    assert statuses(service, 3) == [404, 404, 429]
    clock.now_ns -= ahead_s * SECOND_NS
    assert statuses(service, 3) == [404, 404, 429]
    clock.now_ns += 60 * SECOND_NS
    assert statuses(service, 1) == [404]


def test_a_refused_request_changes_nothing_costs_no_use_and_needs_no_token(service) -> None:
    token = service.post("auth/token/create", {"num_uses": 5, "policies": ["root"], "ttl": "1h"}).auth["client_token"]
    limit(service, rate=1)
    before = service.core.storage.state()
    assert service.post("secret/data/a", {"data": {"x": 1}}, token="none").status == 403
    assert service.post("secret/data/a", {"data": {"x": 1}}, token=token).status == 429
    assert service.post("secret/data/a", {"data": {"x": 1}}, token="").status == 429
    assert service.core.storage.state() == before


def test_the_headers_say_how_many_are_left_where_that_is_asked_for(service, clock) -> None:
    limit(service, interval="10s")
    assert not any(name.startswith("X-Ratelimit") for name in service.get("secret/data/a").headers)
    service.put("sys/quotas/config", {"enable_rate_limit_response_headers": True})
    clock.now_ns += 3 * SECOND_NS + 1
    shown = service.get("secret/data/a")
    refused = service.get("secret/data/a")
    assert (shown.status, refused.status) == (404, 429)
    wanted = {"X-Ratelimit-Limit": "2", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "7"}
    assert wanted.items() <= shown.headers.items()
    assert (wanted | {"Retry-After": "7"}).items() <= refused.headers.items()
    assert "Retry-After" not in shown.headers
    limit(service, rate=1, block_interval="60s")
    headers = [service.get("secret/data/a").headers for _ in range(3)]
    assert [found.get("Retry-After") for found in headers] == [None, "60", "60"]


def test_refusals_are_audited_where_that_is_asked_for(service) -> None:
    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    limit(service, rate=1)
    service.get("secret/data/a")
    before = len(service.files.lines["/log"])
    assert service.get("secret/data/a").status == 429
    assert len(service.files.lines["/log"]) == before
    service.put("sys/quotas/config", {"enable_rate_limit_audit_logging": True})
    before = len(service.files.lines["/log"])
    assert service.get("secret/data/a").status == 429
    records = [json.loads(line) for line in service.files.lines["/log"][before:]]
    assert [record["type"] for record in records] == ["request", "response"]
    assert all("rate limit quota exceeded" in record["error"] for record in records)


def test_exempt_paths_have_no_limit(service) -> None:
    service.put(RATE, {"rate": 1})
    assert statuses(service, 4, "sys/health") == [200] * 4
    assert statuses(service, 2, "sys/mounts") == [200, 429]
    assert statuses(service, 1, "nowhere/x") == [429]


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a/b", True), ("a/bc", True), ("a/c", False), ("a/b/no", False), ("a/b/no/yes", True), ("b", False)],
)
def test_the_longest_beginning_decides_whether_a_path_is_exempt(path, expected) -> None:
    assert is_exempt(("a/b", "!a/b/no", "a/b/no/yes"), path) is expected


def test_a_changed_rule_begins_at_nothing_and_a_deleted_one_is_forgotten(service) -> None:
    limit(service)
    assert statuses(service, 3) == [404, 404, 429]
    limit(service, rate=3)
    assert statuses(service, 4) == [404, 404, 404, 429]
    limit(service, rate=3)
    assert statuses(service, 1) == [429]
    service.delete(RATE)
    assert statuses(service, 4) == [404] * 4
    assert service.core.rate_counts == {}


def test_what_was_counted_is_state_of_the_node(service, clock) -> None:
    limit(service)
    early = service.state()["rate_counts"]
    statuses(service, 2)
    state = service.state()
    assert early == {}
    _, clients = state["rate_counts"]["r"]
    assert [used for _, _, used, _ in clients.values()] == [2]
    statuses(service, 1, "secret/data/b")
    storage = MemoryStorage.from_state(service.core.storage.state())
    other = Vault(storage, service.environment, service.core.settings, state)
    other.root_token = service.root_token
    assert statuses(other, 1) == statuses(service, 1) == [429]
    assert other.state()["rate_counts"] == service.state()["rate_counts"]
    clock.now_ns += SECOND_NS
    assert statuses(other, 1) == [404]
    assert statuses(service, 1) == [404]
    assert [used for _, _, used, _ in clients.values()] == [2]


def test_so_many_clients_are_counted_at_most(service, clock, monkeypatch) -> None:
    monkeypatch.setattr(rate_limits, "MAX_CLIENTS", 3)
    limit(service, interval="10s")

    def ask(number: int) -> None:
        service.handle(Request("GET", "secret/data/a", {}, None, f"10.0.0.{number}"))

    def counted() -> list[int]:
        _, clients = service.core.rate_counts["r"]
        return [int(address.rpartition(".")[2]) for address in clients]

    for number in (1, 2, 3, 1, 4):
        ask(number)
    assert counted() == [2, 3, 4]
    clock.now_ns += 10 * SECOND_NS
    ask(3)
    ask(5)
    assert counted() == [3, 5]
    limit(service, rate=1, block_interval="1h")
    for number in (1, 1, 2, 3):
        ask(number)
    clock.now_ns += 10 * SECOND_NS
    ask(4)
    assert counted() == [1, 4]


def test_a_record_that_does_not_open_limits_nothing_and_is_reported_once(service, observed) -> None:
    limit(service, rate=1)
    spoil(service, QUOTAS)
    assert statuses(service, 3) == [404] * 3
    assert service.post("auth/token/create", {}).ok
    assert observed.count(("stored value damaged", {"key": QUOTAS})) == 1
    assert service.get(RATE).status == 500


def test_a_sealed_node_counts_nothing(service) -> None:
    service.put(RATE, {"rate": 2})
    service.put("sys/quotas/config", {})
    assert service.put("sys/seal").status == 204
    assert statuses(service, 3, "sys/health") == [503] * 3


def test_a_namespace_s_limit_is_for_its_requests_and_those_of_children_that_inherit_it(service) -> None:
    service.put("sys/namespaces/a")
    service.put("a/sys/namespaces/b")
    service.put(RATE, {"path": "a", "rate": 1})
    assert statuses(service, 2, "a/sys/mounts") == [200, 429]
    assert statuses(service, 2, "a/b/sys/mounts") == [200, 200]
    service.put(RATE, {"path": "a/", "rate": 1, "inheritable": True})
    assert statuses(service, 2, "a/b/sys/mounts") == [200, 429]
    assert service.get("a/sys/mounts").errors == ['request path "a/sys/mounts": rate limit quota exceeded']


def test_in_a_lab_the_active_node_counts_and_a_cut_changes_nothing() -> None:
    lab = Lab.pair(seed=4)
    paris = lab["paris"]
    paris.put(RATE, {"path": "secret", "rate": 2, "interval": "1h"})
    assert paris.get("secret/data/a").status == 404
    restored = Lab.restore(lab.snapshot())
    for other in (lab, restored):
        assert [other["paris"].request("GET", "secret/data/a").status for _ in range(2)] in ([403, 429], [404, 429])
    assert lab.trace.digest() == restored.trace.digest()
