"""Instance document: whole or in part, as JSON or as text."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.cloud.instance_document import as_text, document
from labkit.cloud.machine_endpoint import HOST
from labkit.front.cloud import Cloud
from labkit.service.message import Request


def read(cloud: Cloud, path: str, form: str = "", name: str = "web-1") -> Any:
    query = f"?api-version=2021-02-01{f'&format={form}' if form else ''}"
    at = cloud.vm(name).record.address
    return cloud.handle(
        Request("GET", f"/metadata/instance{path}{query}", {"Host": HOST, "Metadata": "true"}, None, at)
    )


def test_any_part_is_read(cloud: Cloud) -> None:
    whole = read(cloud, "").body

    assert whole == document(cloud.vm("web-1").record)
    for path, part in (
        ("/compute", whole["compute"]),
        ("/compute/", whole["compute"]),
        ("/network/interface", whole["network"]["interface"]),
        ("/network/interface/0/ipv4/ipAddress", [{"privateIpAddress": "10.0.0.1", "publicIpAddress": ""}]),
    ):
        assert read(cloud, path, "json").body == part, path
    assert whole["network"]["interface"][0]["macAddress"] == "000D0A000001"


def test_values_and_names_are_read_as_text(cloud: Cloud) -> None:
    answer = read(cloud, "/compute/name", "text")

    assert (answer.headers["Content-Type"], answer.body) == ("text/plain; charset=utf-8", "web-1")
    assert read(cloud, "", "text").body == "compute/\nnetwork/"
    assert read(cloud, "/network/interface", "text").body == "0/"
    assert read(cloud, "/compute", "text").body.splitlines()[2] == "name"
    assert as_text({"a": [], "b": ""}) == "a/\nb"


@pytest.mark.parametrize(
    ("path", "form", "status", "error"),
    [
        ("/compute/name", "", 400, "invalid_request"),
        ("/compute", "xml", 400, "invalid_request"),
        ("/moon", "", 404, "not_found"),
        ("/compute/name/first", "text", 404, "not_found"),
        ("/network/interface/1", "", 404, "not_found"),
        ("/network/interface/-1", "", 404, "not_found"),
        ("/network/interface/٣", "", 404, "not_found"),
        ("/network/interface/" + "9" * 500, "", 404, "not_found"),
    ],
)
def test_what_is_not_there_is_refused(cloud: Cloud, path: str, form: str, status: int, error: str) -> None:
    answer = read(cloud, path, form)

    assert (answer.status, answer.body["error"]) == (status, error)
