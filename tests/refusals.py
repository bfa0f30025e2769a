"""What a refused request of the API looks like: its status and its text, in either shape that servers give it."""

from __future__ import annotations

from typing import Any


def refused(answer: Any, text: str, status: int = 400) -> bool:
    """Whether a request was refused with this text: bare, or as the one item of a list of errors."""
    assert answer.status == status, (answer.status, answer.errors)
    assert answer.errors in ([text], [f"1 error occurred:\n\t* {text}\n\n"]), (answer.errors, text)
    return True


def refused_bare(answer: Any, text: str) -> bool:
    """Whether a request was refused with 400 and this text, in no list of errors."""
    assert (answer.status, answer.errors) == (400, [text])
    return True
