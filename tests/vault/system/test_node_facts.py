"""What is said of nodes, hosts, licence and settings."""

from __future__ import annotations

import pytest

from labkit import Lab, Vault
from labkit.vault.core import Settings

PATHS = ("ha-status", "host-info", "license/status", "config/state/sanitized")


def test_the_nodes_of_a_cluster_are_listed_the_active_one_first():
    lab = Lab.pair(seed=7)
    answer = lab["paris"].get("sys/ha-status")

    assert [node["hostname"] for node in answer.data["nodes"]] == ["paris-1", "paris-2", "paris-3"]
    assert [node["active_node"] for node in answer.data["nodes"]] == [True, False, False]
    assert answer.data["nodes"][1]["api_address"] == "http://paris-2:8200"
    assert answer.data["nodes"][1]["cluster_address"] == "https://paris-2:8201"
    assert (answer.body or {})["nodes"] == answer.data["nodes"]


def test_a_vault_that_is_alone_lists_itself(service):
    (node,) = service.get("sys/ha-status").data["nodes"]
    assert (node["hostname"], node["active_node"], node["version"]) == ("node-1", True, Settings().version)


def test_a_host_has_a_name_and_a_clock(service):
    answer = service.get("sys/host-info")
    assert (answer.data["host"], answer.data["timestamp"]) == ({"hostname": "node-1"}, "2030-01-01T00:00:00Z")
    assert len(answer.warnings) == 1


def test_the_licence_has_no_end_and_the_community_edition_none(service):
    assert service.get("sys/license/status").data["autoloaded"]["features"] == ["DR Replication", "Namespaces"]
    assert Vault.dev(edition="community").get("sys/license/status").errors == ["enterprise-only feature"]


def test_the_settings_are_shown_without_secrets(service):
    shown = service.get("sys/config/state/sanitized").data
    assert (shown["cluster_name"], shown["storage"]["type"]) == ("labkit", "inmem")
    assert shown["listeners"][0]["config"]["max_request_size"] == Settings().max_request_bytes
    assert service.root_token not in str(shown)


@pytest.mark.parametrize("path", PATHS)
def test_they_want_a_token_that_may_and_the_root_namespace(service, path):
    token = service.post("auth/token/create", {"policies": ["default"]}).auth["client_token"]
    service.post("sys/namespaces/team")

    assert service.get(f"sys/{path}", token=token).status == 403
    assert service.get(f"sys/{path}", token="").status == 403
    assert service.get(f"sys/{path}", namespace="team").errors == ["operation unavailable in namespaces"]
    assert service.post(f"sys/{path}").status == 405
