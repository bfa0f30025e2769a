"""The player in a browser: it plays, steps by keys, answers what is asked, and requests nothing."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import Blueprint, ClientPlan, ClusterPlan, LinkPlan, WorkloadPlan, pair
from labkit.places import scenarios
from labkit.service.durations import SECOND_NS
from labkit.views.player.player import Player
from tests.browser import BROWSER, Browser, in_a_browser

KB = 1_024
MAX_FRAME_MS = 4.0
FRAME_MS = """new Promise((done) => {
  let [at, spent, frames] = [19e6, 0, 0];
  const frame = () => {
    const began = performance.now();
    player.show(at, false);
    spent += performance.now() - began;
    frames += 1;
    at += 5e4;
    if (at < 24e6) requestAnimationFrame(frame);
    else done(spent / frames);
  };
  requestAnimationFrame(frame);
})"""
"""How long an instant takes to be shown, on average, of a hundred around a crash, one a frame."""
LOOKED_AT = """new Promise((done) => {
  player.show(%d * 1000);
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const [first] = map.querySelectorAll(".message:not(.small, [visibility=hidden])");
    const [box, place] = [map, first ?? map].map((one) => one.getBoundingClientRect());
    done([(place.top - box.top) / box.height, (place.bottom - box.top) / box.height]);
  }));
})"""
"""How far down in the map's box the message stands that is looked at, its top and bottom."""
TEXT = "document.getElementById('%s').textContent"


@pytest.fixture(scope="module")
def failover() -> Lab:
    """The scenario that the demo plays, at its end."""
    return Lab.load(scenarios() / "first" / "failover.lab.yaml").run()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    assert BROWSER is not None
    with Browser(BROWSER) as opened:
        yield opened


def opened(browser: Browser, player: Player, folder: Path) -> str:
    """Open a player's page from disk, and return its address."""
    path = folder / "run.html"
    player.save(path)
    browser.open(path.as_uri())
    return path.as_uri()


def focus(browser: Browser, name: str) -> None:
    browser.evaluate(f"document.getElementById('{name}').focus()")


def at(browser: Browser) -> float:
    """The instant that is shown, in seconds."""
    return float(browser.evaluate("player.at()")) / 1e6


@pytest.mark.slow
def test_the_page_of_a_failover_is_small_and_names_no_address(failover: Lab) -> None:
    page = failover.play().html

    assert len(page.encode()) <= 400 * KB
    assert len(gzip.compress(page.encode())) <= 80 * KB
    assert re.findall(r"(?:src|href|url)\s*[=(]", page) == []
    assert "default-src 'none'" in page


@pytest.mark.parametrize(
    ("every_ms", "has_trees", "whole", "packed"),
    [(200, False, 80, 20), (200, True, 80, 25), pytest.param(50, False, 200, 40, marks=pytest.mark.slow)],
)
def test_a_minute_of_writes_is_small(every_ms: int, has_trees: bool, whole: int, packed: int) -> None:
    work = WorkloadPlan(operation="put-secret", every_ns=every_ms * 1_000_000, keys=40, from_ns=SECOND_NS)
    shop = ClientPlan(name="shop", site="lisbon", use=("paris", "tokyo"), count=1, workload=(work,))
    lab = Lab(pair().with_clients(shop))
    if has_trees:
        lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    page = lab.run(until="60s").play().html.encode()

    assert len(page) <= whole * KB
    assert len(gzip.compress(page)) <= packed * KB


def test_it_is_saved_as_a_page_or_as_data(drilled_lab: Lab, tmp_path: Path) -> None:
    player = drilled_lab.play()
    player.save(tmp_path / "run.json")
    said = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))

    assert said["title"] == "A run of a lab"
    assert len(said["messages"]) == player.recording.total
    assert [one["words"] for one in said["happenings"]] == [one.words for one in player.recording.happenings]
    assert len(said["losses"]) == len(drilled_lab.ledger.lost())
    for path in ("run.txt", "run", 3):
        with pytest.raises(ValueError, match=r"path: expected the name of a file that ends in \.html or \.json"):
            player.save(path)  # type: ignore[arg-type]  # what is refused


def test_a_notebook_shows_a_sandboxed_frame_and_beside_it_what_needs_no_script(drilled_lab: Lab) -> None:
    player = drilled_lab.play()
    shown = player._repr_html_()
    frame, _, beside = shown.partition("</iframe>")

    assert frame.startswith("<iframe sandbox='allow-scripts'")
    assert frame.count("'") == frame[: frame.index("srcdoc='")].count("'") + 2, "the page does not end its attribute"
    assert beside.count("<svg") == 1
    assert beside.index("</table>") < beside.index("<svg"), "without trust the words of the drawing run together"
    assert all(f"<td>{one.at_ns / 1e9:.3f}" in beside for one in player.recording.happenings)
    assert "<script" not in beside
    assert "The command palette trusts a notebook: Trust Notebook" in beside


def test_what_a_run_names_cannot_end_the_script() -> None:
    lab = Lab.pair(seed=7)
    lab.watch("</script><img src=x onerror=alert(1)>", lambda lab: "<b>broken</b>")
    lab.run("100ms")
    page = lab.play().html

    assert page.count("</script>") == 1
    assert "<img" not in page
    assert "<b>broken" not in page


@in_a_browser
@pytest.mark.slow
def test_it_is_stepped_by_keys_and_requests_nothing(failover: Lab, browser: Browser, tmp_path: Path) -> None:
    browser.look(1280, 900)
    address = opened(browser, failover.play(), tmp_path)
    focus(browser, "time")
    browser.press("Home")
    seen = []
    for _ in range(60):
        browser.press("PageDown")
        seen.append(round(at(browser), 6))
    happened = sorted({one.at_ns // 1_000 / 1e6 for one in failover.play().recording.happenings} - {0.0})
    assert seen[: len(happened)] == happened
    browser.press("Home")
    assert at(browser) == 0
    browser.press("End")
    assert at(browser) == 60
    browser.press("PageUp")
    assert round(at(browser), 6) == happened[-1]
    browser.evaluate("player.show(20006000)")
    browser.press("ArrowRight")
    stepped = at(browser)
    browser.press("ArrowLeft")
    assert at(browser) < 20.006 < stepped < 20.05
    assert browser.requested() == [address]
    assert browser.complaints() == []


@in_a_browser
@pytest.mark.slow
def test_it_opens_at_the_first_instant_of_interest(failover: Lab, browser: Browser, tmp_path: Path) -> None:
    browser.look(1280, 900)
    opened(browser, failover.play(), tmp_path)
    lost = min(write.at_ns for write in failover.ledger.lost())
    assert at(browser) == lost // 1_000 / 1e6, "the first lost write is acknowledged before the crash that loses it"
    assert browser.evaluate(TEXT % "spoken") == ""
    now = browser.evaluate("document.getElementById('time').getAttribute('aria-valuenow')")
    assert float(now) == pytest.approx(lost / SECOND_NS, abs=0.0006), "a number, without a unit"

    quiet = Lab.pair(seed=7).run("2s")
    opened(browser, quiet.play(), tmp_path)
    assert at(browser) == 0
    quiet.replicate("paris", "tokyo")
    opened(browser, quiet.play(only="replication"), tmp_path)
    first = quiet.play(only="replication").recording
    assert at(browser) == next(one.sent_ns for one in first.messages if one.row == first.interesting[0]) // 1_000 / 1e6
    quiet.run("1s").crash("paris")
    opened(browser, quiet.run("1s").play(), tmp_path)
    (fault,) = {one.at_ns for one in quiet.trace.select("fault")}
    assert at(browser) == fault // 1_000 / 1e6


@in_a_browser
@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (640, 720)])
def test_a_row_below_that_is_pressed_brings_the_whole_map_into_view(
    failover: Lab, browser: Browser, tmp_path: Path, width: int, height: int
) -> None:
    browser.look(width, height)
    opened(browser, failover.play(), tmp_path)
    browser.evaluate("document.querySelector('#happened tbody tr:last-child').scrollIntoView()")
    browser.evaluate("document.querySelector('#lost tbody tr').click()")
    box = "document.getElementById(%r).getBoundingClientRect()"
    inside = f"(({{ top, bottom }}) => [top > -1, bottom < innerHeight + 1])({box})"

    assert browser.evaluate("scrollY") > 0 or width == 1280
    assert browser.evaluate(inside % "map") == [True, True]
    assert browser.evaluate(inside % "answer") == [True, True]


@in_a_browser
@pytest.mark.slow
def test_a_lost_message_that_is_chosen_stays_red_and_several_at_one_place_are_counted(
    failover: Lab, browser: Browser, tmp_path: Path
) -> None:
    browser.look(1280, 900)
    player = failover.play()
    opened(browser, player, tmp_path)
    lost = next(one for one in player.recording.messages if one.lost and one.gone_ns > one.sent_ns)
    browser.evaluate(f"player.show({lost.gone_ns // 1_000 + 1})")
    red = "getComputedStyle(document.querySelector('.crossed%s')).stroke"
    before = browser.evaluate(red % "")
    browser.evaluate("document.querySelector('.crossed').dispatchEvent(new Event('click', { bubbles: true }))")

    assert browser.evaluate(red % ".chosen") == before
    counts = browser.evaluate("[...document.querySelectorAll('#map .words')].map((one) => one.textContent)")
    assert [one for one in counts if re.fullmatch(r"\d+×", one)] == []
    browser.evaluate("player.show(20006000)")
    counts = browser.evaluate("[...document.querySelectorAll('#map .words')].map((one) => one.textContent)")
    assert [one for one in counts if re.fullmatch(r"\d+×", one)] == ["2×"]
    assert "2 requests" in browser.evaluate(TEXT % "said")


@in_a_browser
@pytest.mark.slow
def test_what_is_pressed_and_what_it_changes_are_on_one_screen(failover: Lab, browser: Browser, tmp_path: Path) -> None:
    browser.look(1280, 720)
    opened(browser, failover.play(), tmp_path)
    below = "document.getElementById(%r).getBoundingClientRect().bottom > innerHeight"
    shown = ["controls", "speed", "map", "legend", "said", "got", "time"]
    assert [name for name in shown if browser.evaluate(below % name)] == []
    browser.evaluate("document.querySelector('#lost tbody tr').click()")
    browser.evaluate("scrollTo(0, 0)")
    assert [name for name in ("controls", "map", "answer", "time") if browser.evaluate(below % name)] == []
    row = "document.querySelector('#happened tr[aria-current]')"
    browser.evaluate("player.show(36255000)")
    edges = "(one) => [one.getBoundingClientRect().top, one.getBoundingClientRect().bottom]"
    (top, bottom), (box_top, box_bottom) = browser.evaluate(f"[{row}, {row}.closest('.table')].map({edges})")
    assert box_top <= top < bottom <= box_bottom, "the row of what happened last is in view in its table"


@in_a_browser
@pytest.mark.slow
def test_it_plays_to_the_end_slowly_where_it_matters(failover: Lab, browser: Browser, tmp_path: Path) -> None:
    browser.look(1280, 900)
    opened(browser, failover.play(), tmp_path)
    focus(browser, "time")
    browser.evaluate("player.show(20040000)")
    browser.press("t")
    assert "true pace" in browser.evaluate(TEXT % "speed")
    browser.press("t")
    slow = re.fullmatch(r"1 s of the lab takes (\d+) s", browser.evaluate(TEXT % "speed"))
    assert slow
    assert int(slow[1]) >= 8, "35 ms of a lost push take 300 ms"
    browser.press(" ")
    browser.wait_for("player.at() > 20046000")
    assert browser.evaluate("player.playing()")
    assert browser.evaluate("player.drawn().length") > 0
    assert "20.040" in browser.evaluate(TEXT % "spoken"), "nothing is spoken while it plays"
    browser.press(" ")
    assert not browser.evaluate("player.playing()")
    assert browser.evaluate(TEXT % "spoken") == browser.evaluate(TEXT % "said")
    browser.press("+", 3)
    browser.press(" ")
    browser.wait_for("!player.playing()", 60_000)
    assert at(browser) == 60
    assert browser.evaluate(FRAME_MS) <= MAX_FRAME_MS


@in_a_browser
@pytest.mark.slow
def test_what_is_asked_is_answered_and_each_step_moves_the_cursor(
    failover: Lab, browser: Browser, tmp_path: Path
) -> None:
    browser.look(1280, 900)
    opened(browser, failover.play(), tmp_path)
    browser.evaluate("document.querySelector('#lost tbody tr').focus()")
    browser.press("ArrowDown")
    browser.press("Enter")
    lost = failover.ledger.lost()[1]
    why = failover.why(lost)
    said = browser.evaluate("document.getElementById('answer').innerText")
    assert said.startswith(f"the write of {lost.client} to {lost.path} is lost")
    for step in why.steps:
        assert step.sentence in said
    assert f"root: {why.said}" in said
    browser.press("Tab")
    for step in why.steps[1:]:
        browser.press("ArrowDown")
        assert at(browser) == step.at_ns // 1_000 / 1e6
    focus(browser, "time")
    browser.evaluate("player.show(20050000)")
    browser.press("Enter")
    assert browser.evaluate("document.querySelector('#answer h2').textContent") == "crash paris"
    focus(browser, "map")
    browser.evaluate("player.show(20040000)")
    browser.press("ArrowDown")
    message = browser.evaluate(TEXT % "said").splitlines()[0]
    assert re.match(
        r"Chosen: [a-z ]+ from [\w-]+ to [\w-]+, sent at \d+\.\d+ s, .*: \d+ % of the way, \d+ ms left", message
    )
    browser.press("Enter")
    heading = browser.evaluate("document.querySelector('#answer h2').textContent")
    assert message.startswith(f"Chosen: {heading.split(' after ')[0]}")
    assert "of the trace" in browser.evaluate("document.querySelector('#answer p').textContent")


FOCUSED = "document.activeElement.id"
LAST_ROW = "document.querySelector('#happened tbody tr:last-child')"


@in_a_browser
@pytest.mark.slow
def test_what_is_asked_is_of_now_and_escape_gives_the_focus_back(
    failover: Lab, browser: Browser, tmp_path: Path
) -> None:
    browser.look(1280, 720)
    opened(browser, failover.play(), tmp_path)
    hidden = "document.getElementById('answer').hidden"
    for name in ("time", "map"):
        focus(browser, name)
        browser.evaluate("player.show(20050000)")
        browser.press("Enter")
        assert (browser.evaluate(hidden), browser.evaluate(FOCUSED)) == (False, "answer")
        browser.press("Escape")
        assert (browser.evaluate(hidden), browser.evaluate(FOCUSED)) == (True, name)
    browser.evaluate(f"{LAST_ROW}.focus()")
    browser.press("Enter")
    browser.press("Escape")
    assert browser.evaluate(
        f"(({{ top, bottom }}) => top >= 0 && bottom <= innerHeight)({LAST_ROW}.getBoundingClientRect())"
    )
    for key in ("ArrowRight", "PageDown", ".", " "):
        focus(browser, "time")
        browser.evaluate("player.show(20050000)")
        browser.press("Enter")
        focus(browser, "time")
        browser.press(key)
        assert browser.evaluate(hidden), f"{key} goes elsewhere"
        browser.evaluate("player.pause()")
    browser.evaluate("player.show(20045000); scrollTo(0, 0)")
    middle = "(b => [b.x + b.width / 2, b.y + b.height / 2])"
    x, y = browser.evaluate(f"{middle}(document.querySelector('.map .message').getBoundingClientRect())")
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
    assert not browser.evaluate(hidden)
    assert browser.evaluate("document.querySelector('.map').getBoundingClientRect().top >= 0"), "the map stays in view"
    assert browser.evaluate("document.querySelector('#answer').getBoundingClientRect().bottom <= innerHeight")


@in_a_browser
@pytest.mark.slow
def test_it_is_moved_finely_by_keys(failover: Lab, browser: Browser, tmp_path: Path) -> None:
    opened(browser, failover.play(), tmp_path)
    focus(browser, "time")
    moments = {
        0,
        *(at_ns // 1_000 for one in failover.play().recording.messages for at_ns in (one.sent_ns, one.gone_ns)),
    }
    moments |= {one.at_ns // 1_000 for one in failover.play().recording.happenings}
    after = sorted(at for at in moments if at > 20_060_000)
    browser.evaluate("player.show(20060000)")
    for instant in after[:12]:
        browser.press(".")
        assert browser.evaluate("player.at()") == instant
    browser.press(",", 2)
    assert browser.evaluate("player.at()") == after[9]
    browser.press("ArrowRight", shift=True)
    assert browser.evaluate("player.at()") == after[9] + 1_000
    browser.press("ArrowLeft", 3, shift=True)
    assert browser.evaluate("player.at()") == after[9] - 2_000


@in_a_browser
@pytest.mark.slow
def test_where_there_is_little_room_the_pictures_follow(failover: Lab, browser: Browser, tmp_path: Path) -> None:
    browser.look(320, 720)
    opened(browser, failover.play(), tmp_path)
    inside = (
        "(([inner, outer]) => inner.left >= outer.left - 1 && inner.right <= outer.right + 1)"
        "([%s, %s].map((name) => document.querySelector(name).getBoundingClientRect()))"
    )
    for instant in (1_000_000, 20_045_000, 55_000_000):
        browser.evaluate(f"player.show({instant})")
        browser.wait_for(inside % ("'#time > svg > .cursor'", "'#time'"))
    browser.evaluate("player.show(20045000)")
    focus(browser, "map")
    for _ in range(6):
        browser.press("ArrowDown")
        browser.wait_for(inside % ("'.map .chosen'", "'#map'"))
    left = "document.getElementById('map').scrollLeft"
    browser.press("<", 9)
    assert browser.evaluate(left) == 0
    browser.press(">", 2)
    assert browser.evaluate(left) == 200


@in_a_browser
@pytest.mark.slow
def test_nothing_moves_when_trees_appear(browser: Browser, tmp_path: Path) -> None:
    lab = Lab.pair(seed=7)
    lab.keep_pictures()
    lab.run("1s")
    lab.replicate("paris", "tokyo")
    browser.look(1280, 720)
    opened(browser, lab.run("3s").play(), tmp_path)
    top = "document.getElementById('happened').closest('section').getBoundingClientRect().top + scrollY"
    shown = "[...document.querySelectorAll('#trees figure')].some((one) => !one.hidden)"
    browser.evaluate("player.show(0)")
    before = browser.evaluate(top)
    assert not browser.evaluate(shown)
    browser.evaluate("player.show(player.end())")
    assert browser.evaluate(shown)
    assert browser.evaluate(top) == before


@in_a_browser
@pytest.mark.parametrize("width", [320, 640, 1280])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.slow
def test_nothing_is_cut_off_at_any_width(
    failover: Lab, browser: Browser, tmp_path: Path, width: int, dark: bool
) -> None:
    browser.look(width, 900, dark=dark)
    opened(browser, failover.play(), tmp_path)
    browser.evaluate("player.show(20050000)")
    smallest = browser.evaluate(
        "Math.min(...[...document.querySelectorAll('svg text')].map((e) => "
        "parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.getBoundingClientRect().width"
        " / e.ownerSVGElement.viewBox.baseVal.width))"
    )
    background = "getComputedStyle(document.body).backgroundColor"

    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert smallest >= 11.99
    assert (browser.evaluate(background) == "rgb(17, 17, 17)") == dark


@in_a_browser
@pytest.mark.slow
@pytest.mark.parametrize("width", [700, 860, 1000, 1138, 1264, 1280, 1400])
def test_its_map_and_its_timeline_fit_a_frame(drilled_lab: Lab, browser: Browser, tmp_path: Path, width: int) -> None:
    """A notebook's frame, exported or not, is narrower than a window."""
    browser.look(width, 900)
    opened(browser, drilled_lab.play(), tmp_path)
    is_cut = "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.getElementById(%r))"

    assert [name for name in ("map", "time") if browser.evaluate(is_cut % name)] == []


@in_a_browser
@pytest.mark.slow
def test_where_motion_is_reduced_it_goes_from_event_to_event(
    drilled_lab: Lab, browser: Browser, tmp_path: Path
) -> None:
    browser.look(1280, 900)
    reduced = {"name": "prefers-reduced-motion", "value": "reduce"}
    browser.call("Emulation.setEmulatedMedia", features=[reduced])
    opened(browser, drilled_lab.play(), tmp_path)
    focus(browser, "time")
    browser.press("Home")
    browser.press(" ")
    browser.wait_for("player.at() > 0")
    stops: Any = browser.evaluate("[player.at(), [...player.run.stops].includes(player.at())]")

    assert stops[1], stops


@in_a_browser
@pytest.mark.slow
def test_a_map_of_many_sites_leaves_room_and_follows_what_is_looked_at(browser: Browser, tmp_path: Path) -> None:
    sites = tuple([f"city-{number}" for number in range(1, 17)])
    ends = zip(sites, sites[1:] + sites[:1], strict=True)
    lines = tuple([LinkPlan(between=pair_of, latency_ns=10_000_000) for pair_of in ends])
    clusters = tuple([ClusterPlan(name=site, site=site) for site in (sites[0], sites[8])])
    lab = Lab(Blueprint(sites=sites, clusters=clusters, links=lines), seed=7)
    lab.replicate(sites[0], sites[8])
    lab.run("2s")
    browser.look(1280, 720)
    opened(browser, lab.play(), tmp_path)
    tall, seen = browser.evaluate("(({ scrollHeight, clientHeight }) => [scrollHeight, clientHeight])(map)")
    assert seen <= 0.75 * 720 < tall
    dotted = "[...map.querySelectorAll('[stroke-dasharray=\"2 5\"]')].length"
    assert browser.evaluate(dotted) == 2, "one pair of sites has no line of its own, and two ways"
    heights = set()
    for at_ms in range(0, 2_000, 40):
        looked_at = browser.evaluate(LOOKED_AT % at_ms)
        assert all(0 <= share <= 1 for share in looked_at), "in view"
        heights.add(browser.evaluate("map.scrollTop"))
    assert len(heights) > 1


@in_a_browser
@pytest.mark.slow
def test_on_paper_tables_are_whole_and_nothing_is_left_that_moves(
    failover: Lab, browser: Browser, tmp_path: Path
) -> None:
    browser.look(794, 1123)
    opened(browser, failover.play(), tmp_path)
    cut_off = "(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(happened.closest('.table'))"
    assert browser.evaluate(cut_off) > 0, "on screen it scrolls"
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.evaluate(cut_off) == 0
    shown = "[...document.querySelectorAll('.live')].filter((one) => one.offsetHeight).length"
    assert browser.evaluate(shown) == 0
    browser.call("Emulation.setEmulatedMedia", media="")
