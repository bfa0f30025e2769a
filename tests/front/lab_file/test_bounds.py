"""Bounds: what is complete and plain passes, and nothing else does."""

from __future__ import annotations

import cbor2
import pytest

from labkit.front.lab_file import bounds
from labkit.front.lab_file.bounds import end_of_item
from labkit.front.lab_file.errors import LabFileError

PLAIN = {"a": [1, -1, 2**64 - 1, 2**70, -(2**70)], (1, "x"): {"y": b"z" * 300, "t": (True, False, None, 1.5)}, "": ""}


def test_the_end_of_an_item_is_found_wherever_it_begins():
    data = cbor2.dumps(PLAIN)

    assert end_of_item(data, 0, ()) == len(data)
    assert end_of_item(b"\x00" + data + b"\x01", 1, ()) == len(data) + 1


def test_no_part_of_an_item_passes():
    data = cbor2.dumps(PLAIN)

    for length in range(len(data)):
        with pytest.raises(LabFileError, match="end"):
            end_of_item(data[:length], 0, ())


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x9f\x01\xff", "definite length"),
        (b"\x5f\x41a\xff", "definite length"),
        (b"\xff", "expected false"),
        (b"\xf7", "expected false"),
        (b"\xf8\x20", "expected false"),
        (b"\xf9\x7c\x00", "expected false"),
        (b"\x1c", "definite length"),
        (b"\xd8\x23\x61a", "got 35"),
        (b"\xd8\x1c\x80", "got 28"),
        (b"\xc2\x01", "at most 2048 bytes"),
        (b"\xc2" + cbor2.dumps(bytes(2_049)), "at most 2048 bytes"),
        (b"\xc2\xc2\x41\x01", "at most 2048 bytes"),
        (b"\x9b" + b"\xff" * 8, "the end"),
        (b"\xbb" + b"\xff" * 8, "the end"),
        (b"\x5b" + b"\xff" * 8, "the end"),
        (b"\x81" * 701 + b"\x00", "700 items inside"),
        (b"", "the end"),
    ],
)
def test_what_no_lab_is_written_with_is_refused(data: bytes, why: str):
    with pytest.raises(LabFileError, match=why):
        end_of_item(data, 0, {7})


def test_only_tags_that_are_given_pass():
    assert end_of_item(b"\xc7\x80", 0, {7}) == 2
    with pytest.raises(LabFileError, match="got 7"):
        end_of_item(b"\xc7\x80", 0, {8})


def test_the_number_of_items_has_a_limit(monkeypatch):
    monkeypatch.setattr(bounds, "MAX_ITEMS", 10)

    assert end_of_item(cbor2.dumps([0] * 9), 0, ()) == 10
    with pytest.raises(LabFileError, match="at most 10 items"):
        end_of_item(cbor2.dumps([0] * 10), 0, ())
