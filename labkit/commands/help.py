"""help: shows a reference page or one entry of it, as wide as the terminal, by the reader's pager."""

from __future__ import annotations

import argparse

from labkit.commands.exit_codes import AS_EXPECTED, refuse
from labkit.commands.terminal import columns, prose_columns, say, show_page


def help_topic(given: argparse.Namespace) -> int:
    """Show a reference page or one entry of it; the list of pages when no topic is given."""
    from labkit import reference
    from labkit.reference.reflow import reflow

    if given.topic is None:
        say(*(f"labkit help {topic:<12}  {about}" for topic, about in reference.TOPICS.items()))
        return AS_EXPECTED
    try:
        if given.topic == "teaching":
            text = _teaching(given.entry)
        else:
            text = _of_python(given.topic, given.entry) or _written(given.topic, given.entry)
    except (reference.UnknownTopic, UnknownLesson) as error:
        return refuse(str(error))
    show_page(reflow(text, prose_columns()) if columns() else text)
    return AS_EXPECTED


def _written(topic: str, entry: str | None) -> str:
    from labkit import reference

    return reference.entry(topic, entry) if entry else reference.page(topic)


def _of_python(topic: str, entry: str | None) -> str:
    """Return a page with every name of the classes that it is about, or what it says of one name; else nothing."""
    from labkit import reference
    from labkit.reference.python_examples import ON_PAGE

    if topic not in ON_PAGE:
        return ""
    from labkit.front import names_page

    if not entry:
        return f"{reference.page(topic)}\n\n{names_page.section(topic)}"
    rows = names_page.rows(topic, entry)
    return "\n\n".join([reference.entry(topic, entry), rows]) if rows and entry in reference.entries(topic) else rows


class UnknownLesson(Exception):
    """No lesson has the number that was asked for."""


def _teaching(entry: str | None) -> str:
    """Return the trainer's page with all that the lessons say for it, or one section or lesson of it."""
    from labkit import reference
    from labkit.lessons import teaching

    if not entry:
        return f"{reference.page('teaching')}\n\n{teaching.guide()}"
    if not entry.isdigit():
        return reference.entry("teaching", entry)
    try:
        return teaching.guide(entry)
    except ValueError as error:
        raise UnknownLesson(str(error)) from None
