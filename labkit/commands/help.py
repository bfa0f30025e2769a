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
            text = reference.entry(given.topic, given.entry) if given.entry else reference.page(given.topic)
    except (reference.UnknownTopic, UnknownLesson) as error:
        return refuse(str(error))
    show_page(reflow(text, prose_columns()) if columns() else text)
    return AS_EXPECTED


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
