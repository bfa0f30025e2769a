"""Snippets: what the pages for readers show to be run, taken out of their text, and run."""

from __future__ import annotations

import ast
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

PYTHON = re.compile(r"(?ms)^```python\n(.*?)^```$")
SHELL = re.compile(r"(?ms)^```sh\n(.*?)^```$")
LINE = re.compile(r"(?m)^labkit ([^#\n]+)")
SPAN = re.compile(r"`labkit ([^`\n]+)`")


def python(text: str) -> list[str]:
    """The Python snippets of a page, in its order."""
    return PYTHON.findall(text)


def commands(text: str) -> list[list[str]]:
    """The arguments of each ``labkit`` command of a page, in its order; one that stands twice is listed once."""
    shown = [*LINE.findall("".join(shell(text))), *SPAN.findall(text)]
    return [command.split() for command in dict.fromkeys(shown)]


def shell(text: str) -> list[str]:
    """The blocks of commands for a shell, in their order."""
    return SHELL.findall(text)


def run(snippets: list[str], names: dict[str, Any] | None = None) -> list[str]:
    """Run snippets one after the other, as a reader does; return what is not as a comment beside it says."""
    names = {} if names is None else names
    wrong = []
    for snippet in snippets:
        lines = snippet.splitlines()
        for statement in ast.parse(snippet).body:
            code = ast.unparse(statement)
            if not isinstance(statement, ast.Expr):
                exec(compile(code, code, "exec"), names)
                continue
            value = eval(code, names)
            assert statement.end_lineno is not None
            said = lines[statement.end_lineno - 1][statement.end_col_offset :].lstrip(" #")
            if is_literal(said) and ast.literal_eval(said) != value:
                wrong.append(f"{code} is {value!r}, not {said}")
    return wrong


def is_literal(said: str) -> bool:
    """Whether a comment is a value, and no words about it."""
    try:
        ast.literal_eval(said)
    except (SyntaxError, ValueError):
        return False
    return True


def serve_and_stop(arguments: list[str], folder: Path) -> str:
    """Start a command that serves, on a free port; stop it once it answers; return its first line."""
    process = subprocess.Popen(
        [sys.executable, "-m", "labkit", *arguments, "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=20)
        assert process.returncode == 0, errors
        return said
    finally:
        process.kill()
