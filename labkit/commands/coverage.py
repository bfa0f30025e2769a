"""coverage: shows which endpoint answers what, and where that is known from."""

from __future__ import annotations

import argparse

from labkit.commands.exit_codes import AS_EXPECTED, refuse


def coverage(given: argparse.Namespace) -> int:
    """Show the page, or of it the endpoints whose method and path have these words in them."""
    from labkit import reference

    words = [word.lower() for word in given.words]
    if not words:
        print(reference.page("coverage"))
        return AS_EXPECTED
    endpoints = reference.entries("coverage")
    found = [text for name, text in endpoints.items() if all(word in name.lower() for word in words)]
    if not found:
        wanted = " and ".join(map(repr, given.words))
        return refuse(f"no endpoint has {wanted} in its method and path; labkit coverage shows all of them")
    print(*found, sep="\n\n")
    return AS_EXPECTED
