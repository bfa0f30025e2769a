"""Subkeys: names without values, as deep as asked."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.vault.engines.kv.subkeys import without_values

DATA = {"u": "x", "deep": {"l": {"m": 1, "n": {"o": 2}}, "list": [1, {"p": 2}], "empty": {}}}
ALL = {"u": None, "deep": {"l": {"m": None, "n": {"o": None}}, "list": None, "empty": None}}


@pytest.mark.parametrize(
    ("query", "subkeys"),
    [
        ("", ALL),
        ("?depth=0", ALL),
        ("?version=1&depth=99", ALL),
        ("?depth=1", {"u": None, "deep": None}),
        ("?depth=-3", {"u": None, "deep": None}),
        ("?depth=2", {"u": None, "deep": {"l": None, "list": None, "empty": None}}),
        ("?depth=3", {"u": None, "deep": {"l": {"m": None, "n": None}, "list": None, "empty": None}}),
    ],
)
def test_names_as_deep_as_asked(service: Any, query: str, subkeys: dict[str, Any]) -> None:
    service.post("secret/data/app", {"data": DATA})

    read = service.get("secret/subkeys/app" + query)

    assert read.status == 200
    assert read.data["subkeys"] == subkeys
    assert read.data["metadata"] == service.get("secret/data/app").data["metadata"]


@pytest.mark.parametrize(("data", "subkeys"), [({}, {}), (None, None)])
def test_names_of_nothing(service: Any, data: Any, subkeys: Any) -> None:
    service.post("secret/data/app", {"data": data})

    assert service.get("secret/subkeys/app").data["subkeys"] == subkeys


def test_a_deleted_or_destroyed_version_has_metadata_only(service: Any) -> None:
    service.post("secret/data/app", {"data": DATA})
    service.delete("secret/data/app")
    for destroyed in (False, True):
        read = service.get("secret/subkeys/app")
        assert read.status == 404
        assert read.data["subkeys"] is None
        assert read.data["metadata"]["destroyed"] is destroyed
        service.put("secret/destroy/app", {"versions": [1]})


def test_nothing_there_is_404_without_a_word(service: Any) -> None:
    service.post("secret/data/app", {"data": DATA})

    for path in ("none", "app?version=5"):
        assert service.get("secret/subkeys/" + path).body == {"errors": []}


@pytest.mark.parametrize("query", ["version=x", "depth=x", "depth=1.5"])
def test_what_is_no_number_is_refused(service: Any, query: str) -> None:
    service.post("secret/data/app", {"data": DATA})

    refused = service.get("secret/subkeys/app?" + query)

    assert refused.status == 400
    assert refused.errors[0].startswith("Field validation failed: error converting input for field ")


def test_without_values_leaves_its_argument_alone() -> None:
    data = {"a": {"b": 1}}

    assert without_values(data) == {"a": {"b": None}}
    assert data == {"a": {"b": 1}}
