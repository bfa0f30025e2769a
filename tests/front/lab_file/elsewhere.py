"""A lab that is saved on one system and Python goes on on another as it would have gone on there.

    python -m tests.front.lab_file.elsewhere save FOLDER
    python -m tests.front.lab_file.elsewhere check FOLDER

The first writes a lab under way and how it ends here; the second opens it and compares how it ends there.  Hosted CI
hands the folder from one system to the others.
"""

from __future__ import annotations

import sys
from pathlib import Path

from labkit import Lab
from labkit.front.lab_file.disk import open_file
from tests.front.lab_file.keeping import rich

LAB, ENDED = "elsewhere.lab", "elsewhere.txt"
DURATION = "12s"


def save(folder: Path) -> str:
    """Write a lab and how it ends; return that."""
    folder.mkdir(parents=True, exist_ok=True)
    lab = rich()
    lab.save(folder / LAB)
    ended = as_it_ends(lab)
    (folder / ENDED).write_text(ended + "\n", encoding="ascii")
    return ended


def check(folder: Path) -> str:
    """Open the lab of a folder; return what is wrong with how it ends."""
    lab, _ = open_file(folder / LAB, Lab.restore)
    expected, found = (folder / ENDED).read_text(encoding="ascii").strip(), as_it_ends(lab)
    return "" if found == expected else f"expected {expected}, got {found}"


def as_it_ends(lab: Lab) -> str:
    """Let a lab go on, and return what tells its end from any other: the digest of its trace and the Merkle roots."""
    lab.run(DURATION)
    return " ".join([lab.trace.digest(), *[lab[name].root for name in lab.clusters]])


def main(verb: str, folder: str) -> int:
    """Save or check; return 1 where a lab ends otherwise."""
    said = save(Path(folder)) if verb == "save" else check(Path(folder))
    print(said or "it ends as it did where it was saved")
    return int(bool(said) and verb == "check")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
