"""The dashboard: each control is a verb of the lab, and what it shows follows the lab."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import Any

import ipywidgets
import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import ClientPlan, pair
from labkit.service.message import Response
from labkit.trace import Trace
from labkit.views import dashboard as module
from labkit.views.dashboard import Dashboard, _said, dashboard
from labkit.views.dashboard_faults import LINE_FAULTS, NODE_FAULTS, Act
from labkit.views.dashboard_words import WORDS
from labkit.views.keyboard import Keyboard
from labkit.views.trace_lines import last_lines

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


def test_only_the_chosen_direction_is_cut(lab, board):
    board.here.value, board.there.value = "paris", "tokyo"
    board.buttons["cut"].click()

    assert status(board).startswith('lab.cut("paris", "tokyo")')
    assert lab.network.impairment("paris", "tokyo").cut
    assert not lab.network.impairment("tokyo", "paris").cut


def test_each_write_is_another_secret_and_its_answer_is_shown(lab, board):
    board.buttons["write"].click()
    assert status(board).startswith('lab["paris"].post("secret/data/note-1", {"data": {"number": 1}}, timeout="5s")')
    assert " · answered 200 · " in status(board)
    board.target.value = "tokyo"
    board.buttons["write"].click()

    assert "secret/data/note-2" in status(board)
    assert " · refused 400: path disabled in replication DR secondary mode" in status(board)
    assert lab["paris"].get("secret/data/note-1").data["data"] == {"number": 1}


def test_a_write_refused_by_a_standby_says_which_node_is_active(lab, board):
    lab.crash("paris-1")
    board.target.value = "paris-2"
    board.buttons["write"].click()

    assert "refused 307: this node is a standby, the active node is http://paris-1:8200/" in status(board)


def test_a_chosen_node_is_what_is_written_to_crashed_and_unsealed(lab, board):
    board.target.value = "paris-2"
    board.buttons["write"].click()
    assert ', node="paris-2")' in status(board)
    lab.crash("paris-3")
    lab.restart("paris-3")
    board.buttons["crash"].click()
    board.buttons["restart"].click()
    board.buttons["unseal"].click()

    assert status(board).startswith('lab.work_through("unseal", cluster="paris", node="paris-2") · 1 node of paris')
    assert not lab.parts.nodes["paris-2"].vault.sealed
    assert lab.parts.nodes["paris-3"].vault.sealed, "only the chosen one"


def test_a_pair_is_replicated_failed_over_and_pointed_back():
    lab = Lab.triangle()
    board = lab.dashboard()
    board.target.value, board.other.value = "paris", "tokyo"
    board.buttons["replicate"].click()
    assert status(board).startswith('lab.replicate("paris", "tokyo") · tokyo streams from paris')
    board.other.value = "lima"
    board.buttons["replicate"].click()
    board.buttons["failover"].click()
    assert status(board).startswith('lab.failover("paris", "lima") · lima is the primary now')
    board.target.value, board.other.value = "tokyo", "lima"
    board.buttons["repoint"].click()

    assert status(board).startswith('lab["tokyo"].repoint("lima") · tokyo streams from lima')
    assert lab.ledger.rpo().writes == 0


def test_a_promotion_with_no_node_alive_is_in_doubt_at_once(lab, board):
    lab.crash("tokyo")
    at_ns = lab.now
    board.target.value = "tokyo"
    board.buttons["promote"].click()

    assert " · in doubt · RunbookError: " in status(board)
    assert "no node of tokyo is running and unsealed" in status(board)
    assert lab.now - at_ns < SECOND_NS


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("a", "b"), "refused · ValueError: a"),
        (RuntimeError("there was no answer in 5s"), "in doubt · RuntimeError: there was no answer in 5s"),
        (TimeoutError("not in 5s"), "in doubt · TimeoutError: not in 5s"),
        (KeyError(), "refused · KeyError: "),
    ],
)
def test_what_failed_is_named_and_in_doubt_only_where_it_may_have_happened(error, words, lab, board):
    def fail():
        raise error

    board.carry_out(Act("lab.fail()", fail))

    assert status(board) == f"lab.fail() · {words} · now {lab.now / SECOND_NS:.3f} s"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Response(204, {}), "answered 204"),
        (Response(400, {}, {"errors": ["one", "two"]}), "refused 400: one; two"),
        (Response(404, {}, {"errors": []}), "refused 404: no text"),
        (Response(307, {}), "refused 307: this node is a standby, the active node is "),
    ],
)
def test_an_answer_is_said_in_words(answer, words):
    assert _said(answer) == words


def test_what_a_verb_returns_is_shown_only_where_it_is_words(lab, board):
    now = f"now {lab.now / SECOND_NS:.3f} s"

    assert status(board) == f"ready · {now}"
    board.carry_out(Act("lab.do()", lambda: 7))
    assert status(board) == f"lab.do() · {now}"
    board.carry_out(Act("lab.do()", lambda: "done"))
    assert status(board) == f"lab.do() · done · {now}"


def test_what_happened_last_is_twelve_lines_and_at_first_nothing(lab, board):
    def lines(page: str) -> list[str]:
        (shown,) = re.findall(r'<pre tabindex="0" data-lm-suppress-shortcuts="true">(.*)</pre>', page, re.DOTALL)
        return unescape(shown).splitlines()

    assert lines(board.page) == last_lines(lab.trace, 12)
    assert len(lines(board.page)) == 12
    assert lines(dashboard(replace(board.controls, trace=Trace())).page) == ["nothing yet"]


def test_the_second_cluster_and_site_are_chosen_beside_the_first(board):
    assert (board.target.value, board.other.value) == ("paris", "tokyo")
    assert (board.here.value, board.there.value) == ("paris", "tokyo")
    single = dashboard(replace(board.controls, sites=("paris",), clusters={"paris": ("paris-1",)}))

    assert (single.other.value, single.there.value) == ("paris", "paris")


def test_controls_stand_in_rows_by_what_they_act_on(board):
    rows = [[getattr(control, "description", "") for control in row.children] for row in board.box.children[:7]]

    assert rows == [
        ["Step", "Run 1 s", "Run 10 s", "Back 10 s", "Time", "", "Now", "Go on from here"],
        ["Target", "Write", "Crash", "Restart", "Pause", "Resume", "Seal", "Unseal", "Step down"],
        ["Node fault", "Make node fault", "Undo node fault"],
        ["Other cluster", "Replicate", "Re-point", "Fail over", "Promote", "Demote"],
        ["Site", "Other site", "Partition", "Cut one way", "Heal", "Heal all"],
        ["Line fault", "Make line fault", "Undo line fault"],
        ["Layer of the index", "Corrupt", "Reindex"],
    ]
    reasons, status, keyboard = board.box.children[7:]
    assert (reasons, status) == (board.reasons, board.status)
    assert isinstance(keyboard, Keyboard)


def test_what_got_no_answer_is_in_doubt(lab, board):
    board.target.value = "paris-1"
    lab.crash("paris-1")
    board.buttons["write"].click()

    assert " · in doubt · Silence: " in status(board)


def test_a_broken_rule_stands_above_everything_else(lab, board):
    assert "rule broken" not in board.status.value + board.page
    board.here.value, board.there.value = "paris", "tokyo"
    board.buttons["partition"].click()
    board.target.value = "tokyo"
    board.buttons["promote"].click()

    assert 'role="alert"><strong>× rule broken: one primary</strong>' in board.status.value
    assert "paris and tokyo accept writes" in board.status.value
    assert board.page.index("rule broken: one primary") < board.page.index("<svg")


def test_beside_the_controls_a_broken_rule_is_shown_once(board):
    """The page shows it for readers without widgets."""
    beside = ".jp-OutputArea-child:has(.labkit-board)~.jp-OutputArea-child .labkit-broken{display:none}"

    assert beside in board.page
    assert "labkit-board" in board.box._dom_classes


def test_it_fits_a_window_of_800_pixels_and_wraps_below(board):
    """Beside the notebook's own margins, some 620 pixels are left of 800."""
    assert all(int(least) <= 620 for least in re.findall(r"--least:(\d+)px", board.page))
    for row in board.box.children[:7]:
        assert (row.layout.flex_flow, row.layout.overflow) == ("row wrap", "visible")
        assert all(part.layout.width == "auto" for part in row.children if part is not board.time.slider)


def test_what_cannot_be_done_is_shown_as_text(lab, board):
    before_ns = lab.now
    board.there.value = board.here.value
    board.buttons["partition"].click()
    assert "refused · ValueError: a, b: expected two different sites" in status(board)
    board.target.value = "paris"
    board.buttons["promote"].click()

    assert "refused · RunbookError: start an operation token on paris" in status(board)
    assert lab.step()
    assert lab.now > before_ns, "the lab stays open"


def test_an_error_that_looks_like_markup_stays_text(lab, board):
    def fail():
        raise ValueError("<script>alert(1)</script> & co")

    board.carry_out(Act("lab.fail()", fail))

    assert "<script>" not in board.status.value
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co" in board.status.value


@pytest.mark.slow
def test_every_line_that_is_shown_is_python_that_does_the_same(streaming):
    """The controls are short forms: the line, run on another copy of the lab, ends in the same history."""
    driven, lab = Lab.restore(streaming), Lab.restore(streaming)
    board = driven.dashboard()
    lab.keep_checkpoints()
    names: dict[str, Any] = {"lab": lab}
    board.here.value, board.there.value = "paris", "tokyo"
    for target, other in (("paris", "tokyo"), ("tokyo-1", "paris")):
        board.target.value, board.other.value = target, other
        for name in WORDS:
            board.buttons[name].click()
            line = status(board).partition(" · ")[0]
            try:
                exec(line, names)
            except (RuntimeError, TimeoutError, ValueError):
                assert "refused" in status(board) or "in doubt" in status(board)

    assert board.lab is not driven, "it went back"
    assert isinstance(board.lab, Lab)
    assert names["lab"].trace.digest() == board.lab.trace.digest()
    assert names["lab"].now == board.lab.now


def test_an_earlier_instant_is_shown_and_the_lab_stays_as_it_is(lab, board):
    since_ns = lab.now
    for name in ("run 1s", "crash", "run 1s"):
        board.buttons[name].click()
    before, digest = lab.now, lab.trace.digest()
    present = board.page
    assert (board.time.slider.min, board.time.slider.max) == (since_ns / SECOND_NS, lab.now / SECOND_NS)
    board.time.slider.value = since_ns / SECOND_NS + 0.5

    assert "fault: crash" in present
    assert "fault: crash" not in board.page
    assert status(board).endswith(f"shown as it was at {board._shown.now_ns() / SECOND_NS:.3f} s")
    assert board._shown.now_ns() == (since_ns + SECOND_NS // 2) // 1_000_000 * 1_000_000
    assert (lab.now, lab.trace.digest(), board.lab) == (before, digest, lab)
    enabled = {name for name, button in board.buttons.items() if not button.disabled}
    assert enabled == {"now", "go on"}
    board.buttons["now"].click()
    assert board.page == present
    assert board.buttons["now"].disabled


def test_the_lab_goes_on_from_an_earlier_instant(lab, board):
    since_ns = lab.now
    board.buttons["run 1s"].click()
    board.target.value = "tokyo"
    board.buttons["crash"].click()
    board.buttons["run 1s"].click()
    board.time.slider.value = (since_ns + SECOND_NS // 2) / SECOND_NS
    board.buttons["go on"].click()

    assert board.lab is not lab
    assert isinstance(board.lab, Lab)
    at_ns = (since_ns + SECOND_NS // 2) // 1_000_000 * 1_000_000
    assert (board.lab.now, board.lab["tokyo"].mode) == (at_ns, "secondary")
    assert status(board).startswith(f'lab = lab.at("{at_ns / SECOND_NS:g}s")')
    board.buttons["run 1s"].click()
    assert (board.lab.now, lab.now) == (at_ns + SECOND_NS, since_ns + 2 * SECOND_NS)
    board.buttons["back"].click()
    assert board.lab.now == since_ns, "no further back than it was shown from"


def test_what_makes_no_sense_now_is_disabled_and_says_why(board):
    board.target.value = "paris-1"
    restart = board.buttons["restart"]
    assert (restart.disabled, restart.tooltip) == (True, "not now: no node is down")
    assert "<li>Restart: no node is down</li>" in board.reasons.value
    board.buttons["crash"].click()
    assert (restart.disabled, restart.tooltip) == (False, WORDS["restart"][1])
    board.target.value = "paris-2"
    assert restart.tooltip == "not now: not for paris-2, but for paris, paris-1"
    assert board.buttons["replicate"].tooltip.startswith("not now: ")


def test_it_shows_map_timeline_and_the_last_of_the_trace_and_follows_the_lab(lab, board):
    first = board.page
    board.target.value = "tokyo"
    board.buttons["crash"].click()

    assert board.page != first
    assert board.page.count("<svg") == 2
    assert lab.map().svg in board.page
    assert lab.timeline().svg in board.page
    assert "fault: crash tokyo-1" in board.page


def test_every_control_has_words_and_can_be_reached_by_keyboard(board):
    controls = [one for one in widgets_of(board.box) if isinstance(one, ipywidgets.Button | ipywidgets.Dropdown)]

    assert len(controls) == len(WORDS) + 7
    assert all(control.description for control in controls)
    assert all(control.tooltip for control in controls if isinstance(control, ipywidgets.Button))
    disabled = [control for control in controls if control.disabled]
    assert all(control.tooltip.startswith("not now: ") for control in disabled)
    assert all(control.description in board.reasons.value for control in disabled)
    assert len({control.description for control in controls}) == len(controls)
    assert 'role="status"' in board.status.value
    assert 'tabindex="0"' in board.page, "what scrolls can be scrolled by keyboard"


def test_targets_are_clusters_and_nodes_and_lines_join_sites(board):
    assert board.target.options[:4] == ("paris", "paris-1", "paris-2", "paris-3")
    assert board.here.options == board.there.options == ("paris", "tokyo", "lisbon")
    assert board.here.value != board.there.value


def test_no_output_is_captured(board):
    assert not [one for one in widgets_of(board.box) if isinstance(one, ipywidgets.Output)]


def test_where_widgets_do_not_live_the_pictures_show_all_the_same(lab, board):
    bundle = board._repr_mimebundle_()

    assert bundle == {"text/html": board.page, "text/plain": repr(board)}
    assert repr(board) == f"Dashboard(paris, tokyo; {lab.now / SECOND_NS:.3f} s)"


def test_a_notebook_keeps_the_page_as_an_output_of_its_own_and_up_to_date(lab, board, monkeypatch):
    shown: list[tuple[str, dict[str, str], dict[str, Any]]] = []
    for name in ("display", "update_display"):
        monkeypatch.setattr(module, name, lambda bundle, name=name, **how: shown.append((name, bundle, how)))
    board.buttons["step"].click()
    assert shown == [], "nothing is drawn where nothing is shown"
    board._ipython_display_()
    board.buttons["run 1s"].click()
    (_, controls, _), (_, page, how), (verb, after, again) = shown

    assert "application/vnd.jupyter.widget-view+json" in controls
    assert controls["text/html"] == "", "the page is not shown twice"
    assert "application/vnd.jupyter.widget-view+json" not in page
    assert page["text/html"].count("<svg") == 2
    assert (verb, after["text/html"]) == ("update_display", board.page)
    assert how["display_id"] == again["display_id"]
    assert how["raw"]
    assert again["raw"]


def test_two_dashboards_of_one_lab_have_pages_of_their_own(lab):
    assert lab.dashboard()._page_id != lab.dashboard()._page_id


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


def test_the_active_node_steps_down_and_another_leads(lab, board):
    before = lab["paris"].active
    board.buttons["step down"].click()
    assert "answered 204" in status(board)
    lab.run("2s")
    assert lab["paris"].active not in ("", before)


def test_a_cluster_is_sealed_and_unsealed(lab, board):
    node = lab.parts.nodes[lab["paris"].active]
    board.buttons["seal"].click()
    assert status(board).startswith('lab["paris"].seal()')
    assert node.vault.sealed
    board.buttons["unseal"].click()
    assert not node.vault.sealed


def test_an_index_is_corrupted_and_made_again(lab, board):
    board.target.value, board.layer.value = "tokyo-2", "page"
    board.buttons["corrupt"].click()
    assert status(board).startswith('lab.corrupt("tokyo", layer="page")')
    assert (
        lab["tokyo"]
        .merkle_check()
        .data["merkle_corruption_report"]["corrupted_tree_map"]["1"]["corrupted_index_tuples_map"]
    )
    board.buttons["reindex"].click()
    assert status(board).startswith('lab["tokyo"].reindex()')
    assert "refused" not in status(board)


@pytest.mark.parametrize("form", NODE_FAULTS, ids=lambda form: form.words)
def test_each_fault_of_a_node_is_made_and_undone(lab, board, form):
    board.target.value, board.node_fault.value = "tokyo", form.words
    board.buttons["make node fault"].click()
    assert "refused" not in status(board)
    board.buttons["undo node fault"].click()

    assert status(board).startswith(f'lab.{form.undoing}("tokyo")')
    assert "refused" not in status(board)


@pytest.mark.parametrize("form", LINE_FAULTS, ids=lambda form: form.words)
def test_each_fault_of_a_line_is_made_and_undone(lab, board, form):
    assert lab.network.impaired() == ()
    board.line_fault.value = form.words
    board.buttons["make line fault"].click()
    changed = lab.network.impaired()
    board.buttons["undo line fault"].click()

    assert ("paris", "tokyo") in changed or (form.verb, lab.parts.flapping != {}) == ("flap", True)
    assert (("tokyo", "paris") in changed) == (len(changed) == 2)
    assert lab.network.impaired() == ()
