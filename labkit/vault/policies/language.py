"""The language that policies are written in: HCL, version 1, or JSON, read into blocks of items.

1. A block is a list of items: keys, then ``= value`` or a block in braces.  Order and repeated keys are kept.
2. A text that begins with ``{`` is JSON, any other is HCL; both give the same blocks.
3. Any text gives a block or a PolicyError; nesting is bounded.
"""

from __future__ import annotations

from labkit.vault.policies.blocks import Block, Source, check_surrogates


def parse(source: Source) -> Block:
    """Read a text as one block; raise PolicyError."""
    text = source.text
    if "\0" in text:
        raise source.error(text.index("\0"), "unexpected null character (0x00)")
    check_surrogates(source, text, 0)
    if text.lstrip().startswith("{"):
        from labkit.vault.policies.json_form import read_json

        return read_json(source)
    from labkit.vault.policies.hcl import read_hcl

    return read_hcl(source)
