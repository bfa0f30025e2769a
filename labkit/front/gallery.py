"""Gallery: the pictures of README and pages: of the scenario that ``labkit demo`` runs, and of a kept profile.

``python -m labkit.front.gallery`` draws them again into ``labkit/reference``; a test compares them with the code.
"""

from __future__ import annotations

from pathlib import Path

from labkit.front import speed_chart
from labkit.front.lab import Lab
from labkit.places import scenarios

FOLDER = Path(__file__).parent.parent / "reference"


def draw_all() -> dict[str, str]:
    """Run the scenario, read the profile, and return each picture's file name and SVG."""
    lab = Lab.load(scenarios() / "first" / "failover.lab.yaml")
    lab.run()
    profile = speed_chart.draw(speed_chart.read())
    return {"failover.svg": lab.timeline().svg + "\n", "speed.svg": profile.svg + "\n"}


def keep(folder: Path) -> None:
    """Write the pictures into a folder."""
    for name, svg in draw_all().items():
        (folder / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    keep(FOLDER)
