"""Secrets' data over the wire: read, write, patch and delete, with check-and-set and every kind of bad input."""

from __future__ import annotations

from typing import Any

import pytest

MISMATCH = ["check-and-set parameter did not match the current version"]
REQUIRED = ["check-and-set parameter required for this call"]
MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}


def facts(number: int, **other: Any) -> dict[str, Any]:
    """What an answer says of a version, its creation time left out."""
    return {"custom_metadata": None, "deletion_time": "", "destroyed": False, "version": number, **other}


def without_time(metadata: dict[str, Any]) -> dict[str, Any]:
    assert metadata["created_time"].endswith("Z")
    return {name: value for name, value in metadata.items() if name != "created_time"}


# ---- write and read ------------------------------------------------------------------------------


def test_what_is_written_is_read_version_by_version(service: Any) -> None:
    for number in (1, 2, 3):
        written = service.post("secret/data/app", {"data": {"v": number}})
        assert written.status == 200
        assert without_time(written.data) == facts(number)

    for query, number in (("", 3), ("?version=1", 1), ("?version=2", 2), ("?version=0", 3), ("?version=-1", 3)):
        read = service.get("secret/data/app" + query)
        assert read.status == 200
        assert read.data["data"] == {"v": number}
        assert without_time(read.data["metadata"]) == facts(number)


def test_values_come_back_exactly(service: Any) -> None:
    data = {
        "big": 12345678901234567890123,
        "negative": -(2**70),
        "float": 1.0,
        "small": 1e-7,
        "text": "<&> ü \u2028 😀",
        "nested": {"l": [1, [2, {"k": None}]], "t": True, "empty": {}},
    }
    service.post("secret/data/app", {"data": data})

    read = service.get("secret/data/app").data["data"]

    assert read == data
    assert type(read["float"]) is float
    assert type(read["big"]) is int


def test_nobody_gets_hold_of_the_stored_object(service: Any) -> None:
    sent = {"data": {"list": [1]}}
    service.post("secret/data/app", sent)
    sent["data"]["list"].append(2)
    service.get("secret/data/app").data["data"]["list"].append(3)

    assert service.get("secret/data/app").data["data"] == {"list": [1]}


@pytest.mark.parametrize("path", ["a", "a/b", "a/1", "a/1.data", "with space", "%C3%BC/%C3%A9", "a.b-c_d"])
def test_paths_of_any_form_and_one_below_the_other(service: Any, path: str) -> None:
    for other in ("a", "a/b", "a/1", "a/1.data"):
        service.post(f"secret/data/{other}", {"data": {"at": other}})
    assert service.put(f"secret/data/{path}", {"data": {"at": "here"}}).status == 200

    assert service.get(f"secret/data/{path}").data["data"] == {"at": "here"}
    for other in {"a", "a/b", "a/1", "a/1.data"} - {path}:
        assert service.get(f"secret/data/{other}").data["data"] == {"at": other}


def test_nothing_there_is_404_without_a_word(service: Any) -> None:
    service.post("secret/data/app", {"data": {}})
    service.post("secret/metadata/bare", {"max_versions": 3})

    for path in ("none", "bare", "app?version=2", "app?version=999999999999999999"):
        read = service.get("secret/data/" + path)
        assert (read.status, read.body) == (404, {"errors": []})


@pytest.mark.parametrize("version", ["x", "1.5", "1&version=2"])
def test_a_version_that_is_no_number_is_refused(service: Any, version: str) -> None:
    service.post("secret/data/app", {"data": {}})

    refused = service.get(f"secret/data/app?version={version}")

    assert refused.status == 400
    assert refused.errors[0].startswith('Field validation failed: error converting input for field "version": ')


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "no data provided"),
        ({"user": "ada"}, "no data provided"),
        ({"data": "text"}, 'error converting input for field "data": '),
        ({"data": 1}, 'error converting input for field "data": '),
        ({"data": {}, "options": "cas"}, 'error converting input for field "options": '),
        ({"data": {}, "options": {"cas": "abc"}}, "error parsing check-and-set parameter"),
        ({"data": {}, "options": {"cas": 1}}, MISMATCH[0]),
        ({"data": {"x": float("inf")}}, "failed to decode JSON input"),
        ({"data": {"x": float("nan")}}, "failed to decode JSON input"),
        ({"data": {"x": "\ud800"}}, "failed to decode JSON input"),
    ],
)
def test_a_refused_write_changes_nothing(service: Any, body: dict[str, Any], text: str) -> None:
    refused = service.post("secret/data/app", body)

    assert refused.status == 400
    assert refused.errors[0].startswith(text)
    assert service.get("secret/metadata/app").status == 404
    assert service.list("secret/metadata").status == 404


@pytest.mark.parametrize("data", [{}, None, []])
def test_empty_and_null_data_are_versions_too(service: Any, data: Any) -> None:
    assert service.post("secret/data/app", {"data": data, "options": None}).status == 200

    read = service.get("secret/data/app")

    assert read.status == 200
    assert read.data["data"] == (None if data is None else {})


def test_members_that_nobody_knows_are_told(service: Any) -> None:
    written = service.post("secret/data/app", {"data": {}, "b": 1, "a": 2, "path": "other"})

    assert written.status == 200
    assert "Endpoint ignored these unrecognized parameters: [a b]" in written.warnings
    assert any(text.endswith("from the endpoint's path: [path]") for text in written.warnings)
    assert service.get("secret/data/other").status == 404


# ---- check-and-set -------------------------------------------------------------------------------


def test_check_and_set_over_the_life_of_a_key(service: Any) -> None:
    def write(cas: Any) -> Any:
        return service.post("secret/data/app", {"data": {}, "options": {"cas": cas}})

    assert write(0).data["version"] == 1
    assert write(0).errors == MISMATCH
    assert write("1").data["version"] == 2
    service.delete("secret/data/app")
    assert write(1).errors == MISMATCH, "a soft-deleted version is still the current one"
    assert write(2).data["version"] == 3
    service.put("secret/destroy/app", {"versions": [1, 2, 3]})
    assert write(0).errors == MISMATCH
    assert write(3).data["version"] == 4
    service.delete("secret/metadata/app")
    assert write(4).errors == MISMATCH
    assert write(0).data["version"] == 1


def test_cas_zero_on_a_key_without_versions(service: Any) -> None:
    service.post("secret/metadata/app", {"cas_required": True})

    assert service.post("secret/data/app", {"data": {}}).errors == REQUIRED
    assert service.post("secret/data/app", {"data": {}, "options": {"cas": 0}}).data["version"] == 1


def test_a_key_cannot_switch_off_what_the_engine_requires(service: Any) -> None:
    service.post("secret/config", {"cas_required": True})
    service.post("secret/metadata/app", {"cas_required": False})

    assert service.post("secret/data/app", {"data": {}}).errors == REQUIRED


def test_without_cas_a_write_goes_over_deleted_and_destroyed_versions(service: Any) -> None:
    service.post("secret/data/app", {"data": {}})
    service.delete("secret/data/app")
    assert service.post("secret/data/app", {"data": {}}).data["version"] == 2
    service.put("secret/destroy/app", {"versions": [2]})
    assert service.post("secret/data/app", {"data": {}}).data["version"] == 3

    assert service.get("secret/data/app?version=1").status == 404, "an older version keeps its state"


# ---- patch ---------------------------------------------------------------------------------------


def test_a_patch_is_merged_into_a_new_version(service: Any) -> None:
    service.post("secret/data/app", {"data": {"keep": 1, "drop": 2, "deep": {"a": 1, "b": [1, 2]}}})

    patched = service.patch(
        "secret/data/app", {"data": {"drop": None, "deep": {"b": [3], "c": {"d": None}}}, "options": {"cas": 1}}
    )

    assert without_time(patched.data) == facts(2)
    assert service.get("secret/data/app").data["data"] == {"keep": 1, "deep": {"a": 1, "b": [3], "c": {}}}
    assert service.get("secret/data/app?version=1").data["data"]["drop"] == 2


def test_an_empty_patch_is_a_version_like_the_one_before(service: Any) -> None:
    service.post("secret/data/app", {"data": {"a": 1}})

    assert service.patch("secret/data/app", {"data": {}}).data["version"] == 2
    assert service.get("secret/data/app").data["data"] == {"a": 1}


def test_a_patch_of_null_data_starts_from_nothing(service: Any) -> None:
    service.post("secret/data/app", {"data": None})

    assert service.patch("secret/data/app", {"data": {"a": 1, "b": None}}).status == 200
    assert service.get("secret/data/app").data["data"] == {"a": 1}


def test_a_patch_of_what_is_not_there(service: Any) -> None:
    service.post("secret/metadata/bare", {"max_versions": 1})

    for path in ("none", "bare"):
        answer = service.patch(f"secret/data/{path}", {"data": {"a": 1}})
        assert (answer.status, answer.body) == (404, None)


def test_a_patch_of_a_deleted_or_destroyed_version_tells_its_facts_flat(service: Any) -> None:
    service.post("secret/data/app", {"data": {"a": 1}})
    service.delete("secret/data/app")
    deleted = service.patch("secret/data/app", {"data": {"a": 2}})
    assert deleted.status == 404
    assert without_time(deleted.data) == facts(1, deletion_time=deleted.data["created_time"])

    service.put("secret/destroy/app", {"versions": 1})
    destroyed = service.patch("secret/data/app", {"data": {"a": 2}})
    assert destroyed.status == 404
    assert destroyed.data["destroyed"] is True
    assert service.get("secret/metadata/app").data["current_version"] == 1


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "no data provided"),
        ({"data": None}, "no data provided"),
        ({"data": "x"}, 'Field validation failed: error converting input for field "data": '),
        ({"data": {}, "options": {"cas": 0}}, MISMATCH[0]),
        ({"data": {}, "options": {"cas": 2}}, MISMATCH[0]),
        ({"data": {}, "options": {"cas": []}}, "error parsing check-and-set parameter"),
        ({"data": {"x": float("inf")}}, "failed to decode JSON input"),
    ],
)
def test_a_refused_patch_changes_nothing(service: Any, body: dict[str, Any], text: str) -> None:
    service.post("secret/data/app", {"data": {"a": 1}})

    refused = service.patch("secret/data/app", body)

    assert refused.status == 400
    assert refused.errors[0].startswith(text)
    assert service.get("secret/metadata/app").data["current_version"] == 1


def test_a_patch_needs_cas_where_it_is_required(service: Any) -> None:
    service.post("secret/data/app", {"data": {}})
    service.post("secret/metadata/app", {"cas_required": True})

    assert service.patch("secret/data/app", {"data": {}}).errors == REQUIRED


# ---- delete and time -----------------------------------------------------------------------------


def test_a_deleted_version_is_404_with_its_metadata(service: Any) -> None:
    service.post("secret/data/app", {"data": {"a": 1}})
    service.post("secret/data/app", {"data": {"a": 2}})
    service.advance("90s")
    assert (service.delete("secret/data/app").status, service.delete("secret/data/none").status) == (204, 204)

    read = service.get("secret/data/app")
    assert read.status == 404
    assert read.errors == []
    assert "errors" not in read.body
    assert read.data["data"] is None
    deleted = read.data["metadata"]["deletion_time"]
    assert deleted > read.data["metadata"]["created_time"]
    assert service.get("secret/data/app?version=1").data["data"] == {"a": 1}

    service.advance("1h")
    assert service.delete("secret/data/app").status == 204
    assert service.get("secret/data/app").data["metadata"]["deletion_time"] == deleted, "deleted once is deleted"


def test_deleting_a_key_without_versions_is_no_error(service: Any) -> None:
    service.post("secret/metadata/bare", {"max_versions": 1})

    assert service.delete("secret/data/bare").status == 204


def test_a_version_goes_when_its_time_is_over(service: Any) -> None:
    service.post("secret/config", {"delete_version_after": "1h"})
    service.post("secret/metadata/short", {"delete_version_after": "30m"})
    service.post("secret/metadata/long", {"delete_version_after": "5h"})
    for path in ("plain", "short", "long"):
        written = service.post(f"secret/data/{path}", {"data": {}})
        assert written.data["deletion_time"] > written.data["created_time"]
        assert service.get(f"secret/data/{path}").status == 200

    service.advance("31m")
    assert [service.get(f"secret/data/{path}").status for path in ("plain", "short", "long")] == [200, 404, 200]
    service.advance("30m")
    assert [service.get(f"secret/data/{path}").status for path in ("plain", "short", "long")] == [404, 404, 404]

    service.post("secret/undelete/short", {"versions": [1]})
    assert service.get("secret/data/short").status == 200
    service.advance("31m")
    assert service.get("secret/data/short").status == 404, "the time to deletion began anew"


def test_old_versions_are_pruned(service: Any) -> None:
    service.post("secret/config", {"max_versions": 3})
    for number in range(1, 6):
        service.post("secret/data/app", {"data": {"v": number}})

    assert [service.get(f"secret/data/app?version={number}").status for number in range(1, 6)] == [
        404,
        404,
        200,
        200,
        200,
    ]
    assert service.get("secret/data/app?version=2").body == {"errors": []}
