"""Cloud environments: four of them, hosts of their own, found by name as peers spell it too."""

from __future__ import annotations

import pytest

from labkit.service.cloud_environments import (
    DEFAULT_ENVIRONMENT,
    ENVIRONMENTS,
    environment_named,
    host_of,
    is_of_cloud,
    issuer_of,
)


def test_no_two_environments_share_a_host() -> None:
    addresses = [address for environment in ENVIRONMENTS.values() for address in environment[1:]]

    assert len(ENVIRONMENTS) == 4
    assert len(set(addresses)) == 16
    assert all(map(is_of_cloud, addresses))
    assert next(iter(ENVIRONMENTS)) == DEFAULT_ENVIRONMENT


@pytest.mark.parametrize("name", ["CloudChinaCloud", "cloudCHINAcloud", "AzureChinaCloud", "AZURECHINACLOUD"])
def test_an_environment_is_found_by_its_name_in_any_case_and_by_a_peers(name: str) -> None:
    found = environment_named(name)

    assert found is not None
    assert found.authority == "https://login.china.cloud.test"
    assert issuer_of(found, "t") == "https://sts.china.cloud.test/t/"


@pytest.mark.parametrize("name", ["", "cloud", "azure", "CloudChina", "CloudMoonCloud"])
def test_another_name_is_none(name: str) -> None:
    assert environment_named(name) is None


@pytest.mark.parametrize(
    ("address", "host", "is_there"),
    [
        ("https://login.cloud.test/tenant", "login.cloud.test", True),
        ("https://LOGIN.cloud.test:443", "login.cloud.test", True),
        ("login.cloud.test", "login.cloud.test", True),
        ("https://cloud.test", "cloud.test", True),
        ("https://notcloud.test", "notcloud.test", False),
        ("https://login.cloud.test.evil.example", "login.cloud.test.evil.example", False),
        ("http://paris-1:8200", "paris-1", False),
        ("", "", False),
    ],
)
def test_whether_an_address_leads_to_the_cloud(address: str, host: str, is_there: bool) -> None:
    assert host_of(address) == host
    assert is_of_cloud(address) is is_there
