"""The explorer of an index: it shows what the picture shows, and answers only what is asked of its instant."""

from __future__ import annotations

import json
import shutil
import subprocess
from base64 import b64encode

import pytest

from labkit import Lab
from labkit.views import colours
from labkit.views.contents.merkle_contents import contents_of
from labkit.views.layout.merkle_layout import layout
from labkit.views.merkle import MerkleView, draw
from labkit.views.merkle_explorer import STATIC, STYLE, MerkleExplorer, index_of, page_of
from tests import environment
from tests.views.layout.test_merkle_layout import index as some_index

MAX_LINES = 300


@pytest.fixture(scope="module")
def apart() -> Lab:
    """Tokyo is cut off, behind by some secrets, and has a damaged page."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    for number in range(6):
        lab["paris"].post(f"secret/data/app-{number}", {"data": {"x": number}})
    lab.run("1s")
    lab.corrupt("tokyo", layer="page")
    lab.partition("paris", "tokyo")
    for number in range(2):
        lab["paris"].post(f"secret/data/app-{number}", {"data": {"x": -number}})
    return lab


def test_the_index_is_that_of_the_picture(apart):
    view = apart["tokyo"].merkle()
    shown = index_of(view.contents)

    assert shown["title"] == view.picture.title
    assert shown["summary"] == view.picture.description
    assert [tree["digest"] for tree in shown["trees"]] == [tree.root for tree in view.contents.subtrees]
    for drawn, tree in zip(shown["trees"], view.contents.subtrees, strict=True):
        cells = {number: (leaves, states) for number, leaves, states in drawn["pages"]}
        for page in tree.pages:
            names = [name for name in ("damaged", "differs", "pending") if getattr(page, name)]
            assert cells.get(page.number, (0, [])) == (page.leaves, names)
        assert drawn["leaves"] == sum(page.leaves for page in tree.pages)


def test_the_page_has_its_subpages_and_keys():
    contents = some_index()
    page = page_of(contents)
    assert contents.chosen is not None

    assert (page["tree"], page["number"]) == (contents.chosen.tree, contents.chosen.number)
    assert [leaf["name"] for leaf in page["leaves"]] == [leaf.name for leaf in contents.chosen.leaves]
    assert [leaf["differs"] for leaf in page["leaves"]] == [leaf.here != leaf.there for leaf in contents.chosen.leaves]
    assert page_of(contents._replace(chosen=None)) == {}
    alone = page_of(contents._replace(other=""))
    assert not any(leaf["differs"] or leaf["compared"] for leaf in alone["leaves"])


def test_a_page_that_is_asked_for_is_sent(apart):
    explorer = apart["tokyo"].merkle().explore()
    first = dict(explorer.page)
    explorer._on_message(None, {"tree": "local", "page": 3}, None)

    assert first["tree"] == "replicated"
    assert (explorer.page["tree"], explorer.page["number"]) == ("local", 3)
    assert explorer.page == page_of(contents_of(apart.queries, "tokyo", None, ("local", 3)))
    explorer._on_message(None, {"tree": first["tree"], "page": first["number"]}, None)
    assert explorer.page == first
    assert explorer.note == ""


@pytest.mark.parametrize(
    "asked",
    [{}, None, [], "page", {"tree": "x", "page": 3}, {"tree": "local", "page": 256}, {"tree": "local", "page": "3"}],
)
def test_what_is_no_question_is_answered_by_a_note(apart, asked):
    explorer = apart["tokyo"].merkle().explore()
    before, notes = dict(explorer.page), []
    explorer.observe(lambda change: notes.append(change["new"]), "note")
    explorer._on_message(None, asked, None)
    explorer._on_message(None, asked, None)

    assert explorer.page == before
    assert [bool(note) for note in notes] == [True, False, True], "the same note is sent again"


def test_the_index_of_another_instant_is_not_mixed_in(apart):
    lab = Lab.restore(apart.snapshot())
    explorer = lab["tokyo"].merkle().explore()
    then_s = lab.now / 1e9
    lab.run("1s")
    explorer._on_message(None, {"tree": "local", "page": 3}, None)
    assert explorer.note == f"this is the index at {then_s:.3f} s, and the lab is at {then_s + 1:.3f} s: show it again"
    assert explorer.page["tree"] == "replicated"

    lab["tokyo"].disable()
    explorer._on_message(None, {"tree": "local", "page": 3}, None)
    assert "keeps no Merkle index" in explorer.note


def test_what_is_sent_is_plain_and_small(apart):
    explorer = apart["tokyo"].merkle().explore()
    sent = json.dumps([explorer.index, explorer.page])
    assert json.loads(sent) == [explorer.index, explorer.page]
    assert len(sent) < 20_000


def test_a_notebook_shows_the_picture_and_below_it_the_widget_and_anything_else_the_picture(apart, monkeypatch):
    view, shown = apart["tokyo"].merkle(), []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    view._ipython_display_()
    assert shown == [{"text/html": view._repr_html_(), "text/plain": repr(view)}]
    monkeypatch.setattr("labkit.views.merkle._in_notebook", lambda: True)
    view._ipython_display_()
    assert shown[1] == shown[0]
    assert "application/vnd.jupyter.widget-view+json" in shown[2]
    assert (shown[2]["text/html"], shown[2]["text/plain"]) == ("", ""), "an export shows the picture once"


def test_a_view_without_a_lab_shows_its_own_page_only():
    contents = some_index()
    explorer = MerkleView(draw(layout(contents)), contents).explore()
    assert isinstance(explorer, MerkleExplorer)
    explorer._on_message(None, {"tree": "local", "page": 3}, None)
    assert explorer.page == page_of(contents)


def test_the_script_stands_by_itself_and_is_short():
    script = (STATIC / "merkle.js").read_text(encoding="utf-8")
    assert len(script.splitlines()) <= MAX_LINES
    assert "import " not in script
    assert "http" not in script
    assert "innerHTML" not in script, "names are put in as text"


def test_colours_follow_the_page_as_those_of_pictures_do():
    assert colours.variables(".labkit-merkle") in STYLE
    assert not [value for value in (*colours.LIGHT.values(), *colours.DARK.values()) if STYLE.count(value) > 4]


MOVES = """
import { levelOf, moved, nextMarked } from "data:text/javascript;base64,%s";
const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "x"];
const index = JSON.parse(process.argv[1]), page = JSON.parse(process.argv[2]);
const levels = [[], [0], [0, page.number], [0, page.number, page.leaves[0].subpage]];
console.log(JSON.stringify({
  corner: keys.map((key) => moved(key, 0, 16, 256)),
  last: keys.map((key) => moved(key, 255, 16, 256)),
  middle: keys.map((key) => moved(key, 20, 16, 256)),
  short: keys.map((key) => moved(key, 2, 2, 3)),
  marked: [nextMarked([{states: []}, {states: ["differs"]}], 0), nextMarked([{states: []}], 0), nextMarked([], 0)],
  levels: levels.map((place) => levelOf(index, page, place)),
}));
"""


def test_the_script_moves_and_speaks_where_it_can_be_run(apart):
    if shutil.which("node") is None:
        return
    explorer = apart["tokyo"].merkle().explore()
    source = b64encode((STATIC / "merkle.js").read_bytes()).decode()
    arguments = [json.dumps(explorer.index), json.dumps(explorer.page)]
    command = ["node", "--input-type=module", "-e", MOVES % source, *arguments]
    done = subprocess.run(command, env=environment.users(), capture_output=True, check=True, text=True)
    said = json.loads(done.stdout)

    assert said["corner"] == [0, 1, 0, 16, 0, 15, None]
    assert said["last"] == [254, 255, 239, 255, 240, 255, None]
    assert said["middle"] == [19, 21, 4, 36, 16, 31, None]
    assert said["short"] == [1, 2, 0, 2, 2, 2, None]
    assert said["marked"] == [1, None, None]
    trees, pages, subpages, keys = said["levels"]
    assert [len(level["items"]) for level in (trees, pages, subpages)] == [2, 256, 256]
    marked = {item["number"] for item in pages["items"] if item["states"]}
    assert marked == {number for number, _, states in explorer.index["trees"][0]["pages"] if states}
    assert all(item["text"] in "×≠…▪" for item in (*pages["items"], *subpages["items"]))
    assert any("damaged" in item["words"] and item["text"] == "×" for item in pages["items"])
    assert keys["items"][0]["words"].startswith(explorer.page["leaves"][0]["name"])
