"""The dashboard: each control is a verb of the lab, and what it shows follows the lab."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import Any

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
def lab(streaming):
    """A copy of it."""
    return Lab.restore(streaming)


@pytest.fixture
def board(lab):
    """The dashboard of that copy."""
    return lab.dashboard()


def widgets_of(box):
    """All widgets below a box, in reading order."""
    for child in getattr(box, "children", ()):
        yield child
        yield from widgets_of(child)


def status(board: Dashboard) -> str:
    """The line of what was done and what came of it, without its markup."""
    return unescape(re.sub(r"<[^>]+>", "", board.status.value))


@pytest.mark.parametrize(("name", "line"), [("run 1s", 'lab.run("1s")'), ("run 10s", 'lab.run("10s")')])
def test_time_passes(lab, board, name, line):
    at_ns = lab.now
    board.buttons[name].click()

    assert lab.now - at_ns == int(name[4:-1]) * SECOND_NS
    assert status(board).startswith(line)


def test_a_step_is_the_next_thing_that_happens(lab, board):
    due_ns = lab.parts.clock.pending()[0][0]
    board.buttons["step"].click()

    assert lab.now == due_ns
    assert status(board).startswith("lab.step()")


def test_a_node_or_a_whole_cluster_crashes_restarts_and_is_unsealed(lab, board):
    board.target.value = "paris-2"
    board.buttons["crash"].click()
    assert not lab.queries.is_running("paris-2")
    assert status(board).startswith('lab.crash("paris-2")')
    board.target.value = "paris"
    board.buttons["crash"].click()
    assert not lab.queries.is_running("paris-1")
    board.buttons["restart"].click()
    assert lab.queries.is_running("paris-1")
    board.buttons["unseal"].click()

    assert status(board).startswith('lab["paris"].unseal() · 3 nodes of paris unsealed')


def test_a_node_stands_for_its_cluster_where_the_verb_is_the_clusters(lab, board):
    board.target.value = "tokyo-3"
    board.buttons["promote"].click()

    assert status(board).startswith('lab["tokyo"].promote() · tokyo is the primary now')
    assert lab["tokyo"].mode == "primary"
    board.target.value = "paris"
    board.buttons["demote"].click()
    assert lab["paris"].mode == "secondary"


def test_lines_are_cut_and_restored(lab, board):
    board.here.value, board.there.value = "paris", "lisbon"
    board.buttons["partition"].click()
    assert not lab.network.reachable("paris", "lisbon")
    assert status(board).startswith('lab.partition("paris", "lisbon")')
    board.buttons["heal"].click()
    assert lab.network.reachable("paris", "lisbon")
    board.buttons["partition"].click()
    board.buttons["heal all"].click()
    assert lab.network.reachable("paris", "lisbon")


def test_what_cannot_be_done_is_shown_as_text(lab, board):
    before = lab.parts.clock.pending()
    board.there.value = board.here.value
    board.buttons["partition"].click()
    assert "refused · ValueError: a, b: expected two different sites" in status(board)
    board.target.value = "paris"
    board.buttons["promote"].click()

    assert "refused · RunbookError: start an operation token on paris" in status(board)
    assert lab.parts.clock.pending() != before, "the lab stays open"


def test_an_error_that_looks_like_markup_stays_text(lab, board):
    def fail():
        raise ValueError("<script>alert(1)</script> & co")

    board.carry_out(lambda: ("lab.fail()", fail))

    assert "<script>" not in board.status.value
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co" in board.status.value


def test_every_line_that_is_shown_is_python_that_does_the_same(streaming):
    """The controls are short forms: the line, run on another copy of the lab, ends in the same history."""
    driven, lab = Lab.restore(streaming), Lab.restore(streaming)
    board = driven.dashboard()
    board.here.value, board.there.value = "paris", "tokyo"
    board.target.value = "paris"
    for name in WORDS:
        board.buttons[name].click()
        line = status(board).partition(" · ")[0]
        try:
            exec(line, {"lab": lab})
        except RuntimeError:
            assert "refused" in status(board)

    assert lab.trace.digest() == driven.trace.digest()
    assert lab.now == driven.now


def test_it_shows_map_timeline_and_the_last_of_the_trace_and_follows_the_lab(lab, board):
    first = board.view.value
    board.target.value = "tokyo"
    board.buttons["crash"].click()

    assert board.view.value != first
    assert board.view.value.count("<svg") == 2
    assert lab.map().svg in board.view.value
    assert lab.timeline().svg in board.view.value
    assert "fault: crash tokyo-1" in board.view.value


def test_every_control_has_words_and_can_be_reached_by_keyboard(board):
    controls = [one for one in widgets_of(board.box) if isinstance(one, ipywidgets.Button | ipywidgets.Dropdown)]

    assert len(controls) == len(WORDS) + 3
    assert all(control.description for control in controls)
    assert all(control.tooltip for control in controls if isinstance(control, ipywidgets.Button))
    assert not any(control.disabled for control in controls)
    assert len({control.description for control in controls}) == len(controls)
    assert 'role="status"' in board.status.value
    assert 'tabindex="0"' in board.view.value, "what scrolls can be scrolled by keyboard"


def test_targets_are_clusters_and_nodes_and_lines_join_sites(board):
    assert board.target.options[:4] == ("paris", "paris-1", "paris-2", "paris-3")
    assert board.here.options == board.there.options == ("paris", "tokyo", "lisbon")
    assert board.here.value != board.there.value


def test_no_output_is_captured(board):
    assert not [one for one in widgets_of(board.box) if isinstance(one, ipywidgets.Output)]


def test_where_widgets_do_not_live_the_pictures_show_all_the_same(lab, board):
    bundle = board._repr_mimebundle_()

    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"] == board.view.value
    assert bundle["text/plain"] == repr(board) == f"Dashboard(paris, tokyo; {lab.now / SECOND_NS:.3f} s)"


def test_it_is_handed_callables(board):
    moved: list[Any] = []
    controls = replace(board.controls, run=moved.append)
    dashboard(controls).buttons["run 10s"].click()

    assert moved == ["10s"]


def test_looking_changes_nothing(streaming):
    lab, other = Lab.restore(streaming), Lab.restore(streaming)
    lab.dashboard()

    assert lab.trace.digest() == other.trace.digest()
    assert lab.parts.clock.pending() == other.parts.clock.pending()
