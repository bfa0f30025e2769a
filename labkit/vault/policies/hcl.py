"""HCL, version 1, in which policies are written: its tokens, items, strings and heredocs.

1. Comments are ``#``, ``//`` and ``/* */``; a string is quoted, or a heredoc (``<<WORD``, or ``<<-WORD`` to take the
   indent away); ``${...}`` in a string stays as it is; commas may trail, and may be left out between items.
2. Nesting is bounded.

Grammar and messages are those of HCL 1 (its public documentation).
"""

from __future__ import annotations

import re
from functools import lru_cache

from labkit.vault.policies.blocks import MAX_DEPTH, Block, Item, Listing, Literal, Source, Value

_KINDS = ("LBRACE", "RBRACE", "LBRACK", "RBRACK", "COMMA", "ASSIGN", "ADD", "SUB", "PERIOD")
_SIGNS = dict(zip("{}[],=+-.", _KINDS, strict=True))
_NO_TOKEN = {"/": "expected '/' for comment", "<": "heredoc expected second '<', didn't see it"}
_LITERALS = frozenset(("STRING", "HEREDOC", "NUMBER", "FLOAT", "BOOL"))
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"'}
_BLANKS = " \t\v\f\r"


def read_hcl(source: Source) -> Block:
    """Read a text in HCL as one block; raise PolicyError."""
    return Block(_Reader(source).items(inside=False), 0)


class _Reader:
    """Reads HCL: ``next`` goes to the next token, ``back`` makes it return the same one again."""

    __slots__ = ("again", "at", "depth", "end", "kind", "pattern", "source", "text", "value")

    def __init__(self, source: Source) -> None:
        self.source, self.text, self.pattern = source, source.text, _token_pattern()
        self.kind, self.value = "", ""
        self.at = self.end = self.depth = 0
        self.again = False

    def next(self) -> str:
        """Go to the next token and return its kind; set ``value``, and its place from ``at`` to ``end``."""
        if self.again:
            self.again = False
            return self.kind
        match = self.pattern.match(self.text, self.end)
        assert match is not None
        group = match.lastgroup
        if group is None:
            return self._next_rare(max(match.end(), self.end))
        self.at, self.end, self.value = match.start(group), match.end(), match[group]
        if group == "sign":
            self.kind = _SIGNS[self.value]
        elif group == "string":
            self.kind, self.value = "STRING", self.value[1:-1]
        elif group == "word":
            self.kind = "BOOL" if self.value in ("true", "false") else "IDENT"
        else:
            digits = self.value.lstrip("-")
            self.kind = "NUMBER" if digits.isdigit() or digits[:2] in ("0x", "0X") else "FLOAT"
        if self.end == len(self.text) and group in ("word", "number"):
            self.end += 1  # the token ended only at the text's end, and a read of the end counts as a column
        return self.kind

    def back(self) -> None:
        """Make ``next`` return the same token again."""
        self.again = True

    def _next_rare(self, at: int) -> str:
        """Read what the pattern leaves out: strings with escapes, heredocs, the end, and what cannot begin a token."""
        source, text = self.source, self.text
        self.at, self.value = at, ""
        if at >= len(text):
            self.kind, self.end = "EOF", at + 1
        elif text[at] == '"':
            self.kind = "STRING"
            self.value, self.end = _read_string(source, at)
        elif text.startswith("<<", at):
            self.kind = "HEREDOC"
            self.value, self.end = _read_heredoc(source, at)
        elif text.startswith("/*", at):
            raise source.error(len(text), "comment not terminated")
        else:
            raise source.error(at + (text[at] == "<"), _NO_TOKEN.get(text[at], "illegal char"))
        return self.kind

    def items(self, inside: bool) -> tuple[Item, ...]:
        """Read items up to the end; inside of braces, up to the closing one, which then comes next."""
        items: list[Item] = []
        while not (inside and self._peek() == "RBRACE"):
            item = self.item()
            if item is None:
                break
            items.append(item)
            if self.next() != "COMMA":
                self.back()
        return tuple(items)

    def _peek(self) -> str:
        kind = self.next()
        self.back()
        return kind

    def item(self) -> Item | None:
        """Read keys and value; None at the end."""
        keys: list[str] = []
        shown: list[str] = []
        first = 0
        while (kind := self.next()) in ("IDENT", "STRING"):
            first = first if keys else self.at
            keys.append(self.value)
            shown.append(self.text[self.at : self.end])
        if kind == "ASSIGN" and len(keys) == 1:
            return Item(tuple(keys), self.any_value(), first)
        if kind == "LBRACE" and keys:
            return Item(tuple(keys), self.block(), first)
        if kind == "EOF" and not keys:
            return None
        raise self.source.error(self.at, _wrong_item(kind, shown))

    def any_value(self) -> Value:
        """Read a literal, a list or a block."""
        kind = self.next()
        if kind in _LITERALS:
            return Literal(kind, self.value, self.at)
        if kind == "LBRACE":
            return self.block()
        if kind == "LBRACK":
            return self.listing()
        shown = f"{self.source.place(self.at)} {kind} {self.text[self.at : self.end]}"
        raise self.source.error(self.at, f"Unknown token: {shown}")

    def block(self) -> Block:
        """Read a block, whose opening brace was read."""
        at = self._deeper()
        items = self.items(inside=True)
        if self.next() != "RBRACE":
            raise self.source.error(self.at, f"object expected closing RBRACE got: {self.kind}")
        self.depth -= 1
        return Block(items, at)

    def listing(self) -> Listing:
        """Read a list, whose opening bracket was read."""
        at = self._deeper()
        values: list[Value] = []
        separated = True
        while (kind := self.next()) != "RBRACK":
            if kind == "COMMA":
                separated = True
                continue
            if not separated:
                raise self.source.error(self.at, f"error parsing list, expected comma or list end, got: {kind}")
            if kind not in _LITERALS and kind not in ("LBRACE", "LBRACK"):
                raise self.source.error(self.at, f"unexpected token while parsing list: {kind}")
            self.back()
            values.append(self.any_value())
            separated = False
        self.depth -= 1
        return Listing(tuple(values), at)

    def _deeper(self) -> int:
        """Count a level; return where it begins."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.source.error(self.at, f"nested deeper than {MAX_DEPTH} levels")
        return self.at


def _wrong_item(kind: str, shown: list[str]) -> str:
    if kind == "ASSIGN":
        return "nested object expected: LBRACE got: ASSIGN" if shown else "no object keys found!"
    if kind == "LBRACE":
        return "expected: IDENT | STRING got: LBRACE"
    if kind in ("EOF", "RBRACE") and shown:
        return f"key '{' '.join(shown)}' expected start of object ('{{') or assignment ('=')"
    return f"expected: IDENT | STRING | ASSIGN | LBRACE got: {kind}"


@lru_cache(maxsize=1)
def _token_pattern() -> re.Pattern[str]:
    """Blanks and comments, then a token, or none where a rare one follows; made when the first policy is read."""
    return re.compile(
        r"""(?: [ \t\n\r]+ | \#[^\n]* | //[^\n]* | /\*[^*]* (?: \*(?!/) [^*]* )* \*/ )*
        (?: (?P<word> [^\W\d][\w.-]* )
          | (?P<string> "[^"\\\n$]*" )
          | (?P<number> -?(?: 0[xX][0-9a-fA-F]+ | [0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)? ) | \.[0-9]+ )
          | (?P<sign> [{}\[\],=+.-] )
        )?""",
        re.VERBOSE,
    )


def _read_string(source: Source, at: int) -> tuple[str, int]:
    """Read a quoted string that holds escapes or ``${...}``; return its content and where it ends."""
    text, braces, position = source.text, 0, at + 1
    parts: list[str] = []
    while position < len(text):
        character = text[position]
        if character == "\\":
            escaped, last = _read_escape(source, position)
            character, position = text[position : last + 1] if braces else escaped, last
        elif braces:
            braces += {"{": 1, "}": -1}.get(character, 0)
        elif character == '"':
            return "".join(parts), position + 1
        elif character == "\n":
            break
        elif text.startswith("${", position):
            braces, character, position = 1, "${", position + 1
        parts.append(character)
        position += 1
    raise source.error(position, "literal not terminated")


@lru_cache(maxsize=1)
def _escape_pattern() -> re.Pattern[str]:
    digits = "[0-9a-fA-F]"
    return re.compile(rf'\\(?:([abfnrtv\\"])|([0-7]{{3}})|x({digits}{{2}})|u({digits}{{4}})|U({digits}{{8}}))')


def _read_escape(source: Source, at: int) -> tuple[str, int]:
    """Read an escape; return its character and where its last one stands."""
    match = _escape_pattern().match(source.text, at)
    if match is None:
        raise source.error(at + 1, "illegal char escape")
    named, octal, *hexadecimal = match.groups()
    last = match.end() - 1
    if named is not None:
        return _ESCAPES[named], last
    code = int(octal, 8) if octal is not None else int(next(filter(None, hexadecimal)), 16)
    if code > (0xFF if octal is not None else 0x10FFFF):
        raise source.error(at + 1, "illegal char escape")
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code), last


def _read_heredoc(source: Source, at: int) -> tuple[str, int]:
    """Read a heredoc; return its content with the last newline, and where the line of its closing word ends."""
    text = source.text
    begin = text.find("\n", at) + 1
    if not begin:
        raise source.error(len(text), "heredoc not terminated")
    anchor = text[at + 2 : begin - 1]
    word = anchor.removeprefix("-")
    if not word:
        raise source.error(begin - 1, "zero-length heredoc anchor")
    if not word.replace("_", "a").isalnum():
        raise source.error(begin - 1, "invalid characters in heredoc anchor")
    start = begin
    while (stop := text.find("\n", start)) >= 0:
        line = text[start:stop].rstrip("\r")
        if line.lstrip(_BLANKS) == word:
            indent, content = line.removesuffix(word), text[begin:start]
            return (content + indent if anchor == word else _unindented(content, indent)), stop + 1
        start = stop + 1
    raise source.error(len(text), "heredoc not terminated")


def _unindented(content: str, indent: str) -> str:
    """Take the closing word's indent from every line, or from none when one has less."""
    lines = content.split("\n")[:-1]
    if not all(line.startswith(indent) for line in lines):
        return content
    return "".join([line[len(indent) :] + "\n" for line in lines])
