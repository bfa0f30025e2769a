"""help: shows a reference page or one entry of it."""

from __future__ import annotations

import argparse

from labkit.commands.exit_codes import AS_EXPECTED, refuse


def help_topic(given: argparse.Namespace) -> int:
    """Show a reference page or one entry of it; the list of pages when no topic is given."""
    from labkit import reference

    if given.topic is None:
        print(*(f"labkit help {topic:<12}  {about}" for topic, about in reference.TOPICS.items()), sep="\n")
        return AS_EXPECTED
    try:
        print(reference.entry(given.topic, given.entry) if given.entry else reference.page(given.topic))
    except reference.UnknownTopic as error:
        return refuse(str(error))
    return AS_EXPECTED
