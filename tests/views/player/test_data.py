"""Data: the script reads from the short lists exactly what was recorded."""

from __future__ import annotations

import json
from math import hypot
from typing import Any

import pytest

from labkit import Lab
from labkit.views.player.data import data_of
from labkit.views.player.recording import Recording, recording_of
from labkit.views.player.stage import stage_of
from tests.views.player.scripts import NODE, asked

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
        sent, end, gone, number, cause, interesting, source, target, what, lost, shortest = row
        assert (sent, end) == (message.sent_ns // 1_000, message.at_ns // 1_000)
        assert gone == message.gone_ns // 1_000
        assert number == message.row
        assert cause == places.get(message.cause, -1)
        assert (interesting == 1) == (message.row in recording.interesting)
        assert (names[source], names[target], data["whats"][what]) == message[2:5]
        assert (lost == 1) == message.lost
        assert 0 <= shortest <= end - sent


def test_it_stops_at_whatever_happened(recording: Recording, data: dict[str, Any], read: Any) -> None:
    if NODE is None:
        return
    chosen = [one for one in recording.messages if one.row in set(recording.interesting)]
    stops = {0, data["end"], *(one.at_ns // 1_000 for one in recording.happenings)}
    stops |= {at_ns // 1_000 for one in chosen for at_ns in (one.sent_ns, one.gone_ns)}

    assert read["stops"] == sorted(stops)
    assert read["beside"] == [0, sorted(stops)[1], data["end"], sorted(stops)[-2]]
    assert read["none"] == 0


def test_a_message_goes_from_host_to_host_along_the_line_between_their_sites(data: dict[str, Any], read: Any) -> None:
    if NODE is None:
        return
    lines = {frozenset(line[:2]): line[3:7] for line in data["stage"]["lines"]}
    for (source, target, *_), (path, first, last, middle) in zip(data["kinds"], read["paths"], strict=True):
        from_host, to_host = data["hosts"][source], data["hosts"][target]
        line = lines.get(frozenset((from_host[4], to_host[4])))
        assert (path[0], path[-1]) == (from_host[2:4], to_host[2:4])
        assert len(path) == (4 if line else 2)
        for point, host in ((first, from_host), (last, to_host)):
            assert hypot(point[0] - host[2], point[1] - host[3]) == pytest.approx(6)
        if line:
            assert sorted(path[1] + path[2]) == sorted(line)
            xs, ys = sorted(line[0::2]), sorted(line[1::2])
            assert xs[0] - 60 <= middle[0] <= xs[1] + 60
            assert ys[0] - 60 <= middle[1] <= ys[1] + 60


def test_every_answer_is_that_of_why(recording: Recording, data: dict[str, Any], read: Any) -> None:
    if NODE is None:
        return
    for one, answer in zip(recording.happenings, read["answers"], strict=True):
        why = recording.explanations[one.row]
        assert answer["heading"] == one.words
        assert f"row {one.row} " in answer["facts"]
        assert answer["root"] == f"root: {why.said}"
        for step, (at, words) in zip(why.steps, answer["steps"], strict=True):
            assert at == step.at_ns // 1_000
            assert words == step.sentence + ("" if step.row is None else f", row {step.row}")
    for loss, answer in zip(recording.losses, read["losses"], strict=False):
        assert answer["heading"] == f"the write of {loss.write.client} to {loss.write.path} is lost"


def test_the_sentence_says_what_happened_and_what_was_so(recording: Recording, read: Any) -> None:
    if NODE is None:
        return
    last = {one.at_ns // 1_000: one.words for one in recording.happenings}
    for one, sentence in zip(recording.happenings, read["sentences"], strict=True):
        assert sentence.startswith(f"{one.at_ns // 1_000 / 1e6:.3f} s. {last[one.at_ns // 1_000]}. ")
        assert "paris: " in sentence
        assert "on the way: " in sentence
    counts = [sum(one.outcome == how for one in recording.operations) for how in ("answered", "refused", "unknown")]
    answered, refused, in_doubt = counts
    assert read["got"].startswith(
        f"{answered} answered, {refused} refused, {in_doubt} in doubt; "
        f"{len(recording.losses)} acknowledged writes are lost."
    )
