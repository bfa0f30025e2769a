"""Reader: the rules that a policy's text holds.

1. A rule is a block ``path "pattern" { capabilities = [...] }``; the older ``policy = "write"`` stands for several.
2. What may stand in a rule is a closed list; anything else is refused with its line.
3. ``mfa_methods`` (its form is checked) and ``control_group`` are accepted and have no effect.

Language and messages: the product's ACL policies (public documentation, Policies).
"""

from __future__ import annotations

from typing import Any

from labkit.service.durations import parse_duration
from labkit.vault.policies import CAPABILITIES, CREATE, DELETE, DENY, LIST, READ, SUDO, UPDATE
from labkit.vault.policies.blocks import Block, Item, Listing, Literal, PolicyError, Source, Value
from labkit.vault.policies.language import parse
from labkit.vault.policies.rules import ANY, Number, Parameters, Rule

# What ``policy = "..."`` in a rule stands for: the form of the language before capabilities.
OLD_POLICIES = {
    "deny": DENY,
    "read": READ | LIST,
    "write": CREATE | READ | UPDATE | DELETE | LIST,
    "sudo": CREATE | READ | UPDATE | DELETE | LIST | SUDO,
}

MAX_LISTED_ERRORS = 100

RULE_KEYS = (
    *("capabilities", "policy", "allowed_parameters", "denied_parameters", "required_parameters"),
    *("min_wrapping_ttl", "max_wrapping_ttl", "mfa_methods", "control_group"),
)


def parse_policy(text: str) -> tuple[Rule, ...]:
    """Read a policy's rules in their order; raise PolicyError: what follows ``failed to parse policy:``."""
    source = Source(text)
    document = parse(source)
    _check_keys(source, document, ("name", "path"), "")
    rules = []
    for item in document.items:
        if item.keys[0] == "name":
            _text(source, item.value, "name")
        else:
            # A block without a pattern is one for the path "path", as in this language's other readers.
            rules.append(_Entries(source, item.keys[1] if len(item.keys) > 1 else "path", item.value).rule())
    return tuple(rules)


def _check_keys(source: Source, block: Block, known: tuple[str, ...], prefix: str) -> None:
    """Raise PolicyError that names all unknown keys of a block."""
    unknown: list[str] = []
    line, counted = 1, 0
    for item in block.items:
        if item.keys[0] not in known:
            line, counted = line + source.text.count("\n", counted, item.at), item.at
            unknown.append(f"\t* {prefix}invalid key {_quote(item.keys[0])} on line {line}\n")
    if unknown:
        count = "1 error" if len(unknown) == 1 else f"{len(unknown)} errors"
        if len(unknown) > MAX_LISTED_ERRORS:
            unknown[MAX_LISTED_ERRORS:] = [f"\t* {prefix}{len(unknown) - MAX_LISTED_ERRORS} more\n"]
        raise PolicyError(f"{count} occurred:\n{''.join(unknown)}\n")


def _quote(text: str) -> str:
    """Put a text between quotation marks, so that it stays on one line."""
    shown = [
        f"\\{character}" if character in '"\\' else character if character.isprintable() else ascii(character)[1:-1]
        for character in text
    ]
    return f'"{"".join(shown)}"'


def _text(source: Source, value: Value, name: str) -> str:
    if isinstance(value, Literal) and value.kind in ("STRING", "HEREDOC", "NUMBER"):
        return value.text
    raise source.error(value.at, f"{name} wants text")


class _Entries:
    """The entries of one rule's block; a name may be repeated: texts and values add up, the last TTL counts."""

    __slots__ = ("entries", "prefix", "source", "written")

    def __init__(self, source: Source, written: str, value: Value) -> None:
        self.source, self.written, self.prefix = source, written, f"path {_quote(written)}: "
        _check_template(written)
        if not isinstance(value, Block):
            raise PolicyError(f"{self.prefix}{source.error(value.at, 'a block in braces is wanted')}")
        _check_keys(source, value, RULE_KEYS, self.prefix)
        self.entries: dict[str, list[Item]] = {}
        for item in value.items:
            self.entries.setdefault(item.keys[0], []).append(item)

    def rule(self) -> Rule:
        """Read the rule."""
        try:
            names, old = self._texts("capabilities"), "".join(self._texts("policy", lists=False)[-1:])
            allowed, denied = self._parameters("allowed_parameters"), self._parameters("denied_parameters")
            required = tuple(dict.fromkeys([name.lower() for name in self._texts("required_parameters")]))
            self._texts("mfa_methods")
        except PolicyError as error:
            raise PolicyError(f"{self.prefix}{error}") from None
        pattern = self.written.removeprefix("/")
        if "+*" in pattern:
            raise PolicyError(f"path {_quote(pattern)}: invalid use of wildcards ('+*' is forbidden)")
        capabilities = self._capabilities(names, old)
        if capabilities == DENY:
            return Rule(pattern, DENY)
        min_ttl_ns, max_ttl_ns = self._ttl_ns("min_wrapping_ttl"), self._ttl_ns("max_wrapping_ttl")
        if 0 < max_ttl_ns < min_ttl_ns:
            raise PolicyError("max_wrapping_ttl cannot be less than min_wrapping_ttl")
        return Rule(pattern, capabilities, allowed, denied, required, min_ttl_ns, max_ttl_ns)

    def _values(self, name: str) -> list[Value]:
        items = self.entries.get(name, [])
        for item in items:
            if len(item.keys) > 1:
                raise self.source.error(item.at, f"{name} takes no name of its own")
        return [item.value for item in items]

    def _texts(self, name: str, lists: bool = True) -> list[str]:
        """Read lists of texts, one behind the other, or the texts themselves."""
        texts = []
        for value in self._values(name):
            if lists and not isinstance(value, Listing):
                raise self.source.error(value.at, f'{name} wants a list of texts: {name} = ["..."]')
            parts = value.values if isinstance(value, Listing) and lists else (value,)
            texts += [_text(self.source, part, name) for part in parts]
        return texts

    def _parameters(self, name: str) -> Parameters:
        """Read a block of ``parameter = [values]``."""
        parameters: dict[str, list[Any]] = {}
        for value in self._values(name):
            if not isinstance(value, Block):
                raise self.source.error(value.at, f'{name} wants a block: {name} = {{ "parameter" = [] }}')
            for item in value.items:
                if len(item.keys) > 1 or isinstance(item.value, Literal):
                    raise self.source.error(item.value.at, f'{name} wants lists of values: "{item.keys[0]}" = ["..."]')
                parts = item.value.values if isinstance(item.value, Listing) else (item.value,)
                parameters.setdefault(item.keys[0].lower(), []).extend([_plain(part) for part in parts])
        return {key: tuple(values) for key, values in parameters.items()} if parameters else ANY

    def _capabilities(self, names: list[str], old: str) -> int:
        if old and old not in OLD_POLICIES:
            raise PolicyError(f"{self.prefix}invalid policy {_quote(old)}")
        if old == "deny":
            return DENY
        bits = OLD_POLICIES.get(old, 0)
        for name in names:
            if name == "deny":
                return DENY
            if name not in CAPABILITIES:
                raise PolicyError(f"{self.prefix}invalid capability {_quote(name)}")
            bits |= CAPABILITIES[name]
        return bits

    def _ttl_ns(self, name: str) -> int:
        value = self._values(name)[-1:]
        if not value:
            return 0
        try:
            # A value that is not a text is passed on as a list, which is refused in the API's words.
            text = value[0].text if isinstance(value[0], Literal) and value[0].kind != "BOOL" else value
            nanoseconds = parse_duration(text)
        except ValueError as error:
            raise PolicyError(f"error parsing {name}: {error}") from None
        if nanoseconds < 0:
            raise PolicyError(f"error parsing {name}: cannot provide negative value '{text}'")
        return nanoseconds


def _check_template(written: str) -> None:
    """Raise PolicyError unless each ``{{`` of a pattern has its ``}}``."""
    first, *others = written.split("{{")
    if "}}" in first or any(other.count("}}") != 1 for other in others):
        raise PolicyError("failed to validate policy templating: unbalanced templating characters")


def _plain(value: Value) -> Any:
    """Return a value as requests hold it: text, flag, list or dict; a number as Number."""
    if isinstance(value, Listing):
        return [_plain(part) for part in value.values]
    if isinstance(value, Block):
        return {item.keys[0]: _plain(item.value) for item in value.items}
    if value.kind == "BOOL":
        return value.text == "true"
    return value.text if value.kind in ("STRING", "HEREDOC") else Number(value.text)
