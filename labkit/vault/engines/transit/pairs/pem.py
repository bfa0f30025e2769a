"""PEM (RFC 7468): the blocks of a text, by label; what stands around them is skipped, and so are a block's headers."""

from __future__ import annotations

from binascii import a2b_base64

Block = tuple[str, bytes]

BEGIN, END, DASHES = "-----BEGIN ", "-----END ", "-----"


def pem_blocks(text: str) -> list[Block]:
    """Return label and contents of each block; raise ValueError for one that does not end, or is not base64."""
    found: list[Block] = []
    lines = "\n" + text.replace("\r\n", "\n")
    at = lines.find("\n" + BEGIN)
    while at >= 0:
        label, dashes, _ = lines[at + 1 + len(BEGIN) : at + 200].partition(DASHES)
        body = at + 1 + len(BEGIN) + len(label) + len(DASHES)
        end = lines.find(f"\n{END}{label}{DASHES}", body)
        if not dashes or end < 0 or "\n" in label:
            raise ValueError("a block of PEM begins and does not end")
        found.append((label, _contents(lines[body:end])))
        at = lines.find("\n" + BEGIN, end)
    return found


def _contents(body: str) -> bytes:
    headers, empty_line, rest = body.strip().partition("\n\n")
    coded = rest if empty_line and ":" in headers else body
    return a2b_base64("".join(coded.split()), strict_mode=True)
