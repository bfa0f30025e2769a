"""The version that runs is listed, as installed when the storage was set up."""

from __future__ import annotations

from labkit import Vault


def test_the_version_that_runs_is_listed_since_the_storage_was_set_up(service: Vault) -> None:
    answer = service.list("sys/version-history")
    (version,) = answer.data["keys"]

    assert version == service.get("sys/health").body["version"]  # type: ignore[index]  # an answer that has a body
    assert answer.data["key_info"][version]["timestamp_installed"] == "2030-01-01T00:00:00Z"
    assert service.get("sys/version-history?list=true").data == answer.data


def test_it_stays_when_the_keyring_is_rotated_later(service: Vault) -> None:
    before = service.list("sys/version-history").data
    service.advance("48h")
    service.post("sys/rotate")

    assert service.get("sys/key-status").data["install_time"] == "2030-01-03T00:00:00Z"
    assert service.list("sys/version-history").data == before


def test_it_wants_a_token_that_may(service: Vault) -> None:
    token = service.post("auth/token/create", {"policies": ["default"]}).auth["client_token"]

    assert [service.list("sys/version-history", token=one).status for one in ("", token)] == [403, 403]
    assert service.get("sys/version-history").status == 405
