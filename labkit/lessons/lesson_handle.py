"""Lesson handle: what a notebook holds of a lesson: predict, reveal, show, start, check, hint, recall.

1. A prediction is sealed: what was answered before the reveal stays, and a second answer stands beside it.
2. Nothing here raises over what a reader did or left undone; a name that does not exist, or another kind of thing
   than what is asked for, is an error that says so.
3. What is unanswered or not attempted writes nothing.
"""

from __future__ import annotations

from typing import Any

from labkit.lessons.answers import chosen, number
from labkit.lessons.catalogue import LESSONS, plan
from labkit.lessons.judging import ELSEWHERE, Judgement, conditions_of, judge
from labkit.lessons.overlooked import overlooked
from labkit.lessons.plan import Exercise, LessonPlan, Question, Recall, takes_so_many
from labkit.lessons.progress_file import AGAIN, ALONE, SEEN, WITH_HELP, ProgressFile
from labkit.lessons.said import CANNOT_JUDGE, NOT_ATTEMPTED, NOT_YET, READABLE_EXPORT, RIGHT, GivenText, RowTable, Said
from labkit.lessons.worlds import is_world
from labkit.service.arguments import one_of, whole_number, wrong

SURE = ("a guess", "fairly sure", "certain")
HOW_SURE = "With it goes how sure you are: sure=1 for a guess, 2 for fairly sure, 3 for certain."
AS_SAID, NOT_SO = "as you said", "not so"
MEANS = {
    SEEN: "seen: checked, not right yet",
    WITH_HELP: "with help: right after a hint",
    ALONE: "alone: right without a hint",
    AGAIN: "again later: right once more, after another exercise",
}
SEALED, ASKED, HINT = "sealed", "your prediction", "hint"
REPORT = "This check failed itself, which is not your doing and counts as nothing"


class Lesson:
    """One lesson as a reader holds it."""

    def __init__(self, plan: LessonPlan, folder: str = ".") -> None:
        self.plan = plan
        self.progress = ProgressFile(folder)
        self._begun_again: set[str] = set()

    def __repr__(self) -> str:
        return f"Lesson {self.plan.number}: {self.plan.title} ({self.plan.minutes.total} minutes)"

    def _repr_html_(self) -> str:
        return f"{READABLE_EXPORT}<p>{self!r}</p>"

    # ---- recall

    def recall(self, number: int = 0, answer: Any = ...) -> Said:
        """Ask the questions of earlier lessons; with the number of one and an answer, one of its choices, check it."""
        recalls = self.plan.recalls
        if number == 0:
            asked = [f"{place}. {_asked(one)}" for place, one in enumerate(recalls, 1)]
            return Said("recall", ('answer the first with here.recall(1, "…"), one of its choices, or go on', *asked))
        whole_number("number", f"the number of a question, from 1 to {len(recalls)}", number, 1, len(recalls))
        one = recalls[number - 1]
        if answer is ...:
            return Said("recall", (_asked(one),))
        known = chosen(answer, one.choices) == one.answer
        self._put("recall", f"{one.of}: {one.asks}", {"missed": not known})
        return self._said(RIGHT if known else NOT_SO, one.says, f"That was lesson {one.of}.")

    # ---- predictions

    def predict(self, name: str = "", answer: Any = ..., sure: int = 2) -> Said:
        """Seal an answer, and how sure you are of it: 1 a guess, 2 fairly, 3 certain.  With ... it asks only."""
        question = self._question(name)
        if answer is ...:
            return Said(ASKED, (question.asks, f"Write {_kind(question)} in place of ... and run this cell.", HOW_SURE))
        answer = _read(question, answer)
        whole_number("sure", "1 for a guess, 2 for fairly sure, 3 for certain", sure, 1, 3)
        kept = self._kept("predict", name)
        if kept.get("revealed"):
            if answer != kept["answer"]:
                self._put("predict", name, {**kept, "second": answer})
            beside = f"; {answer} stands beside it" if answer != kept["answer"] else ""
            again = (
                f"`labkit lessons --reset {self.plan.number}` begins the lesson again: it forgets what you said, and "
                "puts the notebook back as delivered; both are kept under other names."
            )
            return self._said(SEALED, question.asks, f"You said {kept['answer']}, and that stays{beside}.", again)
        self._put("predict", name, {"answer": answer, "sure": sure})
        return self._said(SEALED, question.asks, f"You said {answer}{question.unit} and are {_surely(sure)}.")

    def reveal(self, name: str = "", world: Any = ...) -> Said:
        """Show what you said beside what this lab shows, and why it is so; without a prediction nothing is shown."""
        question, kept = self._question(name), self._kept("predict", name)
        if "answer" not in kept:
            return Said(NOT_ATTEMPTED, ("Predict first: nothing is shown before you have answered.",))
        if not isinstance(world, list if question.takes_runs else question.world):
            raise wrong("world", _handed_over(question), world)
        try:
            lacks = question.needs(world)
            if lacks:
                return Said(NOT_YET, (lacks,))
            found, why = question.measure(world), question.why(world)
            drawn = question.draw(world)
        except Exception as error:
            return Said(CANNOT_JUDGE, (f"{REPORT}: {type(error).__name__}: {error}",))
        answer = kept["answer"]
        outcome = AS_SAID if _agrees(question, answer, found) else NOT_SO
        self._put("predict", name, {**kept, "revealed": outcome})
        said = f"You said {answer}{question.unit} and were {_surely(kept['sure'])}; "
        if "second" in kept:
            said += f"later you said {kept['second']}; "
        shows = "these runs show" if question.takes_runs else f"this {question.world.__name__.lower()} shows"
        said += f"{shows} {_rounded(found)}{question.unit}"
        said += ", which is near enough." if outcome == AS_SAID and answer != found else "."
        reply = "" if outcome == AS_SAID else question.replies.get(answer, question.otherwise)
        return self._said(outcome, said, reply, why, *_look(question, drawn), drawn=drawn)

    def show(self, name: str, result: Any) -> Any:
        """Return a result that goes with a prediction, once that was revealed; before, it would tell the outcome."""
        kept = self._kept("predict", self._question(name).name)
        if kept.get("revealed"):
            return result
        first = f"Reveal the prediction {name!r} first" if "answer" in kept else f"Predict {name!r} first"
        return Said(NOT_ATTEMPTED, (f"{first}: what stands here tells its outcome.",))

    # ---- exercises

    def start(self, name: str = "") -> Any:
        """Return the lab or vault in which an exercise begins, a new one each time, or the text that it begins with."""
        exercise = self._exercise(name)
        self._begun_again.add(name)
        if exercise.begins_with:
            return GivenText(exercise.begins_with)
        if exercise.start is None:
            raise ValueError(f"start: {name} has no lab of its own; hand in {_listed(exercise.takes)}")
        return exercise.start()

    def check(self, name: str = "", *handed: Any) -> Said:
        """Judge what you hand in by the state that it is in; it stays as it is."""
        exercise = self._exercise(name)
        if len(handed) != len(exercise.takes):
            raise ValueError(f"check: expected {_listed(exercise.takes)} after {name!r}, got {len(handed)} arguments")
        if handed[0] is ...:
            return Said(NOT_ATTEMPTED, (exercise.goal,))
        if exercise.start is not None and not is_world(handed[0]):
            raise wrong(exercise.takes[0], f"what here.start({name!r}) gave", handed[0])
        if exercise.start is None and not exercise.accepts(handed[0]):
            raise wrong(exercise.takes[0], exercise.accepted, handed[0])
        if exercise.start is None and callable(handed[0]) and not takes_so_many(handed[0], exercise.arguments):
            raise wrong(exercise.takes[0], f"one that is called with {_arguments(exercise.arguments)}", handed[0])
        judged = judge(exercise, handed)
        self._note(exercise, judged)
        if judged.outcome == NOT_ATTEMPTED:
            return Said(NOT_ATTEMPTED, (exercise.goal,))
        self._begun_again.discard(name)
        if judged.outcome == CANNOT_JUDGE:
            return Said(CANNOT_JUDGE, (f"{REPORT}: {judged.seen}",))
        if judged.outcome == RIGHT:
            return self._said(RIGHT, exercise.goal, judged.seen)
        asks, helps = conditions_of(exercise)[judged.condition].asks, f"`here.hint({name!r})` helps."
        is_own = exercise.start is not None and judged.condition != ELSEWHERE
        slips = overlooked(exercise, handed[0]) if is_own else ()
        stop = "" if judged.seen.endswith(("?", "!", ".")) else "."
        return self._said(NOT_YET, asks, f"Seen here: {judged.seen}{stop}", *slips, helps)

    def hint(self, name: str = "") -> Said:
        """Give one hint, aimed at what the last check found; the next one comes after another attempt was checked."""
        exercise, kept = self._exercise(name), self._kept("check", name)
        condition = conditions_of(exercise).get(kept.get("failed", ""))
        if condition is None and kept.get("skill", SEEN) != SEEN:
            return Said(HINT, ("Your last check was right: nothing is left to hint at.",))
        if condition is None:
            return Said(HINT, ("Try something and check it first: a hint is aimed at what the check found.",))
        rungs = dict(kept.get("rungs", {}))
        given, at = rungs.get(condition.name, (0, ""))
        again = given > 0 and at == kept["attempt"]
        if not again:
            given = min(given + 1, len(condition.hints))
            rungs[condition.name] = (given, kept["attempt"])
            self._put("check", name, {**kept, "rungs": rungs, "helped": True})
        lines = [condition.hints[given - 1]]
        if name in self._begun_again:
            lines.append("That is about what you checked last; you have begun again since, so check what you have now.")
        if given == len(condition.hints):
            lines.append("That is the last hint; `labkit lessons --solutions FOLDER` writes solutions.")
        elif again:
            lines.append("Another hint comes when another attempt was checked.")
        return self._said(HINT, *lines)

    def done(self) -> RowTable:
        """Show what you predicted, how far you are with each exercise, and which notebook is the next."""
        rows = []
        for question in self.plan.questions:
            kept = self._kept("predict", question.name)
            said = f"you said {kept['answer']}" if "answer" in kept else "open"
            said += f": {kept['revealed']}" if kept.get("revealed") in (AS_SAID, NOT_SO) else ""
            rows.append({"part": f"prediction {question.name}", "so far": said})
        for exercise in self.plan.exercises:
            skill = self._kept("check", exercise.name).get("skill", "open")
            rows.append({"part": f"exercise {exercise.name}", "so far": MEANS.get(skill, skill)})
        after = next((one for one in sorted(LESSONS) if one > self.plan.number), "")
        if after:
            rows.append({"part": "the next notebook", "so far": plan(after).file})
        return RowTable(f"Lesson {self.plan.number}, so far", rows)

    # ---- what stands behind them

    def _question(self, name: str) -> Question:
        questions = {one.name: one for one in self.plan.questions}
        return questions[one_of("name", "a prediction of this lesson", name, tuple(questions))]

    def _exercise(self, name: str) -> Exercise:
        exercises = {one.name: one for one in self.plan.exercises}
        return exercises[one_of("name", "an exercise of this lesson", name, tuple(exercises))]

    def _kept(self, kind: str, name: str) -> dict[str, Any]:
        record = self.progress.get(f"{self.plan.number}/{kind}/{name}")
        return record if _is_whole(kind, record) else {}

    def _put(self, kind: str, name: str, record: dict[str, Any]) -> None:
        key = f"{self.plan.number}/{kind}/{name}"
        if self.progress.get(key) != record:
            self.progress.put(key, record)

    def _said(self, outcome: str, *lines: str, drawn: Any = None) -> Said:
        trouble = (self.progress.trouble,) if self.progress.trouble else ()
        return Said(outcome, (*[line for line in lines if line], *trouble), drawn)

    def _note(self, exercise: Exercise, judged: Judgement) -> None:
        """Write down what a check found: seen, with help, alone, or again after another exercise was right."""
        if judged.outcome not in (NOT_YET, RIGHT):
            return
        kept = self._kept("check", exercise.name)
        if judged.outcome == NOT_YET:
            kept = {"skill": SEEN, **kept, "failed": judged.condition, "attempt": judged.attempt}
            self._put("check", exercise.name, kept)
            return
        latest = self.progress.get("latest").get("right", "")
        name = f"{self.plan.number}/{exercise.name}"
        if kept.get("skill") in (WITH_HELP, ALONE) and latest != name:
            kept["skill"] = AGAIN
        elif kept.get("skill") not in (WITH_HELP, ALONE, AGAIN):
            kept["skill"] = WITH_HELP if kept.get("helped") else ALONE
        kept.pop("failed", None)
        self._put("check", exercise.name, kept)
        self.progress.put("latest", {"right": name})


def _arguments(number: int) -> str:
    return f"{number} argument{'' if number == 1 else 's'}"


def _is_whole(kind: str, record: dict[str, Any]) -> bool:
    """Whether a record is as it was written here; one that was changed by hand counts as none."""
    if kind == "predict":
        return isinstance(record.get("answer"), int | float | str) and record.get("sure") in (1, 2, 3)
    rungs = record.get("rungs", {})
    climbed = rungs.values() if isinstance(rungs, dict) else [None]
    is_known_again = "failed" not in record or isinstance(record.get("attempt"), str)
    return is_known_again and all(isinstance(rung, list | tuple) and len(rung) == 2 for rung in climbed)


def _asked(one: Recall) -> str:
    return f"{one.asks} ({' / '.join(one.choices)})"


def _kind(question: Question) -> str:
    """Say which answers a question takes."""
    if question.choices:
        return "one of " + ", ".join(map(repr, question.choices))
    return f"a number from {question.least:g} to {question.most:g}"


def _handed_over(question: Question) -> str:
    """Say what a question is revealed of."""
    return (
        "the list of runs of the cell above" if question.takes_runs else f"the {question.world.__name__.lower()} above"
    )


def _read(question: Question, answer: Any) -> Any:
    """Return an answer as the question takes it."""
    if question.choices:
        return chosen(answer, question.choices)
    return number(answer, question.least, question.most, question.unit)


def _agrees(question: Question, answer: Any, found: Any) -> bool:
    if question.choices:
        same: bool = answer == found
        return same
    return bool(abs(answer - found) <= question.near)


def _surely(sure: int) -> str:
    return SURE[sure - 1] if sure > 1 else "guessing"


def _rounded(found: Any) -> str:
    return f"{found:.1f}" if isinstance(found, float) else str(found)


def _look(question: Question, drawn: Any) -> tuple[str, ...]:
    return (question.look,) if drawn is not None and question.look else ()


def _listed(takes: tuple[str, ...]) -> str:
    return " and ".join(takes)
