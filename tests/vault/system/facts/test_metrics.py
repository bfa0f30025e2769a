"""Metrics are counted when they are asked for, in two formats that say the same."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab, Vault
from labkit.vault.system.facts.metrics import Gauge, exposition


def replicating() -> Lab:
    """A pair of which one is the other's secondary."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    return lab


def value(answer: Any, name: str, **labels: str) -> int:
    """The value of a gauge."""
    (found,) = [
        row["Value"] for row in answer.body["Gauges"] if row["Name"] == name and labels.items() <= row["Labels"].items()
    ]
    return int(found)


def test_what_is_stored_is_counted(service: Vault) -> None:
    before = service.get("sys/metrics")
    service.post("auth/token/create", {"policies": ["default"]})
    service.post("sys/mounts/more", {"type": "kv"})
    after = service.get("sys/metrics")

    assert value(after, "vault.token.count") == value(before, "vault.token.count") + 1
    assert value(after, "vault.expire.num_leases") == value(before, "vault.expire.num_leases") + 1
    assert value(after, "vault.expire.leases.by_path", path="auth/token/create") == 1
    entries = "vault.core.mount_table.num_entries"
    assert value(after, entries, type="logical") == value(before, entries, type="logical") + 1
    assert value(after, entries, type="auth") == value(before, entries, type="auth")
    assert (value(after, "vault.core.active"), value(after, "vault.core.unsealed")) == (1, 1)
    assert after.body is not None
    assert after.body["Timestamp"] == "2030-01-01T00:00:00Z"


def test_prometheus_is_given_the_same_numbers(service: Vault) -> None:
    service.post("sys/audit/file", {"type": "file", "options": {"file_path": "/audit.log"}})
    gauges = (service.get("sys/metrics").body or {})["Gauges"]
    answer = service.get("sys/metrics?format=prometheus")
    text: Any = answer.body
    lines = text.splitlines()

    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert (answer.data, answer.errors, answer.warnings, answer.auth) == (None, [], [], None)
    assert [float(line.rsplit(" ", 1)[1]) for line in lines if line[0] != "#"] == [row["Value"] for row in gauges]
    assert lines[:3] == [
        "# HELP vault_core_active 1 where the active node answers, as for a standby",
        "# TYPE vault_core_active gauge",
        'vault_core_active{cluster="labkit"} 1',
    ]


def test_a_name_is_explained_once_and_labels_are_quoted() -> None:
    gauges = tuple(
        [Gauge("a.b", "what", number, (("path", text),)) for number, text in enumerate(('q"', "b\\", "n\n"))]
    )

    assert exposition(gauges) == (
        '# HELP a_b what\n# TYPE a_b gauge\na_b{path="q\\""} 0\na_b{path="b\\\\"} 1\na_b{path="n\\n"} 2\n'
    )


@pytest.mark.parametrize("wrong", ["json", "Prometheus", "x%0A"])
def test_another_format_is_refused(wrong: str, service: Vault) -> None:
    assert service.get(f"sys/metrics?format={wrong}").errors[0].startswith("format is prometheus, or left out")


def test_they_are_given_over_the_network_of_a_lab() -> None:
    calm = replicating()
    text: Any = calm["paris"].get("sys/metrics?format=prometheus").body

    assert 'vault_core_active{cluster="paris"} 1\n' in text
    assert calm["tokyo"].get("sys/metrics").status == 400


def test_they_want_a_token_that_may_and_the_root_namespace(service: Vault) -> None:
    token = service.post("auth/token/create", {"policies": ["default"]}).auth["client_token"]
    service.post("sys/namespaces/team")

    assert [service.get("sys/metrics", token=one).status for one in ("", token)] == [403, 403]
    assert service.get("team/sys/metrics").status == 400
