"""Records are made by their constructors, but in the files whose bench row earned them the short way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.trees import nodes

# What a row of the benches takes longer with the constructor: medians of ten processes of each, in which two of
# the same code differ by up to 2 %.
EARNED = {
    "labkit/front/vault.py": "a refused request: 3 to 4 %",
    "labkit/sim/network.py": "a message, traced or not: 15 %",
    "labkit/vault/engines/kv/versions.py": "KV write, 200 bytes: 3 to 4 %",
    "labkit/vault/token_record.py": "token create: 2 %",
    "labkit/vault/walk/request_answer.py": "KV read, 200 bytes: 3 to 5 %",
    "labkit/vault/walk/request_walk.py": "transit encrypt, 32 bytes: 2 to 4 %",
}


@pytest.mark.slow
def test_only_the_files_that_earned_it_make_records_without_their_constructor(
    modules: list[Path], checkout: Path
) -> None:
    others = [path for path in modules if path != checkout / "labkit" / "service" / "record.py"]
    using = {str(path.relative_to(checkout)) for path in others if takes_new(path.read_text())}

    assert using == set(EARNED)


def test_each_way_to_it_is_seen() -> None:
    assert takes_new("from labkit.service.record import NamedTuple, new\n")
    assert takes_new("from labkit.service.record import new as make\n")
    assert takes_new("from labkit.service import record\nrecord.new(A, ())\n")
    assert takes_new("def make(kind, values):\n    return tuple.__new__(kind, values)\n")
    assert not takes_new("from labkit.service.record import NamedTuple\n\nnew = object.__new__\nnew(object)\n")


def takes_new(code: str) -> bool:
    """Whether code imports ``new`` of ``record``, reaches it through the module, or makes tuples as it does."""
    froms = [
        node for node in nodes(code) if isinstance(node, ast.ImportFrom) and node.module == "labkit.service.record"
    ]
    if any(alias.name == "new" for node in froms for alias in node.names):
        return True
    return any(
        (node.value.id, node.attr) in (("record", "new"), ("tuple", "__new__"))
        for node in nodes(code)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    )
