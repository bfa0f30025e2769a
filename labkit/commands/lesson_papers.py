"""lesson papers: what readers and teachers need beside the lessons: a reset, solutions, sheets of paper, a review."""

from __future__ import annotations

import argparse
from pathlib import Path

from labkit.commands.exit_codes import AS_EXPECTED, refuse
from labkit.commands.own_name import own_name
from labkit.commands.terminal import say
from labkit.lessons import paper, review, solutions
from labkit.lessons.catalogue import LESSONS, plan
from labkit.lessons.plan import LessonPlan
from labkit.lessons.progress_file import ProgressFile


def answer(given: argparse.Namespace) -> int:
    """Do what the option that was given asks for."""
    if given.reset:
        return _reset(given.reset)
    if given.solutions:
        return _write_solutions(Path(given.solutions))
    if given.print:
        say(paper.booklet([plan(number) for number in sorted(LESSONS)]))
        return AS_EXPECTED
    progress = ProgressFile(".")
    say(*review.due(progress), *([progress.trouble] if progress.trouble else []))
    return AS_EXPECTED


def _reset(number: str) -> int:
    """Put a lesson back as it was delivered, and forget what was done in it; both are kept under other names."""
    from labkit import places

    try:
        lesson = plan(number)
        delivered = (places.notebooks() / lesson.file).read_bytes()
    except (ValueError, OSError) as error:
        return refuse(str(error))
    here = Path(lesson.file)
    if here.resolve() == (places.notebooks() / lesson.file).resolve():
        return refuse(f"{here}: expected a copy of the lessons, got the lessons themselves; {_copy_first()}")
    if not here.is_file():
        return refuse(f"{here}: expected a copy of the lesson in this folder, got none; {_copy_first()}")
    try:
        said = [*_set_aside(here, delivered), *_forget(lesson)]
    except OSError as error:
        return refuse(f"{here}: cannot be reset: {error.strerror}")
    say(*said or [f"{here} is as it was delivered, and nothing was done in it"])
    return AS_EXPECTED


def _set_aside(here: Path, delivered: bytes) -> list[str]:
    if here.read_bytes() == delivered:
        return []
    kept = _free_name(here)
    here.replace(kept)
    here.write_bytes(delivered)
    return [f"{here} is as it was delivered; what you had is {kept}"]


def _forget(lesson: LessonPlan) -> list[str]:
    """Take a lesson's records out of the progress file; the whole file is kept before."""
    progress = ProgressFile(".")
    records = progress.read()
    others = {key: record for key, record in records.items() if not key.startswith(f"{lesson.number}/")}
    if others == records:
        return []
    kept = _free_name(progress.path)
    progress.copy_to(kept)
    progress.write(others)
    return [f"what was done in lesson {lesson.number} is forgotten; {kept} has it"]


def _free_name(path: Path) -> Path:
    number = 1
    while (found := path.with_name(f"{path.stem}.old-{number}{path.suffix}")).exists():
        number += 1
    return found


def _write_solutions(folder: Path) -> int:
    """Write the solutions of every lesson, never where lessons are."""
    lessons = [plan(number) for number in sorted(LESSONS)]
    if any((folder / lesson.file).exists() for lesson in lessons):
        return refuse(f"{folder}: expected a folder without lessons, got one with them; solutions belong elsewhere")
    try:
        if not folder.parent.is_dir():
            return refuse(f"{folder}: expected a folder {folder.parent}, got none; make it first, or choose another")
        folder.mkdir(exist_ok=True)
        for lesson in lessons:
            (folder / solutions.file_name(lesson)).write_text(solutions.notebook(lesson), encoding="utf-8")
    except OSError as error:
        return refuse(f"{folder}: cannot be written: {error.strerror}")
    say(f"wrote solutions of {len(lessons)} lessons to {folder}")
    return AS_EXPECTED


def _copy_first() -> str:
    return f"{own_name()} lessons --copy FOLDER makes one"
