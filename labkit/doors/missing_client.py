"""Missing client: what is said where a door is imported whose client is not installed."""

from __future__ import annotations


def missing_client(package: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error to raise for the one that an import of a client's package ended in."""
    missing = (error.name or package).partition(".")[0]
    lacks = "" if missing == package else f" with all that it needs ({missing} is missing)"
    return ModuleNotFoundError(
        f"labkit.doors.{package} is for the client {package}, which is not installed{lacks}: pip install {package}",
        name=missing,
    )
