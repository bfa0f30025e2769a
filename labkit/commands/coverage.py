"""coverage: shows which endpoint answers what, and where that is known from."""

from __future__ import annotations

import argparse

from labkit.commands.exit_codes import AS_EXPECTED, refuse
from labkit.commands.terminal import columns, say, show_page


def coverage(given: argparse.Namespace) -> int:
    """Show the page, or of it the endpoints whose method and path have these words in them."""
    from labkit import reference
    from labkit.reference.reflow import reflow

    words = [word.lower() for word in given.words]
    if not words:
        text = reference.page("coverage")
        show_page(reflow(text, columns()) if columns() else text)
        return AS_EXPECTED
    endpoints = reference.entries("coverage")
    found = [text for name, text in endpoints.items() if all(word in name.lower() for word in words)]
    if not found:
        wanted = " and ".join(map(repr, given.words))
        return refuse(f"no endpoint has {wanted} in its method and path; labkit coverage shows all of them")
    say(*found, sep="\n\n")
    return AS_EXPECTED
