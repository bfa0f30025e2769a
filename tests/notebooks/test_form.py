"""The form of lessons that check themselves: what each holds, in which order, and that a second run shows the same."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from labkit.lessons.catalogue import LESSONS, plan
from labkit.lessons.said import Said
from labkit.places import notebooks
from tests.notebooks.test_notebooks import run

LONGEST_TEXT, LONGEST_BETWEEN = 90, 120
NOT_ASKED = {
    "00": [
        'table("After a planned switch", [{"order": number, "in tokyo": ok} for number, ok in enumerate(found, 1)])'
    ],
    "02": [
        'table("The key rows", [{"setting": one, **{when: key[one] for when, key in known.items()}} for one in names])'
    ],
    "05": ['table("A node is lost", [{"leads now": one["paris"].active, "a write was answered after": waited}])'],
    "07": ["picture"],
}
"""What is shown to everybody after a reveal, since no prediction of its lesson asks for it."""
HEADINGS = ("## Stretch", "## Unlike real servers")

EACH = pytest.mark.parametrize("number", LESSONS)


def cells_of(number: str) -> list[tuple[str, str]]:
    """Kind and source of each cell of a lesson's notebook."""
    cells = json.loads((notebooks() / plan(number).file).read_text(encoding="utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def words(text: str) -> int:
    return len(text.split())


def place(cells: list[tuple[str, str]], text: str) -> int:
    """The place of the one code cell that holds a text."""
    found = [number for number, (kind, source) in enumerate(cells) if kind == "code" and text in source]
    assert len(found) == 1, f"{text} stands in {len(found)} cells"
    return found[0]


def problems_between(cells: list[tuple[str, str]], first: int, last: int) -> list[str]:
    """The code cells between two places that end in an expression, which a notebook shows."""
    between = [source for kind, source in cells[first + 1 : last] if kind == "code"]
    return [source for source in between if is_shown(source)]


def is_shown(source: str) -> bool:
    """Whether a cell ends in an expression, which a notebook shows."""
    return isinstance(ast.parse(source).body[-1], ast.Expr)


@EACH
def test_it_begins_with_its_question_and_three_abilities(number):
    first = cells_of(number)[0][1]

    assert first.splitlines()[0] == f"# {plan(number).title}"
    assert "You will be able to:" in first
    assert len(re.findall(r"^- ", first, re.MULTILINE)) == 3
    assert f"about {plan(number).minutes.total} minutes" in first


@EACH
def test_texts_are_short_and_something_is_to_be_done_soon(number):
    cells = cells_of(number)
    long = [source[:60] for kind, source in cells if kind == "markdown" and words(source) > LONGEST_TEXT]
    between, largest = 0, 0
    for kind, source in cells:
        between = between + words(source) if kind == "markdown" else 0
        largest = max(largest, between)

    assert long == []
    assert largest <= LONGEST_BETWEEN


@EACH
def test_each_prediction_stands_before_its_reveal_and_nothing_is_shown_between(number):
    cells, last = cells_of(number), 0
    for question in plan(number).questions:
        asked, shown = (
            place(cells, f'here.predict("{question.name}", ...'),
            place(cells, f'here.reveal("{question.name}"'),
        )
        assert last <= asked < shown
        assert problems_between(cells, asked, shown) == []
        last = shown


@EACH
def test_each_exercise_can_be_started_checked_and_helped_with(number):
    cells, last = cells_of(number), 0
    for exercise in plan(number).exercises:
        checked, hint = place(cells, f'here.check("{exercise.name}"'), place(cells, f'here.hint("{exercise.name}")')
        assert last < checked < hint
        assert exercise.start is None or f'here.start("{exercise.name}")' in cells[checked][1]
        last = hint


@EACH
def test_it_recalls_earlier_lessons_and_ends_as_all_do(number):
    cells = cells_of(number)
    text = "\n".join(source for kind, source in cells if kind == "markdown")

    assert number == "00" or place(cells, "here.recall()") < place(cells, f'predict("{plan(number).questions[0].name}"')
    assert [heading for heading in HEADINGS if heading not in text] == []


@EACH
def test_no_text_tells_an_outcome(number):
    text = "\n".join(source for kind, source in cells_of(number) if kind == "markdown")
    sentences = [reply for question in plan(number).questions for reply in question.replies.values()]
    hints = [hint for exercise in plan(number).exercises for one in exercise.conditions for hint in one.hints]

    assert re.findall(r"\b(?:20[0-9]|4\d\d|50[0-9])\b", text) == [], "a status is an outcome"
    assert [said for said in (*sentences, *hints) if said in text] == []


@pytest.mark.parametrize("number", ["00", "04", "05", "06", "07", "08"])
def test_a_lesson_with_clusters_keeps_pictures_and_its_reveals_play(number):
    cells = cells_of(number)
    kept = next(at for at, (kind, source) in enumerate(cells) if kind == "code" and ".keep_pictures()" in source)

    assert kept < place(cells, f'here.reveal("{plan(number).questions[0].name}"')
    assert plan(number).questions[0].look


@EACH
def test_what_follows_a_reveal_tells_its_outcome_to_nobody_who_did_not_predict(number):
    """A result between a reveal and the exercises is shown by the kit, or is of what no prediction asks."""
    cells = cells_of(number)
    first = place(cells, f'here.reveal("{plan(number).questions[0].name}"')
    exercises = next(at for at, (_, source) in enumerate(cells) if source.startswith("## Exercise 1"))
    ends = [source.splitlines()[-1] for kind, source in cells[first:exercises] if kind == "code" and is_shown(source)]

    assert [last for last in ends if not last.startswith("here.")] == NOT_ASKED.get(number, [])
    for at, (_, source) in enumerate(cells):
        for name in re.findall(r'here\.show\("(\w+)"', source):
            assert place(cells, f'here.reveal("{name}"') < at


def test_an_expression_between_is_found():
    cells = [("code", "a = 1"), ("code", "b = 2"), ("markdown", "c"), ("code", "b = 3\nb"), ("code", "d")]

    assert problems_between(cells, 0, 4) == ["b = 3\nb"]


@pytest.mark.slow
@EACH
def test_it_shows_the_same_when_it_runs_twice_and_each_cell_runs_twice_in_place(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    once, again, doubled = [shown_by(number, times) for times in (1, 1, 2)]

    assert once == again
    assert len(doubled) == len(once)
    assert list(Path().iterdir()) == [], "what is not answered writes nothing"
    checks = [said for said in once if said.startswith("NOT ATTEMPTED: ")]
    waiting = sum("here.show(" in source for kind, source in cells_of(number) if kind == "code")
    assert len(checks) == len(plan(number).questions) + len(plan(number).exercises) + waiting


@pytest.mark.slow
@EACH
def test_it_is_gone_through_again_in_one_kernel_and_exercises_stand_alone(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = [source for kind, source in cells_of(number) if kind == "code"]
    names: dict[str, Any] = {"__name__": "__main__"}
    first, again = [[repr(run(source, names)) for source in code] for _ in range(2)]
    alone: dict[str, Any] = {"__name__": "__main__"}
    run(code[0], alone)
    exercises = [source for source in code if "here.check(" in source or "here.hint(" in source]

    assert first == again
    assert len([run(source, alone) for source in reversed(exercises)]) == 2 * len(plan(number).exercises)


@pytest.mark.slow
@EACH
def test_what_is_predicted_is_revealed(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    questions = plan(number).questions
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = [run(answered(source, number), names) for kind, source in cells_of(number) if kind == "code"]
    said = [one for one in shown if isinstance(one, Said)]
    outcomes = [one.outcome for one in said]
    revealed = [one.lines[0].partition("; ")[2] for one in said if one.outcome in ("as you said", "not so")]

    assert outcomes.count("sealed") == len(questions)
    assert [text.partition(" show")[0] for text in revealed] == [
        "these runs" if question.takes_runs else f"this {question.world.__name__.lower()}" for question in questions
    ]


def answered(source: str, number: str) -> str:
    """A cell of a lesson with an answer where it asks for a prediction: the first choice, or the least number."""
    for one in plan(number).questions:
        answer = repr(one.choices[0] if one.choices else int(one.least))
        source = source.replace(f'here.predict("{one.name}", ...', f'here.predict("{one.name}", {answer}')
    return source


def shown_by(number: str, times: int) -> list[str]:
    """Run a lesson's cells in order, each so many times; return what the last run of each shows, as text and page."""
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for kind, source in cells_of(number):
        if kind == "code":
            values = [run(source, names) for _ in range(times)]
            page = getattr(values[-1], "_repr_html_", None)
            shown.append(f"{values[-1]!r}\n{page() if page is not None else ''}")
    return shown
