"""A small lesson of one vault, for tests of the kit; the plans of the catalogue have tests of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labkit import Vault
from labkit.lessons.lesson_handle import Lesson
from labkit.lessons.plan import Condition, Exercise, LessonPlan, Minutes, Question, Recall, Trap
from labkit.lessons.worlds import KeptStart

APP = "secret/data/app"


@KeptStart
def start() -> Vault:
    vault = Vault.dev(seed=5)
    vault.post(APP, {"data": {"n": 1}})
    return vault


def look(branch: Vault) -> Any:
    found = branch.get(APP)
    branch.delete(APP)  # a check may do anything in its branch
    branch.advance("1h")
    return found.data["data"] if found.ok else {}


def set_two(vault: Vault) -> None:
    """Write it at once."""
    vault.post(APP, {"data": {"n": 2}})


def patch_two(vault: Vault) -> None:
    """Write it after something else."""
    vault.post(APP, {"data": {"n": 3}})
    vault.post(APP, {"data": {"n": 2}})


HINTS = ("look at n", "n is a number", "post()")
TWO = Exercise(
    name="two",
    title="Two",
    goal="n is 2",
    start=start,
    look=look,
    takes=("the vault",),
    conditions=(
        Condition(
            name="there", holds=lambda seen: "n" in seen, says=lambda seen: f"{seen}", asks="n is there", hints=HINTS
        ),
        Condition(
            name="is two",
            holds=lambda seen: seen["n"] == 2,
            says=lambda seen: f"n is {seen['n']}",
            asks="n has to be 2",
            hints=HINTS,
        ),
    ),
    ways={"write": set_two, "write twice": patch_two},
    traps=(
        Trap(name="three", act=lambda vault: vault.post(APP, {"data": {"n": 3}}), refused_by="is two"),
        Trap(name="gone", act=lambda vault: vault.delete(APP), refused_by="there"),
    ),
)
DOUBLE = Exercise(
    name="double",
    title="Double",
    goal="a function that doubles",
    look=lambda function: function(4),
    takes=("a function of one number",),
    conditions=(
        Condition(
            name="doubles",
            holds=lambda seen: seen == 8,
            says=lambda seen: f"4 became {seen}",
            asks="4 becomes 8",
            hints=HINTS,
        ),
    ),
    ways={"times": lambda n: 2 * n, "plus": lambda n: n + n},
    traps=(Trap(name="square", act=lambda n: n * n, refused_by="doubles"),),
    untouched=lambda function: function(4) is None,
)
LATEST = Question(
    name="latest",
    world=Vault,
    asks="Which version is the latest?",
    least=0,
    most=9,
    measure=lambda vault: vault.get(APP).data["metadata"]["version"],
    needs=lambda vault: "" if vault.get(APP).ok else "Write it first.",
    why=lambda vault: "Each write makes a version.",
    replies={1: "One would be right if a write replaced the last."},
    otherwise="Count the writes.",
)
KIND = Question(
    name="kind",
    world=Vault,
    asks="Which?",
    choices=("old", "new"),
    measure=lambda vault: "new",
    why=lambda vault: "It is new.",
    replies={"old": "Old is what it was."},
    otherwise="",
)
RECALLS = (Recall(of="00", asks="Which number?", choices=("one", "two"), answer="two", says="It is two."),)
PLAN = LessonPlan(
    number="99",
    file="99_small.ipynb",
    title="Small: is it enough?",
    minutes=Minutes(recall=1, first=2, changed=2, exercises=(3, 3), end=1),
    ask="Who?",
    cut="all",
    questions=(LATEST, KIND),
    exercises=(TWO, DOUBLE),
    recalls=RECALLS,
)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reader's home of this test only."""
    made = tmp_path_factory.mktemp("home")
    monkeypatch.setattr(Path, "home", lambda: made)
    return made


@pytest.fixture
def here(tmp_path: Path) -> Lesson:
    return Lesson(PLAN, str(tmp_path))


@pytest.fixture
def vault() -> Vault:
    return start()
