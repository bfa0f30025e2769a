"""The dashboard: each control is a verb of the lab, and what it shows follows the lab."""

from __future__ import annotations

import re
from html import unescape

import ipywidgets
import pytest

from labkit import Lab
from labkit.lab.blueprint import ClientPlan, pair
from labkit.views.dashboard import WORDS, Dashboard, dashboard

SECOND_NS = 1_000_000_000


@pytest.fixture(scope="module")
def streaming():
    """The pair, replicating."""
    lab = Lab(pair().with_clients(ClientPlan(name="shop", site="lisbon", use=("paris",))))
    lab.replicate("paris", "tokyo")
    return lab.run("1s").snapshot()


@pytest.fixture
def board(streaming):
    """The dashboard of it."""
    return dashboard(Lab.restore(streaming))


def widgets_of(box):
    """All widgets below a box, in reading order."""
    for child in getattr(box, "children", ()):
        yield child
        yield from widgets_of(child)


def told(board: Dashboard) -> str:
    """The line of what was done and what came of it, without its markup."""
    return unescape(re.sub(r"<[^>]+>", "", board.told.value))


@pytest.mark.parametrize(("name", "line"), [("run 1s", 'lab.run("1s")'), ("run 10s", 'lab.run("10s")')])
def test_time_passes(board, name, line):
    at_ns = board.lab.now
    board.buttons[name].click()

    assert board.lab.now - at_ns == int(name[4:-1]) * SECOND_NS
    assert told(board).startswith(line)


def test_a_step_is_the_next_thing_that_happens(board):
    due_ns = board.lab.parts.clock.pending()[0][0]
    board.buttons["step"].click()

    assert board.lab.now == due_ns
    assert told(board).startswith("lab.step()")


def test_a_node_or_a_whole_cluster_crashes_restarts_and_is_unsealed(board):
    board.target.value = "paris-2"
    board.buttons["crash"].click()
    assert not board.lab.queries.is_running("paris-2")
    assert told(board).startswith('lab.crash("paris-2")')
    board.target.value = "paris"
    board.buttons["crash"].click()
    assert not board.lab.queries.is_running("paris-1")
    board.buttons["restart"].click()
    assert board.lab.queries.is_running("paris-1")
    board.buttons["unseal"].click()

    assert told(board).startswith('lab["paris"].unseal() · 3 nodes of paris unsealed')


def test_a_node_stands_for_its_cluster_where_the_verb_is_the_clusters(board):
    board.target.value = "tokyo-3"
    board.buttons["promote"].click()

    assert told(board).startswith('lab["tokyo"].promote() · tokyo is the primary now')
    assert board.lab["tokyo"].mode == "primary"
    board.target.value = "paris"
    board.buttons["demote"].click()
    assert board.lab["paris"].mode == "secondary"


def test_lines_are_cut_and_mended(board):
    board.here.value, board.there.value = "paris", "lisbon"
    board.buttons["partition"].click()
    assert not board.lab.network.reachable("paris", "lisbon")
    assert told(board).startswith('lab.partition("paris", "lisbon")')
    board.buttons["heal"].click()
    assert board.lab.network.reachable("paris", "lisbon")
    board.buttons["partition"].click()
    board.buttons["heal all"].click()
    assert board.lab.network.reachable("paris", "lisbon")


def test_what_cannot_be_is_told_as_text(board):
    before = board.lab.parts.clock.pending()
    board.there.value = board.here.value
    board.buttons["partition"].click()
    assert "refused · ValueError: partition needs two different sites" in told(board)
    board.target.value = "paris"
    board.buttons["promote"].click()

    assert "refused · RunbookError: start an operation token on paris" in told(board)
    assert board.lab.parts.clock.pending() != before, "the lab stays open"


def test_an_error_that_looks_like_markup_stays_text(board):
    def fail():
        raise ValueError("<script>alert(1)</script> & co")

    board.carry_out(lambda: ("lab.fail()", fail))

    assert "<script>" not in board.told.value
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co" in board.told.value


def test_every_line_that_is_shown_is_python_that_does_the_same(streaming):
    """The controls are short forms: the line, run on another copy of the lab, ends in the same history."""
    board, lab = dashboard(Lab.restore(streaming)), Lab.restore(streaming)
    board.here.value, board.there.value = "paris", "tokyo"
    board.target.value = "paris"
    for name in WORDS:
        board.buttons[name].click()
        line = told(board).partition(" · ")[0]
        try:
            exec(line, {"lab": lab})
        except RuntimeError:
            assert "refused" in told(board)

    assert lab.trace.digest() == board.lab.trace.digest()
    assert lab.now == board.lab.now


def test_it_shows_map_timeline_and_the_last_of_the_trace_and_follows_the_lab(board):
    first = board.seen.value
    board.target.value = "tokyo"
    board.buttons["crash"].click()

    assert board.seen.value != first
    assert board.seen.value.count("<svg") == 2
    assert board.lab.map().svg in board.seen.value
    assert board.lab.timeline().svg in board.seen.value
    assert "fault: crash tokyo-1" in board.seen.value


def test_every_control_has_words_and_can_be_reached_by_keyboard(board):
    controls = [one for one in widgets_of(board.box) if isinstance(one, ipywidgets.Button | ipywidgets.Dropdown)]

    assert len(controls) == len(WORDS) + 3
    assert all(control.description for control in controls)
    assert all(control.tooltip for control in controls if isinstance(control, ipywidgets.Button))
    assert not any(control.disabled for control in controls)
    assert len({control.description for control in controls}) == len(controls)
    assert 'role="status"' in board.told.value
    assert 'tabindex="0"' in board.seen.value, "what scrolls can be scrolled by keyboard"


def test_targets_are_clusters_and_nodes_and_lines_join_sites(board):
    assert board.target.options[:4] == ("paris", "paris-1", "paris-2", "paris-3")
    assert board.here.options == board.there.options == ("paris", "tokyo", "lisbon")
    assert board.here.value != board.there.value


def test_no_output_is_captured(board):
    assert not [one for one in widgets_of(board.box) if isinstance(one, ipywidgets.Output)]


def test_where_widgets_do_not_live_the_pictures_show_all_the_same(board):
    bundle = board._repr_mimebundle_()

    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"] == board.seen.value
    assert bundle["text/plain"] == repr(board) == f"Dashboard({board.lab!r})"


def test_the_lab_has_it_at_hand(streaming):
    lab = Lab.restore(streaming)

    assert isinstance(lab.dashboard(), Dashboard)
    assert lab.dashboard().lab is lab


def test_looking_changes_nothing(streaming):
    lab, other = Lab.restore(streaming), Lab.restore(streaming)
    dashboard(lab)

    assert lab.trace.digest() == other.trace.digest()
    assert lab.parts.clock.pending() == other.parts.clock.pending()
