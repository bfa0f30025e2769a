"""The engine's settings over the wire."""

from __future__ import annotations

from typing import Any

import pytest

DEFAULTS = {"cas_required": False, "delete_version_after": "0s", "max_versions": 0}


def test_settings_are_written_one_by_one(service: Any) -> None:
    assert service.get("secret/config").data == DEFAULTS
    assert service.post("secret/config", {"max_versions": "7"}).status == 204
    assert service.put("secret/config", {"cas_required": "true", "delete_version_after": "3h25m19s"}).status == 204
    expected = {"cas_required": True, "delete_version_after": "3h25m19s", "max_versions": 7}
    assert service.get("secret/config").data == expected

    assert service.post("secret/config", {"delete_version_after": None}).status == 204
    assert service.get("secret/config").data == expected
    service.post("secret/config", {"cas_required": None, "max_versions": None, "delete_version_after": 1800})
    assert service.get("secret/config").data == {**DEFAULTS, "delete_version_after": "30m0s"}
    service.post("secret/config", {"delete_version_after": "0s"})
    assert service.get("secret/config").data == DEFAULTS


def test_below_zero_switches_deletion_by_time_off(service: Any) -> None:
    service.post("secret/metadata/app", {"delete_version_after": "1h"})
    service.post("secret/config", {"delete_version_after": "-5h"})

    assert service.get("secret/config").data == {**DEFAULTS, "delete_version_after": "-1s"}
    assert service.post("secret/data/app", {"data": {}}).data["deletion_time"] == ""


@pytest.mark.parametrize("body", [{}, {"nonsense": 1}])
def test_a_body_without_settings_changes_nothing(service: Any, body: dict[str, Any]) -> None:
    answer = service.post("secret/config", body)

    assert (answer.status, answer.body) == (204, None)
    assert service.get("secret/config").data == DEFAULTS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_versions", "many"),
        ("max_versions", -1),
        ("max_versions", 2**32),
        ("cas_required", "perhaps"),
        ("delete_version_after", "soon"),
        ("delete_version_after", [1]),
    ],
)
def test_a_refused_write_changes_nothing(service: Any, name: str, value: Any) -> None:
    refused = service.post("secret/config", {"max_versions": 3, "cas_required": True, name: value})

    assert refused.status == 400
    assert refused.errors[0].startswith(f'Field validation failed: error converting input for field "{name}": ')
    assert service.get("secret/config").data == DEFAULTS


@pytest.mark.parametrize("verb", ["patch", "delete"])
def test_settings_are_read_and_written_only(service: Any, verb: str) -> None:
    assert getattr(service, verb)("secret/config").status == 405
