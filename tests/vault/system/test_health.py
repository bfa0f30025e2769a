"""Health and leader: the status says how the node is, and may be chosen."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault
from labkit.vault.core import Leadership
from labkit.vault.storage.memory import MemoryStorage


def test_an_active_node(service) -> None:
    health = service.get("sys/health", token="")
    assert health.status == 200
    assert health.body == {
        "initialized": True,
        "sealed": False,
        "standby": False,
        "performance_standby": False,
        "replication_performance_mode": "disabled",
        "replication_dr_mode": "disabled",
        "server_time_utc": 1_893_456_000,
        "version": "1.16.3+ent",
        "cluster_name": "labkit",
        "cluster_id": health.body["cluster_id"],
    }


def test_a_head_is_its_status_alone(service) -> None:
    head = service.request("HEAD", "/v1/sys/health")
    assert (head.status, head.body) == (200, None)


def test_a_sealed_node(service) -> None:
    service.put("sys/seal")
    health = service.get("sys/health")
    assert health.status == 503
    told = health.body
    assert (told["initialized"], told["sealed"], told["standby"]) == (True, True, True)
    assert (told["replication_dr_mode"], told["replication_performance_mode"]) == ("unknown", "unknown")
    assert "cluster_id" not in told


def test_a_node_that_was_never_initialised(service) -> None:
    blank = Vault(MemoryStorage(), service.environment)
    assert blank.request("GET", "sys/health").status == 501
    assert blank.request("GET", "sys/health?uninitcode=299").status == 299


def test_a_standby(service) -> None:
    service.set_leadership(Leadership(active=False, leader="http://two:8200", leader_cluster="https://two:8201"))
    health = service.get("sys/health")
    assert (health.status, health.body["standby"]) == (429, True)
    for on in ("standbyok", "standbyok=true", "standbyok=1"):
        assert service.get(f"sys/health?{on}").status == 200
    assert service.get("sys/health?standbyok=false").status == 429
    assert service.get("sys/health?standbycode=211").status == 211
    assert service.get("sys/health?standbyok&activecode=212").status == 212


@pytest.mark.parametrize("query", ["standbyok=maybe", "perfstandbyok=maybe", "standbyok=2"])
def test_a_status_that_is_none(service, query: str) -> None:
    assert service.get(f"sys/health?{query}").status == 400


@pytest.mark.parametrize(
    "code", ["99", "600", "0", "-1", "20", "1000", "x", "", "0xff", "2e2", "٢٠٠", "%20201", "1" * 400]
)
@pytest.mark.parametrize("name", ["activecode", "sealedcode", "performancestandbycode"])
def test_a_status_that_is_none_of_http_is_refused_without_a_word(service, name: str, code: str) -> None:
    health = service.get(f"sys/health?{name}={code}")

    assert (health.status, health.body) == (400, {"errors": []})


@pytest.mark.parametrize(("code", "status"), [("100", 100), ("599", 599), ("0201", 201), ("%2B202", 202)])
def test_a_status_is_a_decimal_number(service, code: str, status: int) -> None:
    assert service.get(f"sys/health?activecode={code}").status == status


def test_a_secondary(service) -> None:
    service.post("sys/replication/dr/primary/enable")
    assert service.get("sys/health").body["replication_dr_mode"] == "primary"
    service.post("sys/replication/dr/primary/demote")
    health = service.get("sys/health")
    assert (health.status, health.body["replication_dr_mode"]) == (472, "secondary")
    assert service.get("sys/health?drsecondarycode=210").status == 210
    assert service.get("sys/leader").status == 200
    assert service.get("sys/seal-status").status == 200
    assert service.get("sys/mounts").status == 400


def test_leader_without_high_availability(service) -> None:
    assert service.get("sys/leader", token="").body == {
        "ha_enabled": False,
        "is_self": False,
        "active_time": "0001-01-01T00:00:00Z",
        "leader_address": "",
        "leader_cluster_address": "",
        "performance_standby": False,
        "performance_standby_last_remote_wal": 0,
    }
    service.put("sys/seal")
    assert service.get("sys/leader").status == 200


def test_leader_of_several_nodes(clock) -> None:
    vault = Vault.dev(clock=clock, high_availability=True)
    vault.set_leadership(Leadership(term=1, since_ns=clock()))
    told: Any = vault.get("sys/leader").body
    assert (told["ha_enabled"], told["is_self"], told["active_time"]) == (True, True, "2030-01-01T00:00:00Z")
    assert told["leader_address"] == "http://127.0.0.1:8200"

    vault.set_leadership(Leadership(active=False, leader="http://two:8200", leader_cluster="https://two:8201"))
    told = vault.get("sys/leader").body
    assert (told["is_self"], told["leader_address"], told["leader_cluster_address"]) == (
        False,
        "http://two:8200",
        "https://two:8201",
    )
    vault.set_leadership(Leadership())
    vault.put("sys/seal")
    assert vault.get("sys/leader").status == 503


def test_in_any_namespace(service) -> None:
    for path in ("sys/health", "sys/leader", "sys/seal-status"):
        assert service.get(path, headers={"X-Vault-Namespace": "team/"}).status == 200
