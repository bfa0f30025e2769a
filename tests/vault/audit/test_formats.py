"""The spellings of an audit record."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

from labkit.service.limits import MAX_DEPTH
from labkit.vault.audit.devices import make_device
from labkit.vault.audit.formats import to_jsonx, to_line
from labkit.vault.audit.hiding import hide

DEVICE = make_device(["file/", "file", "", [["file_path", "/log"]], "00" * 32, False])
RECORD = {"type": "request", "b": [1, 2.5, "x", None, True], "a": {"c": False, "none": None}}


def test_a_line_is_json_behind_the_device_s_prefix() -> None:
    assert json.loads(to_line(DEVICE, json.dumps(RECORD))) == RECORD
    assert to_line(DEVICE._replace(prefix="@cee: "), '{"a":"ä"}') == '@cee: {"a":"ä"}'.encode()


def test_jsonx_has_an_element_for_each_value_sorted_by_name() -> None:
    assert to_line(DEVICE._replace(format="jsonx", prefix="p"), json.dumps(RECORD)).decode() == (
        "p"
        '<json:object name="a"><json:boolean name="c">false</json:boolean><json:null name="none" /></json:object>'
        '<json:array name="b"><json:number>1</json:number><json:number>2.5</json:number><json:string>x</json:string>'
        '<json:null /><json:boolean>true</json:boolean></json:array><json:string name="type">request</json:string>'
    )


def test_any_text_is_well_formed_jsonx() -> None:
    text = "<&>\"'\n\r\t\0\x1b\ufffeä😀"
    whole = f'<x xmlns:json="j">{to_jsonx({text: text})}</x>'
    (element,) = ElementTree.fromstring(whole)
    shown = text.replace("\0", "\ufffd").replace("\x1b", "\ufffd").replace("\ufffe", "\ufffd")
    assert (element.text, element.get("name")) == (shown, shown)
    assert "\n" not in whole


def test_the_deepest_body_is_written_where_the_stack_is_high_already() -> None:
    deep: Any = {"k": "x"}
    for _ in range(MAX_DEPTH - 1):
        deep = {"k": deep}

    def written(frames: int) -> tuple[str, bytes]:
        if frames:
            return written(frames - 1)
        shown = hide(DEVICE, deep)
        return shown, to_line(DEVICE._replace(format="jsonx"), shown)

    try:
        shown, line = written(200)
    except RecursionError:
        line = b""
    assert line, "it takes more than two frames for each level"
    assert (shown.count("{"), line.count(b"<json:object")) == (MAX_DEPTH, MAX_DEPTH - 1)
