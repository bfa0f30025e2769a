"""The JSON form of policies: what texts mean, and what is refused, in which words."""

from __future__ import annotations

import pytest

from labkit.vault.policies.blocks import MAX_DEPTH
from tests.vault.policies.plain_blocks import numbers, read, refusal


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("{}", []),
        (' \n{"a": 1}', [(("a",), ("number", "1"))]),
        ('{"a": -1.5e3, "b": 12345678901234567890123}', numbers(a="-1.5e3", b="12345678901234567890123")),
        ('{"a": "x\\n\\u00fc\\/", "b": true, "c": null}', [(("a",), "x\nü/"), (("b",), True), (("c",), "")]),
        ('{"a": ["x", ["y"], {"b": "z"}]}', [(("a",), ["x", ["y"], [(("b",), "z")]])]),
        ('{"a": [{"b": 1}, {"c": 2}]}', [(("a",), [(("b",), ("number", "1"))]), (("a",), [(("c",), ("number", "2"))])]),
        ('{"a": {"b": {}}}', [(("a",), [(("b",), [])])]),
        ('{"path": {"x": {}, "y": {"a": []}}}', [(("path", "x"), []), (("path", "y"), [(("a",), [])])]),
        ('{"path": [{"x": {}}, {"x": {}}]}', [(("path", "x"), []), (("path", "x"), [])]),
        ('{"path": {"x": [{}, {}]}}', [(("path", "x"), []), (("path", "x"), [])]),
        ('{"path": {"x": {}}, "path": {"x": {}}}', [(("path", "x"), []), (("path", "x"), [])]),
        ('{"path": "x"}', [(("path",), "x")]),
        ('{"path": []}', [(("path",), [])]),
        ('{"a": NaN}', [(("a",), ("number", "NaN"))]),
    ],
)
def test_json_is_read(text, items) -> None:
    assert read(text) == items


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": ' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), f"nested deeper than {MAX_DEPTH} levels"),
        ('{"a":' + "[" * 100_000, f"nested deeper than {MAX_DEPTH} levels"),
        ('{"a": 1,}', "the text begins like JSON, but is not JSON"),
        ('{\n"a": b}', "the text begins like JSON, but is not JSON"),
        ('{"a": "\\ud800"}', "At 1:7: illegal UTF-8 encoding"),
        ('{"\\ud800": 1}', "At 1:2: illegal UTF-8 encoding"),
        ("{", "the text begins like JSON, but is not JSON"),
        ("{}}", "the text begins like JSON, but is not JSON"),
        ("{} a", "the text begins like JSON, but is not JSON"),
    ],
)
def test_what_cannot_be_json_is_refused(text, message) -> None:
    assert message in refusal(text)
