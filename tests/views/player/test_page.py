"""Page: everything is in the document, and it says all without a script; the modules are short and stand in order."""

from __future__ import annotations

import re
from html import unescape

import pytest

from labkit import Lab
from labkit.views.player.happenings import OnlyCounted
from labkit.views.player.page import MODULES, happened_table, script
from labkit.views.player.recording import recording_of
from labkit.views.player.style import STATIC, style

MAX_LINES = 300


def test_the_modules_are_those_there_are_and_short() -> None:
    assert {path.name for path in STATIC.iterdir()} == {"player.css", *(f"{name}.js" for name in MODULES)}
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
    assert not re.search(r"^(?:import|export|//)", script(), re.MULTILINE)
    assert "function startPlayer(" in script()
    declared = re.findall(r"^(?:function|const|let) (\w+)", "\n".join(_modules()), re.MULTILINE)
    assert len(declared) == len(set(declared)), "in one script no two have one name"


def _modules() -> list[str]:
    return [(STATIC / f"{name}.js").read_text(encoding="utf-8") for name in MODULES]


def test_the_style_has_every_colour_that_is_used() -> None:
    used = set(re.findall(r"var\((--labkit-\w+)\)", style()))

    assert used <= set(re.findall(r"(--labkit-\w+):#", style()))
    assert "http" not in style()


def test_the_table_says_everything_without_a_script(drilled_lab: Lab) -> None:
    recording = recording_of(drilled_lab.queries, drilled_lab.invariants)
    page = drilled_lab.play().html
    said = unescape(page)

    for one in recording.happenings:
        assert f"<tr><td>{one.at_ns / 1e9:.3f}<td>{one.kind}<td>{one.words}" in said
    for loss in recording.losses:
        assert loss.write.path in said
    assert drilled_lab.trace.digest()[:16] in page
    assert "Left out" not in page


def test_what_is_left_out_is_said(drilled_lab: Lab) -> None:
    recording = recording_of(drilled_lab.queries, drilled_lab.invariants)
    thinner = recording._replace(total=recording.total + 1_000, left=(OnlyCounted("merkle loop", 60),))

    assert f"Left out: merkle loop 60 times; 1,000 of {recording.total + 1_000:,} messages." in happened_table(thinner)
