"""Script: the modules are short and stand in order, and one script is made of them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from labkit.views.player.script import MODULES, START, modules, script
from labkit.views.player.shortening import SIGN, SPACE, ScriptPart, parts_of
from labkit.views.player.style import STATIC
from tests import environment
from tests.views.player.scripts import NODE

MAX_LINES = 300


def test_the_modules_are_those_there_are_and_short() -> None:
    assert {path.name for path in STATIC.iterdir()} == {"player.css", "trees.css", *(f"{name}.js" for name in MODULES)}
    for name in MODULES:
        module = (STATIC / f"{name}.js").read_text(encoding="utf-8")
        assert len(module.splitlines()) <= MAX_LINES
        assert module.startswith("// ")
        assert "innerHTML" not in module, "names are put in as text"
        assert not re.search(r"\b(?:fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import)\(", module)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_stands_after_those_it_imports_from(name: str) -> None:
    module = (STATIC / f"{name}.js").read_text(encoding="utf-8")
    before = MODULES[: MODULES.index(name)]

    for names, source in re.findall(r"^import \{([^}]*)\} from \"\./(\w+)\.js\";", module, re.MULTILINE):
        assert source in before
        there = (STATIC / f"{source}.js").read_text(encoding="utf-8")
        exported = re.search(r"^export \{([^}]*)\};", there, re.MULTILINE)
        assert exported
        assert set(re.findall(r"\w+", names)) <= set(re.findall(r"\w+", exported[1]))


def test_one_script_is_made_of_them_without_their_comments() -> None:
    assert not re.search(r"^(?:import|export)", modules(), re.MULTILINE)
    assert f"function {START}(" in script()
    assert not re.search(r"// [A-Z]", script())
    assert len(script()) < len(modules()) * 0.6
    declared = re.findall(r"^(?:function|const|let) (\w+)", modules(), re.MULTILINE)
    assert len(declared) == len(set(declared)), "in one script no two have one name"


def test_a_line_ends_where_the_next_may_follow_on_it() -> None:
    goes_on, goes_on_with = (";", "{", "}", ",", "(", "["), (")", "]", "}", ".", ":")
    last, is_end, ends = ScriptPart(SIGN, ";"), False, []
    for part in parts_of(modules()):
        if part.kind == SPACE:
            is_end = is_end or "\n" in part.text
            continue
        if is_end and last.text not in goes_on and part.text not in goes_on_with:
            ends.append(f"{last.text} {part.text}")
        last, is_end = part, False
    assert ends == [], "shortening joins lines: a statement ends with a semicolon"


@pytest.mark.parametrize("left_out", [(), ("trees",), ("beside",), ("trees", "beside")])
def test_a_strict_reader_takes_it(tmp_path: Path, left_out: tuple[str, ...]) -> None:
    if NODE is None:
        return
    path = tmp_path / "script.mjs"  # a module is strict
    path.write_text(script(frozenset(left_out)), encoding="utf-8")
    subprocess.run([NODE, "--check", str(path)], env=environment.users(), capture_output=True, check=True)


def test_what_is_left_out_is_not_in_it() -> None:
    assert "readTrees" in modules()
    assert "readTrees" not in modules({"trees"})
    assert len(script(frozenset({"trees", "beside"}))) < len(script())
