"""Packed script: a module of the player without what only its reader needs: comments, indents, spaces around signs.

1. Lines stay lines, so what ends a statement still does; text in quotes, templates and patterns stays as it is.
2. It knows the JavaScript that is written here: a comment has lines of its own, a division has spaces around it.
"""

from __future__ import annotations

import re

TEXT = r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*\'"""
SIGNS = r" *(?:=>|[=!]==|&&|\|\||\?\?|[=<>?:,;{}()\[\]|!*]) *| [-+/%] (?![-+])"
TOKEN = re.compile(rf"{TEXT}|/(?![/*\s])(?:\\.|[^/\\\n])+/|`|{SIGNS}")
INSIDE = re.compile(rf"{TEXT}|[`{{}}]")
IMPORTS = re.compile(r"^(?:import|export) \{[^}]*\}[^;]*;\n?", re.MULTILINE)


def packed_script(module: str) -> str:
    """Return a module without imports and exports, comments, indents and spaces around signs."""
    lines = (line.strip() for line in IMPORTS.sub("", module).splitlines())
    text = "\n".join(line for line in lines if line and not line.startswith("//"))
    kept, place = "", 0
    while token := TOKEN.search(text, place):
        kept += text[place : token.start()]
        place = _template_end(text, token.end()) if token[0] == "`" else token.end()
        kept += token[0] if token[0][0] in "\"'/" else text[token.start() : place].strip(" ")
    return kept + text[place:]


def _template_end(text: str, place: int) -> int:
    """Return where a template ends that began before a place; what is put into it may hold others."""
    while text[place] != "`":
        if text.startswith("${", place):
            place = _insertion_end(text, place + 2)
        else:
            place += 2 if text[place] == "\\" else 1
    return place + 1


def _insertion_end(text: str, place: int) -> int:
    """Return where the code ends that is put into a template, or that stands in braces there."""
    while token := INSIDE.search(text, place):
        place = token.end()
        if token[0] == "}":
            return place
        if token[0] == "`":
            place = _template_end(text, place)
        elif token[0] == "{":
            place = _insertion_end(text, place)
    raise ValueError("script: expected a brace that ends what is put into a template")
