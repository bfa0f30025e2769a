"""Request heads: targets in absolute form, hosts that are none, versions that are not spoken."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.doors.request_heads import has_several_lengths, head_end, is_host, read_head


def scope(target: bytes, host: bytes = b"a", version: str = "1.1") -> dict[str, Any]:
    return {"method": "GET", "raw_path": target, "headers": [(b"host", host), (b"x", b"y")], "http_version": version}


@pytest.mark.parametrize(
    ("target", "path", "host"),
    [
        (b"/v1/x", b"/v1/x", "a"),
        (b"http://b:80/v1/x", b"/v1/x", "b:80"),
        (b"HTTPS://b", b"/", "b"),
        (b"http:///v1/x", b"/v1/x", ""),
        (b"ftp://b/v1/x", b"ftp://b/v1/x", "a"),
        (b"//b/v1/x", b"//b/v1/x", "a"),
        (b"*", b"*", "a"),
    ],
)
def test_a_target_in_absolute_form_names_the_host(target: bytes, path: bytes, host: str) -> None:
    head = read_head(scope(target))

    assert (head.scope["raw_path"], head.headers, head.status) == (path, [("host", host), ("x", "y")], 0)


def test_what_is_no_host_and_what_is_no_version_is_refused() -> None:
    for host in ("", "a", "a:80", "a:", "[::1]:80", "%41", "a_b", "127.0.0.1"):
        assert is_host(host), host
        assert read_head(scope(b"/", host.encode())).status == 0
    for host in ("a b", "a:b", "a/b", "[::1", "[::1]x", "user@a", "a:1:2", "\xe4", "a\t", "a?b"):
        assert not is_host(host), host
        assert read_head(scope(b"/", host.encode("latin-1"))).status == 400
    assert read_head(scope(b"http://user@b/")).status == 400
    for version, status in (("1.0", 0), ("1.1", 0), ("2.0", 505), ("3.7", 505), ("0.9", 505)):
        assert read_head(scope(b"/", version=version)).status == status


def test_a_head_ends_with_an_empty_line_however_its_bytes_come() -> None:
    for line in (b"\r\n", b"\n"):
        head = line.join((b"POST / HTTP/1.1", b"Host: a", b"", b""))
        for place in range(len(head)):
            assert head_end(head[:place], head[place:] + b"{}" + head) == len(head) - place
            assert head_end(b"", head[:place]) == 0
    assert head_end(b"", b"GET / HTTP/1.1") == 0


def test_several_lengths_are_seen_in_one_header() -> None:
    for lengths, seen in ((b"2", False), (b"2, 2", True), (b"2 ,\t2", True), (b"2\r\nA: b, c", False)):
        assert has_several_lengths(b"POST / HTTP/1.1\r\ncontent-Length: " + lengths + b"\r\n\r\n") == seen
