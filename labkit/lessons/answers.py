"""Answers: what a reader gives for a prediction or a recall, read as it was meant: a number, its text, or a choice."""

from __future__ import annotations

from typing import Any

from labkit.service.arguments import one_of, wrong


def chosen(answer: Any, choices: tuple[str, ...]) -> str:
    """Return the choice that is meant: its own text or how that begins, or a number in place of its text."""
    is_number = isinstance(answer, int | float) and not isinstance(answer, bool)
    meant = f"{answer:g}" if is_number else answer.strip().casefold() if isinstance(answer, str) else None
    found = [choice for choice in choices if choice.casefold() == meant]
    found = found or [choice for choice in choices if meant and not is_number and choice.casefold().startswith(meant)]
    return one_of("answer", "one of the choices", found[0] if len(found) == 1 else answer, choices)


def number(answer: Any, least: float, most: float, unit: str = "") -> float:
    """Return a number between two bounds: as it is, or from its text, with the unit or without."""
    found = _read(answer, unit) if isinstance(answer, str) else answer
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    if not is_number or not least <= found <= most:
        raise wrong("answer", f"a number from {least:g} to {most:g}", answer)
    value: float = found
    return value


def _read(text: str, unit: str) -> Any:
    digits = text.strip().removesuffix(unit.strip()).strip()
    for kind in (int, float):
        try:
            return kind(digits)
        except ValueError:
            continue
    return text
