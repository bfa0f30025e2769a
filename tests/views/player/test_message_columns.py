"""Message columns: the script reads paths, attempts and operations exactly as they were recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.service.durations import SECOND_NS
from labkit.views.player.data import data_of
from labkit.views.player.message_columns import OUTCOMES
from labkit.views.player.packed_columns import packed
from labkit.views.player.recorded.recording import Recording, recording_of
from labkit.views.player.stage import stage_of
from tests.views.player.scripts import NODE, asked

READ = """(() => {
  const run = readRun(data);
  return {
    paths: [...run.paths], earlier: [...run.earlier], operations: run.operations,
    roots: run.root, words: run.kind.map((kind, message) => messageWords(run, message)),
    causes: run.kind.map((kind, message) => answerOf(run, { message }).steps.at(-1)[1]),
  };
})()"""


@pytest.fixture(scope="module")
def recording() -> Recording:
    """Writers whose primary goes down, so that they try again, with what requests carry."""
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS // 5, keys=5, from_ns=SECOND_NS)
    shop = ClientPlan(name="shop", site="lisbon", use=("paris", "tokyo"), count=2, workload=(work,))
    lab = Lab(pair().with_clients(shop))
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    lab.run(until="3.02s")
    lab.crash("paris")
    lab.run("1s")
    lab["tokyo"].promote()
    lab.run("4s")
    return recording_of(lab.queries, lab.invariants, None, lab._pictures)


@pytest.fixture(scope="module")
def read(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the script reads of the packed data; None where no Node is."""
    data = packed(data_of(recording, stage_of(recording)))
    return asked(Path(tmp_path_factory.mktemp("read")), data, READ)


def test_requests_name_their_paths_and_the_attempts_before_them(recording: Recording, read: Any) -> None:
    if NODE is None:
        return
    numbers = {one.row: number for number, one in enumerate(recording.messages)}
    assert dict(read["paths"]) == {number: one.path for number, one in enumerate(recording.messages) if one.path}
    again = {numbers[one.row]: numbers[one.earlier] for one in recording.messages if one.earlier >= 0}
    assert dict(read["earlier"]) == again
    assert len(again) > 5
    assert {one.what for one in recording.messages if one.path} == {"request"}


def test_operations_begin_and_end_when_they_did(recording: Recording, read: Any) -> None:
    if NODE is None:
        return
    hosts = [one.host.name for one in stage_of(recording).hosts]
    found = sorted((hosts[one["client"]], one["from"], one["at"], OUTCOMES[one["how"]]) for one in read["operations"])
    assert found == sorted(
        (one.client, one.started_ns // 1_000, one.at_ns // 1_000, one.outcome) for one in recording.operations
    )
    assert any(one["message"] >= 0 and one["at"] - one["from"] > 1_000_000 for one in read["operations"])


def test_a_message_says_what_it_is_for_and_why_it_was_sent(recording: Recording, read: Any) -> None:
    if NODE is None:
        return
    by_row = {one.row: one for one in recording.messages}
    kinds = {host.name: host.kind for host in recording.hosts}
    for number, (one, words, cause) in enumerate(zip(recording.messages, read["words"], read["causes"], strict=True)):
        root = recording.messages[read["roots"][number]]
        ends = f"from {one.source} to {one.target}, sent at {one.sent_ns // 1_000 / 1e6:.3f} s, "
        assert ends + ("lost" if one.lost else "arrived") in words
        if root.path and one.what in ("request", "response"):
            assert f" for {root.path} " in words
        if one.what == "stream" and kinds[root.source] == "client":
            path = root.path.split()[1]
            assert words.startswith(f"stream message with what {path} changed from ")
        if one.lost and one.gone_ns > one.sent_ns:
            share = (one.gone_ns - one.sent_ns) / (one.at_ns - one.sent_ns)
            assert f" after {round(share * 100)} % of the way, " in words
        if one.cause >= 0:
            assert cause.startswith(f"because this arrived, row {one.cause}: ")
        elif one.earlier >= 0:
            before = by_row[one.earlier]
            assert cause.startswith("because the attempt before it ")
            assert f" from {before.source} to {before.target}, " in cause
            answered = [answer for answer in recording.messages if answer.cause == before.row and not answer.lost]
            assert ("got no answer within 1 s" in cause) == (not answered)
        else:
            work = kinds[one.source] in ("client", "operator")
            assert cause == (f"{one.source} had this to do" if work else f"a timer of {one.source} was due")


def test_how_far_a_message_has_come_is_said(recording: Recording, tmp_path: Path) -> None:
    lost = [number for number, one in enumerate(recording.messages) if one.lost and one.gone_ns > one.sent_ns]
    one = recording.messages[lost[0]]
    at = (one.sent_ns + (one.gone_ns - one.sent_ns) // 2) // 1_000
    words = asked(tmp_path, data_of(recording, stage_of(recording)), f"messageWords(readRun(data), {lost[0]}, {at})")
    share = (at - one.sent_ns // 1_000) / (one.at_ns // 1_000 - one.sent_ns // 1_000)
    left = (one.at_ns // 1_000 - at) / 1_000
    assert words is None or words.endswith(f": {round(share * 100)} % of the way, {round(left)} ms left")
