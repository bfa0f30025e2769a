"""The list of changes begins with the version that this is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import labkit


def test_the_newest_version_is_this_one(checkout: Path) -> None:
    text = (checkout / ".github" / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"(?m)^## (\S+)$", text)
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]

    assert versions[0] == project["version"] == labkit.__version__
    assert all(part.strip() for part in re.split(r"(?m)^## .*$", text)[1:])
