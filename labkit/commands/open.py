"""open: shows a lab that was saved to a file: its map, its timeline and its ledger in words; serves it or plays it.

1. Opening runs nothing: what is shown is the lab at the instant at which it was saved.
2. ``--serve`` goes on from there behind real ports, until Ctrl-C; ``--play`` writes the run up to there as a page.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from textwrap import fill
from typing import TYPE_CHECKING, Any

from labkit.commands.exit_codes import AS_EXPECTED, refuse
from labkit.commands.playing import show
from labkit.commands.terminal import columns, prose_columns
from labkit.service.durations import format_duration

if TYPE_CHECKING:
    from labkit.front.lab import Lab
    from labkit.front.lab_file.lab_file import LabFile

ABOUT = "show a lab that lab.save or run --save-at wrote: map, timeline, ledger"
MAX_SHOWN_LINES = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("file", metavar="FILE", help="a saved lab")
    parser.add_argument(
        "--play", metavar="OUT", help="write the run up to then, moving: a page (.html) or data (.json)"
    )
    about_serve = "go on from there behind real ports, until Ctrl-C; with the options of labkit serve behind it"
    parser.add_argument("--serve", nargs=argparse.REMAINDER, metavar="OPTION", help=about_serve)


def open_lab(given: argparse.Namespace) -> int:
    """Open a file, show it, and serve or play it where that is asked for."""
    from labkit.front.lab import Lab
    from labkit.front.lab_file.disk import open_file
    from labkit.front.lab_file.errors import LabFileError

    try:
        lab, found = open_file(given.file, Lab.restore)
    except OSError as error:
        return refuse(f"{given.file}: {error.strerror}")
    except (LabFileError, ValueError) as error:
        return refuse(str(error))
    if given.serve is not None and given.play is not None:
        return refuse("--play and --serve: expected one of them, got both; open the file twice")
    if given.serve is not None:
        return _serve(given.file, lab, given.serve)
    try:
        shown = [*_paragraphs(lab, found)]
    except Exception as error:  # whatever a file may hold that no lab writes
        if os.environ.get("LABKIT_TRACEBACK"):
            raise
        return refuse(f"{given.file}: the lab in it cannot be shown: {type(error).__name__}: {error!s:.200}")
    show(*shown)
    if given.play is not None:
        try:
            lab.play().save(given.play)
        except (OSError, ValueError) as error:
            return refuse(f"--play: {given.play} cannot be written: {error}")
    return AS_EXPECTED


def _paragraphs(lab: Lab, found: LabFile) -> Iterator[object]:
    """Yield what is shown: what the lab is, and in words what its map, its timeline and its ledger show."""
    from labkit.scenario.event_log import event_log

    title = lab.scenario.title if lab.scenario is not None else "A lab"
    yield from (title, "=" * len(title))
    where = f", {lab.scenario.progress}" if lab.scenario is not None else ""
    yield f"at {format_duration(lab.now)} of lab time{where}; seed {lab.seed}; written by {found.written_by}"
    if found.left_out:
        yield f"left out, as they are functions: the rules {', '.join(found.left_out)}"
    yield from ("", "map:", fill(lab.map().description, prose_columns()))
    lines = [*map(str, event_log(lab.trace))]
    left_out = [f"({len(lines) - MAX_SHOWN_LINES} earlier lines)"] if len(lines) > MAX_SHOWN_LINES else []
    if lab.trace.enabled:
        yield from ("", "timeline:", fill(lab.timeline().description, prose_columns()), *left_out)
        yield from lines[-MAX_SHOWN_LINES:]
    else:
        yield from ("", "timeline: the lab keeps no trace")
    yield from ("", "ledger:", f"{lab.ledger!r}; {lab.ledger.rpo()!r}; {lab.ledger.rto()!r}")
    for violation in lab.invariants.broken.values():
        yield fill(f"broken: {violation}", columns() or 110)


def _serve(path: str, lab: Lab, options: list[str]) -> int:
    """Serve the lab of a file as ``labkit serve --lab`` serves a scenario's, from the instant of the file on.

    The page's button to begin again goes back to that instant.
    """
    import tempfile
    from pathlib import Path

    from labkit.commands import serving
    from labkit.commands.serve_lab import serve_until
    from labkit.commands.serve_options import NOW, PORT
    from labkit.doors.tls_files import make_tls_files

    given = _options(path, options)
    wrong = [name for name in _OF_OTHER_LABS if (value := getattr(given, name)) is not None and value is not False]
    if wrong:
        return refuse(f"--{wrong[0].replace('_', '-')} goes without a saved lab, which says what its clusters are")
    given.lab, port, saved = path, PORT if given.port is None else given.port, lab.snapshot()
    with tempfile.TemporaryDirectory() as folder, serving.until_stopped() as stop:
        tls = make_tls_files(Path(folder)) if given.tls else None
        settings = serving.settings_of(given, tls, lambda: serving.log(f"the page's next address: {door.page}"))

        def door_to(settings: Any) -> Any:
            return lab.restore(saved).serve(port, speed=1 if given.speed is None else given.speed, settings=settings)

        door = door_to(settings)
        door.again = lambda: door_to(settings)
        if given.start != NOW:
            door.driver.wait_for_somebody()
        return serve_until(stop, door, given, tls, "labkit open")


def _options(path: str, options: list[str]) -> argparse.Namespace:
    """Read the options of ``labkit serve`` that stand behind --serve."""
    from labkit.commands import serve_options

    parser = argparse.ArgumentParser(prog=f"labkit open {path} --serve")
    serve_options.add_arguments(parser)
    return parser.parse_args(options)


_OF_OTHER_LABS = ("config", "data", "contents", "lab", "audit_dir", "edition", "service_version", "fips", "seed")
