"""The path as sent: how it is split, and what is refused before it is decoded."""

from __future__ import annotations

import pytest

from labkit.service.errors import BadRequest
from labkit.service.limits import MAX_PATH_BYTES
from labkit.service.request_path import readable, split_path


@pytest.mark.parametrize(
    ("raw", "path", "query"),
    [
        ("/v1/secret/data/a", "secret/data/a", {}),
        ("secret/data/a", "secret/data/a", {}),
        ("/v1/a//b///c", "a/b/c", {}),
        ("/v1/a%20b/%C3%BC", "a b/ü", {}),
        ("/v1/a?version=2&list=", "a", {"version": "2", "list": ""}),
        ("/v1/%2F%2Fa%2Fb", "a/b", {}),
        ("/v1/a?x=1&x=2", "a", {"x": ["1", "2"]}),
    ],
)
def test_paths_are_split_and_decoded(raw, path, query):
    assert split_path(raw) == (path, query)


def test_what_cannot_be_printed_is_refused():
    with pytest.raises(BadRequest):
        split_path("/v1/secret/data/a%00b")


@pytest.mark.parametrize("raw", ["/v1/%ff", "/v1/a?b=%C3", "/v1/\ud800", "/v1/a?\udfff=1", None, 7, b"a", ["a"]])
def test_what_is_not_text_is_refused_in_words(raw):
    with pytest.raises(BadRequest) as refused:
        split_path(raw)
    assert all(refused.value.errors)


def test_a_long_path_is_refused_before_it_is_decoded(monkeypatch):
    monkeypatch.setattr("labkit.service.request_path._decoded", None)
    with pytest.raises(BadRequest, match="4096"):
        split_path("/v1/" + "%61" * 100_000)


def test_a_path_of_which_each_character_is_encoded_may_be_as_long_as_any():
    encoded = "v1/" + "%61" * MAX_PATH_BYTES
    assert split_path("/" * 61 + encoded) == ("a" * MAX_PATH_BYTES, {})
    with pytest.raises(BadRequest, match="4096"):
        split_path("/" * 62 + encoded)


def test_a_long_query_is_refused_before_it_is_taken_apart(monkeypatch):
    monkeypatch.setattr("urllib.parse.parse_qs", None)
    with pytest.raises(BadRequest, match="10000 parameters"):
        split_path("/v1/a?" + "b=1&" * 100_000)
    with pytest.raises(BadRequest, match="1048576"):
        split_path("/v1/a?" + "b" * 2_000_000)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("/v1/a/b?token=x", "a/b"),
        ("/v1/\ud800", "\\ud800"),
        ("a\0b", "a\\x00b"),
        (7, ""),
        ("x" * 100_000, "x" * MAX_PATH_BYTES),
    ],
)
def test_a_refused_path_is_shown_without_its_query(raw, shown):
    assert readable(raw) == shown
