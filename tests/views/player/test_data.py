"""Data: the script reads from the short lists exactly what was recorded."""

from __future__ import annotations

import json
import re
from collections import Counter
from math import hypot
from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.service.durations import in_seconds
from labkit.views.player.data import data_of
from labkit.views.player.recorded.client_operations import UNDER_WAY
from labkit.views.player.recorded.recording import Recording, recording_of
from labkit.views.player.stage import stage_of
from tests.views.player.scripts import NODE, asked

BESIDE = 5
READ = """(() => {
  const run = readRun(data);
  return {
    messages: data.messages.kind.map((kind, place) => [
      run.sent[place], run.end[place], run.gone[place], run.row[place], causeOf(run, place), run.interesting[place],
      ...data.kinds[kind],
    ]),
    stops: [...run.stops],
    beside: [[0, -1], [0, 1], [data.end, 1], [data.end, -1]].map(([at, by]) => stopBeside(run.stops, at, by)),
    answers: data.happenings.map((one, happening) => answerOf(run, { happening })),
    losses: data.losses.map((one, loss) => answerOf(run, { loss })),
    sentences: data.happenings.map(([at]) => sentenceAt(run, at)),
    doomed: data.losses.map(([from, to]) => [from - 1, from, to - 1, to].map((at) => sentenceAt(run, at))),
    got: gotAt(run, data.end),
    none: upTo([], 3),
    paths: data.kinds.map(([source, target]) => {
      const path = pathOf(data, source, target);
      return [path, pointOn(path, 0), pointOn(path, 1), pointOn(path, 0.5)];
    }),
  };
})()"""


@pytest.fixture(scope="module")
def recording(drilled_lab: Lab) -> Recording:
    return recording_of(drilled_lab.queries, drilled_lab.invariants)


@pytest.fixture(scope="module")
def data(recording: Recording) -> dict[str, Any]:
    return data_of(recording, stage_of(recording))


@pytest.fixture(scope="module")
def read(data: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the script reads; None where no Node is."""
    return asked(tmp_path_factory.mktemp("read"), data, READ)


def test_it_is_plain(data: dict[str, Any]) -> None:
    assert json.loads(json.dumps(data)) == json.loads(json.dumps(data, allow_nan=False))


def test_every_message_is_read_as_it_was(recording: Recording, data: dict[str, Any], read: Any) -> None:
    if NODE is None:
        return
    names = [host[0] for host in data["hosts"]]
    places = {message.row: number for number, message in enumerate(recording.messages)}
    for message, row in zip(recording.messages, read["messages"], strict=True):
        sent, end, gone, number, cause, interesting, source, target, what, lost, shortest, _ = row
        assert (sent, end) == (message.sent_ns // 1_000, message.at_ns // 1_000)
        assert gone == message.gone_ns // 1_000
        assert number == message.row
        assert cause == places.get(message.cause, -1)
        assert (interesting == 1) == (message.row in recording.interesting)
        assert (names[source], names[target], data["whats"][what][0]) == message[2:5]
        assert (lost == 1) == message.lost
        assert 0 <= shortest <= end - sent


def test_a_write_that_is_lost_later_is_named_from_its_acknowledgement_to_the_promotion(
    recording: Recording, read: Any
) -> None:
    if NODE is None:
        return
    assert recording.losses
    for loss, sentences in zip(recording.losses[:3], read["doomed"], strict=False):
        words = f"{loss.write.client} to {loss.write.path}"
        assert [words in sentence for sentence in sentences] == [False, True, True, False]


def test_it_stops_at_whatever_happened(recording: Recording, data: dict[str, Any], read: Any) -> None:
    if NODE is None:
        return
    chosen = [one for one in recording.messages if one.row in set(recording.interesting)]
    stops = {0, data["end"], *(one.at_ns // 1_000 for one in recording.happenings)}
    stops |= {at_ns // 1_000 for one in chosen for at_ns in (one.sent_ns, one.gone_ns)}

    assert read["stops"] == sorted(stops)
    assert read["beside"] == [0, sorted(stops)[1], data["end"], sorted(stops)[-2]]
    assert read["none"] == 0


def test_a_message_goes_along_the_line_between_its_sites_from_edge_to_edge(data: dict[str, Any], read: Any) -> None:
    if NODE is None:
        return
    lines = {frozenset(line[:2]): line for line in data["stage"]["lines"]}
    seen = set()
    for (source, target, *_), (path, first, last, middle) in zip(data["kinds"], read["paths"], strict=True):
        from_host, to_host = data["hosts"][source], data["hosts"][target]
        line = lines.get(frozenset((from_host[4], to_host[4]))) if from_host[4] != to_host[4] else None
        if line is None:
            assert path == [*from_host[2:4], *to_host[2:4]]
        else:
            ends = line[3:7] if line[0] == from_host[4] else [*line[5:7], *line[3:5]]
            assert path == ends
        for point, end in ((first, path[:2]), (last, path[2:])):
            assert hypot(point[0] - end[0], point[1] - end[1]) == pytest.approx(BESIDE)
        half = [(one + other) / 2 for one, other in zip(first, last, strict=True)]
        assert middle == pytest.approx(half), "after half of its time it is in the middle of its line"
        seen.add(line is None)
    assert seen == {True, False}


def test_every_answer_is_that_of_why(recording: Recording, data: dict[str, Any], read: Any) -> None:
    if NODE is None:
        return
    for one, answer in zip(recording.happenings, read["answers"], strict=True):
        assert answer["heading"] == one.words
        assert (f"row {one.row} " in answer["facts"]) == (one.row >= 0)
        if one.row not in recording.explanations:
            assert (one.row, answer["steps"], answer["root"]) == (-1, [], "")
            continue
        why = recording.explanations[one.row]
        assert answer["root"] == f"root: {why.said}"
        for step, (at, words) in zip(why.steps, answer["steps"], strict=True):
            assert at == step.at_ns // 1_000
            assert words == step.sentence + ("" if step.row is None else f", row {step.row}")
    for loss, answer in zip(recording.losses, read["losses"], strict=False):
        assert answer["heading"] == f"the write of {loss.write.client} to {loss.write.path} is lost"
        times = [at for at, _ in answer["steps"]]
        assert times == sorted(times, reverse=True)
        said = " ".join(words for _, words in answer["steps"])
        assert loss.explanation is not None
        assert all(step.sentence in said for step in loss.explanation.steps)
        assert f"the answer is at {loss.write.client}: the write is acknowledged" in said
        assert f"{loss.write.client} asks for it: request from {loss.write.client} to " in said


def test_the_sentence_says_all_that_happened_and_what_was_so(recording: Recording, read: Any) -> None:
    if NODE is None:
        return
    last: dict[int, list[str]] = {}
    for one in recording.happenings:
        last.setdefault(one.at_ns // 1_000, []).append(one.words)
    assert max(map(len, last.values())) > 1
    for one, sentence in zip(recording.happenings, read["sentences"], strict=True):
        at = one.at_ns // 1_000
        assert sentence.startswith(f"{at / 1e6:.3f} s: {'; '.join(last[at])}.\n")
        assert "paris: " in sentence
        assert "on the way: " in sentence


def test_what_clients_and_operators_got_is_counted_apart(recording: Recording, read: Any) -> None:
    if NODE is None:
        return
    counts = [sum(one.outcome == how for one in recording.operations) for how in ("answered", "refused", "unknown")]
    names = ("answered", "refused", "in doubt")
    got = [
        f"{count} {name}{_statuses(recording, how)}"
        for how, (count, name) in enumerate(zip(counts, names, strict=True))
    ]
    waiting = [one.started_ns for one in recording.operations if one.outcome == UNDER_WAY]
    longest = (recording.end_ns // 1_000 - min(waiting) // 1_000) / 1e6
    assert read["got"].startswith(
        f"Clients: {', '.join(got)}; "
        f"{len(waiting)} wait{'s' if len(waiting) == 1 else ''}, the longest for {longest:.3f} s. In the last second: "
    )
    clients = {host.name for host in recording.hosts if host.kind == "client"}
    lost = [one for one in recording.messages if one.lost and one.what in ("request", "response")]
    lost = [one for one in lost if {one.source, one.target} & clients]
    assert f" requests and answers lost on the way, {len(lost)} in all." in read["got"]
    assert f" {len(recording.losses)} acknowledged writes are lost. " in read["got"]
    asks = [sum(one.outcome == how for one in recording.asks) for how in ("answered", "refused", "unknown")]
    said = zip(asks, ("answered", "refused", "in doubt"), strict=True)
    assert read["got"].endswith(f" Operators: {', '.join(f'{count} {how}' for count, how in said if count)}.")


def _statuses(recording: Recording, how: int) -> str:
    """The statuses of the answers that ended operations so, counted, in the order in which they came."""
    outcome = ("answered", "refused", "unknown")[how]
    found = Counter(one.status for one in recording.operations if one.outcome == outcome and one.status)
    return f" ({', '.join(f'{status}: {count}' for status, count in found.items())})" if found else ""


def test_script_and_page_round_an_instant_alike(tmp_path: Path) -> None:
    instants = [22_062_500, 22_062_499, 22_063_500, 187_500, 312_500, 999_999, 0]
    found = asked(tmp_path, instants, "data.map(inSeconds)")

    assert found in (None, [f"{in_seconds(at * 1_000)} s" for at in instants])


def test_of_many_losses_three_are_named_and_the_rest_counted(tmp_path) -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    for number in range(5):
        lab["paris"].post(f"secret/data/orders/{number}", {"data": {}})
    lab.crash("paris")
    lab.run("1s")
    lab["tokyo"].promote()
    recording = recording_of(lab.queries, lab.invariants)
    crashed_us = lab.trace.select("fault", verb="crash")[0].at_ns // 1_000
    given = data_of(recording, stage_of(recording))
    said = asked(tmp_path, given, f"sentenceAt(readRun(data), {crashed_us})")

    if NODE is not None:
        (words,) = re.findall(r"acknowledged, and lost later: (.*)\.$", said, re.MULTILINE)
        assert words.count(" to secret/data/orders/") == 3
        assert words.endswith(", and 2 more")
