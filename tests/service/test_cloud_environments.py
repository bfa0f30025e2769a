"""Cloud environments: four clouds that share no host, found by their name or by a peer's spelling of it."""

from __future__ import annotations

import pytest

from labkit.service.cloud_environments import ENVIRONMENTS, environment_named, host_of, is_of_cloud, issuer_of


def test_no_two_share_a_host_and_all_are_of_the_cloud() -> None:
    hosts = [host_of(address) for environment in ENVIRONMENTS.values() for address in environment[1:]]

    assert len(set(hosts)) == len(hosts) == 16
    assert all(is_of_cloud(f"https://{host}/x") for host in hosts)


@pytest.mark.parametrize("name", ["CloudChinaCloud", "cloudchinacloud", "AzureChinaCloud", "AZURECHINACLOUD"])
def test_a_name_is_found_in_any_case_and_as_peers_spell_it(name) -> None:
    assert environment_named(name) is ENVIRONMENTS["CloudChinaCloud"]


@pytest.mark.parametrize("name", ["", "China", "AzureMoonCloud", "CloudAzureChinaCloud"])
def test_no_other_name_is(name) -> None:
    assert environment_named(name) is None


@pytest.mark.parametrize("address", ["https://cloud.test.evil.example/", "https://notcloud.test", "http://[::1]", ""])
def test_what_is_not_of_the_cloud(address) -> None:
    assert not is_of_cloud(address)


def test_an_issuer_names_its_tenant() -> None:
    assert issuer_of(ENVIRONMENTS["CloudPublicCloud"], "t") == "https://sts.cloud.test/t/"
