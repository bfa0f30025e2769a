"""schema: prints the JSON Schema of scenario files, with which editors complete and check them."""

from __future__ import annotations

import argparse
import json

from labkit.commands.exit_codes import AS_EXPECTED


def schema(given: argparse.Namespace) -> int:
    """Print the schema."""
    print(text())
    return AS_EXPECTED


def text() -> str:
    """The schema as it is printed, and shipped beside the models that it is made from."""
    from labkit.scenario import schema as made

    return json.dumps(made.schema(), indent=1)
