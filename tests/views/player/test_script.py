"""Script: the modules are short and stand in order, and one script is made of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.views.player.data import data_of
from labkit.views.player.recorded.recording import recording_of
from labkit.views.player.script import DATA, MODULES, OWN, START, modules, script, short_keys
from labkit.views.player.shortening import SIGN, SPACE, ScriptPart, parts_of
from labkit.views.player.stage import stage_of
from labkit.views.player.style import STATIC
from tests import environment
from tests.browser import BROWSER, Browser, in_a_browser
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


def test_properties_of_the_script_alone_are_in_no_data_and_no_text() -> None:
    lab = Lab.pair(seed=7)
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    lab.corrupt("tokyo")
    recording = recording_of(lab.queries, lab.invariants, None, lab._pictures)

    def names(value: Any) -> Iterator[str]:
        for name, part in (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        ):
            yield str(name)
            yield from names(part)

    assert recording.trees is not None
    keys = {*names(data_of(recording, stage_of(recording))), "beside", "apart", "axis"}
    assert set(OWN) & keys == set()
    assert set(DATA) <= keys
    assert len({*OWN, *DATA}) == len(OWN + DATA)
    for name in DATA:
        assert not re.search(rf"[\"']{name}[\"']", modules()), f"{name} is named by a text too"
    for name in OWN + DATA:
        assert re.search(rf"[.{{,(] ?{name}\b", modules()), name
        assert not re.search(rf"dataset\.{name}\b", modules()), name


@pytest.mark.slow
@in_a_browser
def test_properties_of_the_script_alone_are_no_browser_s() -> None:
    script = """(() => {
      const made = ["div", "table", "button"].map((name) => document.createElement(name));
      made.push(document.createElementNS("http://www.w3.org/2000/svg", "svg"), new PointerEvent("click"));
      made.push(new Map(), [], "", new Float64Array(1), new DOMRect(), document, window, new ResizeObserver(() => {}));
      made.push(new KeyboardEvent("up"));
      return %s.filter((name) => made.some((one) => name in Object(one)));
    })()"""
    with Browser(str(BROWSER)) as browser:
        assert browser.evaluate(script % list(OWN + DATA)) == []


def test_a_page_s_data_has_the_keys_that_its_script_asks_for(drilled_lab: Lab) -> None:
    page = drilled_lab.play().html
    names = short_keys(frozenset({"trees", "beside"}))
    found = page[page.index("startPlayer({") :]

    assert set(names) == set(DATA)
    for name, short in names.items():
        assert f'"{short}":' in found
        assert f'"{name}":' not in found
    assert f".{names['kinds']}" in script(frozenset({"trees", "beside"}))


def test_what_is_left_out_is_not_in_it() -> None:
    assert "readTrees" in modules()
    assert "readTrees" not in modules({"trees"})
    assert len(script(frozenset({"trees", "beside"}))) < len(script())
