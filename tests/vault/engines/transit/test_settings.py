"""config/keys: whether encrypt may make keys."""

from __future__ import annotations

from typing import Any

import pytest


def test_upsert_is_on_until_it_is_switched_off(service: Any) -> None:
    assert service.get("transit/config/keys").data == {"disable_upsert": False}

    written = service.post("transit/config/keys", {"disable_upsert": True})

    assert (written.status, written.data) == (200, {"disable_upsert": True})
    assert service.get("transit/config/keys").data == {"disable_upsert": True}
    assert service.post("transit/encrypt/new", {"plaintext": ""}).errors == ["encryption key not found"]


@pytest.mark.parametrize("sent", [{}, {"disable_upsert": False}, {"disable_upsert": "false"}, {"disable_upsert": None}])
def test_what_was_not_sent_is_false(service: Any, sent: dict[str, Any]) -> None:
    service.post("transit/config/keys", {"disable_upsert": "true"})

    assert service.post("transit/config/keys", sent).data == {"disable_upsert": False}
    assert service.post("transit/encrypt/new", {"plaintext": ""}).status == 200


def test_a_flag_that_is_none_is_refused(service: Any) -> None:
    refused = service.post("transit/config/keys", {"disable_upsert": "maybe"})

    assert refused.status == 400
    assert service.get("transit/config/keys").data == {"disable_upsert": False}


def test_keys_that_are_there_work_on(service: Any) -> None:
    service.post("transit/keys/k")
    service.post("transit/config/keys", {"disable_upsert": True})

    assert service.post("transit/encrypt/k", {"plaintext": ""}).status == 200
