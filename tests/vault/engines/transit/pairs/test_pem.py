"""PEM: blocks among other text, and what begins without an end."""

from __future__ import annotations

import pytest

from labkit.vault.engines.transit.pairs.pem import pem_blocks

ONE = "-----BEGIN A B-----\nYQ==\n-----END A B-----\n"
OTHER = "-----BEGIN C-----\nYmJi\nYmJi\n-----END C-----"


def test_blocks_are_found_by_label_wherever_they_stand() -> None:
    assert pem_blocks("") == pem_blocks("text\nBEGIN\n") == []
    for text in (ONE + OTHER, f"before\n{ONE}between\n{OTHER}\nafter", (ONE + OTHER).replace("\n", "\r\n")):
        assert pem_blocks(text) == [("A B", b"a"), ("C", b"bbbbbb")]


def test_headers_are_skipped() -> None:
    text = ONE.replace("YQ==", "Proc-Type: 4,CLEAR\nNote: x\n\nYQ==")

    assert pem_blocks(text) == [("A B", b"a")]
    assert pem_blocks(ONE.replace("YQ==\n", "")) == [("A B", b"")]


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN A-----\nYQ==\n",
        "-----BEGIN A-----\nYQ==\n-----END B-----\n",
        "-----BEGIN A\nYQ==\n-----END A-----\n",
        "-----BEGIN " + "A" * 300 + "-----\nYQ==\n-----END " + "A" * 300 + "-----\n",
        "-----BEGIN A\nB-----\nYQ==\n-----END A\nB-----\n",
        ONE + "-----BEGIN A B-----\n",
        ONE.replace("YQ==", "Y*=="),
        ONE.replace("YQ==", "YQ="),
    ],
)
def test_what_is_none_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"block|base64|padding|data|Excess"):
        pem_blocks(text)
