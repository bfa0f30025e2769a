"""The key store's address is a host of the simulated cloud, and of none of its environments."""

from __future__ import annotations

from labkit.service.cloud_environments import ENVIRONMENTS, host_of, is_of_cloud
from labkit.service.key_store_address import KEY_STORE_ADDRESS, KEY_STORE_HOST


def test_it_is_a_host_of_its_own() -> None:
    taken = {host_of(address) for environment in ENVIRONMENTS.values() for address in environment[1:]}

    assert host_of(KEY_STORE_ADDRESS) == KEY_STORE_HOST
    assert is_of_cloud(KEY_STORE_ADDRESS)
    assert KEY_STORE_HOST not in taken
