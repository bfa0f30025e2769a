"""demo: plays the first scenario, a first look at what labkit is for."""

from __future__ import annotations

import argparse

from labkit.commands.exit_codes import refuse
from labkit.commands.run import play

DEMO = "first/failover.lab.yaml"


def demo(given: argparse.Namespace) -> int:
    """Run the first scenario and print what happened."""
    from labkit import places

    try:
        path = places.scenarios() / DEMO
    except FileNotFoundError as error:
        return refuse(str(error))
    return play(str(path), given.seed, quiet=False)
