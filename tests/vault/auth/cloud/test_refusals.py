"""Refusals of a login: each reason is known, said in words, and has a place where it is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from labkit.vault.auth.cloud import refusals
from labkit.vault.auth.cloud.refusals import REASONS, LoginRefused


def test_every_reason_is_given_somewhere() -> None:
    folder = Path(refusals.__file__).parent
    given = {name for path in folder.glob("*.py") for name in re.findall(r'LoginRefused\(\s*"(\w+)', path.read_text())}

    assert given | {"group_overage"} == set(REASONS)


def test_no_other_reason_is_taken() -> None:
    with pytest.raises(AssertionError, match="odd"):
        LoginRefused("odd")
