"""Report tables: rows say what the verdict says, rules what their declarations say, and lead to what shows them."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import pytest

from labkit import Lab
from labkit.commands.playing import judged
from labkit.commands.report_tables import rules_table, verdict_table
from labkit.lab.invariants import NO_LOSS, ONE_PRIMARY, RULES, STANDING, WITHIN_LAG
from labkit.scenario.verdict import Verdict
from labkit.views.player.recorded.recording import Recording, recording_of
from tests.commands.test_why import SPLIT

RULE_ROW = r"<tr([^>]*)><th scope='row'>{}<p>(.*?)</p><p class=\"faint\">(.*?)</p></th>" + "<td>(.*?)</td>" * 3

FENCED = """
scenario: Two primaries, of which one is fenced
seed: 7
lab:
  sites: [paris, tokyo, lisbon]
  links:
    - {between: [paris, tokyo], latency: 80ms}
    - {between: [lisbon, paris], latency: 15ms}
    - {between: [lisbon, tokyo], latency: 90ms}
  clusters:
    paris: {site: paris, nodes: 1}
    tokyo: {site: tokyo, nodes: 1}
  clients:
    writers: {site: lisbon, count: 2, use: [paris, tokyo], work: [{do: put-secret, every: 100ms, from: 3s}]}
timeline:
  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}
  - {do: crash, target: paris, at: 4s}
  - {do: promote, cluster: tokyo, after: 1s}
  - {do: isolate, target: paris, at: 9s}
  - {do: restart, target: paris}
  - {do: unseal, cluster: paris}
  - {do: demote, cluster: paris, after: 1s}
end: 14s
"""

Played = tuple[Lab, Verdict, Recording]


def played(folder: Path, text: str) -> Played:
    path = folder / "x.lab.yaml"
    path.write_text(text, encoding="utf-8")
    lab = Lab.load(path).run()
    return lab, judged(lab), recording_of(lab.queries, lab.invariants)


@pytest.fixture(scope="module")
def fenced(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A failover whose old primary comes back cut off from all clients, still a primary."""
    return played(tmp_path_factory.mktemp("fenced"), FENCED)


def found_in(table: str, name: str) -> tuple[str, ...]:
    row = re.search(RULE_ROW.format(re.escape(escape(name))), table)
    assert row, name
    return row.groups()


def leads_to(attributes: str, recording: Recording) -> str:
    place = re.fullmatch(r' data-happening="(\d+)"', attributes)
    assert place
    return recording.happenings[int(place[1])].words


def test_each_rule_has_its_own_words_and_how_often_it_was_judged(fenced: Played) -> None:
    lab, verdict, recording = fenced
    table = rules_table(verdict, lab.invariants, recording)
    rows = {row.key: row for row in verdict.rows}

    for rule in RULES:
        _, says, judged_when, measured, status, _ = found_in(table, rule.name)
        assert says == escape(rule.says)
        times = lab.invariants.judged(rule.name)
        often = "" if times is None else f"{times} time{'' if times == 1 else 's'}, "
        assert judged_when == escape(f"Judged {often}{rule.judged}. Not judged: {rule.spared}.")
        assert (measured, status) == (escape(rows[rule.name].measured), rows[rule.name].status)
        if times == 0 and rule.name != WITHIN_LAG:
            assert measured in ("does not apply", "held")
    held = sum(row.measured == "held" for row in verdict.rows if row.key in STANDING)
    assert f"<caption>{held} held, " in table
    assert "do not apply. A row that names an instant leads there." in table


def test_two_primaries_of_which_one_is_fenced_are_shown_where_the_rule_held(fenced: Played) -> None:
    lab, verdict, recording = fenced
    attributes, _, _, measured, _, at = found_in(rules_table(verdict, lab.invariants, recording), ONE_PRIMARY)
    back = lab.trace.select("leader", cluster="paris", term=2)[0].at_ns

    assert measured == "held"
    assert at == f"{back / 1e9:.3f}\N{NO-BREAK SPACE}s"
    words = leads_to(attributes, recording)
    assert words.startswith("tokyo and paris are both primary until ")
    assert words.endswith("paris cut off from every other site")


def test_rows_of_loss_and_outage_lead_to_the_fault_and_to_the_first_write(fenced: Played) -> None:
    lab, verdict, recording = fenced
    table = verdict_table(verdict, recording)
    places = {
        key: re.search(rf"<tr([^>]*)><th scope='row'>{re.escape(escape(row.what))}<", table)
        for row in verdict.rows
        if (key := row.key) in ("rpo", "rto", "lost", "acknowledged")
    }

    assert all(places.values())
    gap = recording.gaps[-1]
    gap_s = (gap.to_ns - gap.from_ns) / 1e9
    (outage,) = [row.measured for row in verdict.rows if row.key == "rto"]
    assert f"<td>{outage} from the fault on; no write succeeded for {gap_s:.3f} s</td>" in table
    said = {key: leads_to(place[1], recording) for key, place in places.items() if place and place[1]}
    assert said["rto"].startswith("the first write that tokyo takes: ")
    assert said["rpo"] == said["lost"] == "crash paris-1"
    assert "acknowledged" not in said
    attributes, *_ = found_in(rules_table(verdict, lab.invariants, recording), WITHIN_LAG)
    assert leads_to(attributes, recording) == "tokyo is primary"
    attributes, *_, at = found_in(rules_table(verdict, lab.invariants, recording), NO_LOSS)
    assert (attributes, at) == ("", "")


def test_a_broken_rule_leads_to_where_it_broke(tmp_path: Path) -> None:
    lab, verdict, recording = played(tmp_path, SPLIT)
    attributes, _, _, measured, status, at = found_in(rules_table(verdict, lab.invariants, recording), ONE_PRIMARY)
    (broken,) = lab.trace.select("invariant", name=ONE_PRIMARY)

    assert measured.startswith("broken at ")
    assert status == "ok", "the file expects it"
    assert at == f"{broken.at_ns / 1e9:.3f}\N{NO-BREAK SPACE}s"
    assert leads_to(attributes, recording).startswith(f"rule broken: {ONE_PRIMARY}: ")
