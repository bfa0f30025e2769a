"""A file that a text for readers names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEXTS = ("README.md", ".github/CONTRIBUTING.md")

NAMED = re.compile(r"`([\w./-]+)`|\]\(([\w./-]+)\)")
FILE = re.compile(r"^(?:labkit|tests|notebooks|scenarios)/|\.(?:py|md|yml|svg|ipynb)$")

# What stands for any name.
PLACEHOLDERS = {"labkit/a/b.py", "tests/a/test_b.py", "notebooks/NN_name.ipynb"}


def test_every_file_that_is_named_exists(checkout: Path) -> None:
    texts = [*(checkout / name for name in TEXTS), *sorted((checkout / "labkit" / "reference").glob("*.md"))]
    missing = [
        f"{path.relative_to(checkout)}: {name}"
        for path in texts
        for name in files_named(path.read_text())
        if not any((folder / name).exists() for folder in (checkout, checkout / "labkit"))
    ]

    assert missing == [], "\n".join(missing)


def test_the_readme_can_be_read_apart_from_the_files_beside_it(checkout: Path) -> None:
    """A package index shows it too, where a link to a file leads nowhere: files are named, the picture in its words."""
    links = re.findall(r"(!?)\[([^]]*)\]\((?!https://)([^)]+)\)", (checkout / "README.md").read_text())

    assert [(sign, path in words) for sign, words, path in links] == [("!", True)]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("see `labkit/vault/vault_node.py`, `vault/sealing/seal.py` and `labkit/lab/`", 3),
        ("[how](.github/CONTRIBUTING.md)", 1),
        ("`parameters.py` or `table.py` of the engine; `secret/data/app`; `labkit help rules`", 0),
    ],
)
def test_files_are_distinguished_from_other_words(text: str, named: int) -> None:
    assert len(files_named(text)) == named


def files_named(text: str) -> list[str]:
    """The paths of files and folders in a text; a bare file name says only what kind of file is meant."""
    tokens = [first or second for first, second in NAMED.findall(text)]
    return [token for token in tokens if "/" in token and FILE.search(token) and token not in PLACEHOLDERS]
