"""What tests of caches share: the texts of policies are read once, which took half of their time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import pytest

from labkit.vault.policies import policy_text

MAX_TEXTS = 1_000


@pytest.fixture(autouse=True, scope="package")
def texts_read_once() -> Iterator[None]:
    """What a policy's text says depends on nothing else: a vault without memory may take it from there too."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(policy_text, "parse_policy", lru_cache(MAX_TEXTS)(policy_text.parse_policy))
        yield
