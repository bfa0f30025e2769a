"""Access lists: what a set of policies lets a caller do.

1. Rules with the same pattern merge: capabilities unite, any deny leaves deny alone.  Different patterns never merge.
2. One rule decides: the exact path; else the best of the longest prefix rule and all matching ``+`` rules.
3. Parameter rules look at the request's own top-level members, names in lower case.
4. A rule whose template names an identity that is not known is skipped.

The language and the order of rules are those of the product's ACL policies (public documentation, Policies).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from labkit.service.durations import parse_duration
from labkit.vault.policy_language import Body, Item, PolicyError, parse

CREATE, READ, UPDATE, PATCH, DELETE, LIST, SUDO, DENY = (1 << bit for bit in range(8))

CAPABILITIES = {
    "create": CREATE,
    "read": READ,
    "update": UPDATE,
    "patch": PATCH,
    "delete": DELETE,
    "list": LIST,
    "sudo": SUDO,
    "deny": DENY,
}

LEGACY = {
    "deny": DENY,
    "read": READ | LIST,
    "write": CREATE | READ | UPDATE | DELETE | LIST,
    "sudo": CREATE | READ | UPDATE | DELETE | LIST | SUDO,
}

RULE_KEYS = frozenset(
    (
        "capabilities",
        "policy",
        "allowed_parameters",
        "denied_parameters",
        "required_parameters",
        "min_wrapping_ttl",
        "max_wrapping_ttl",
        "mfa_methods",
        "control_group",
    )
)

KEPT_ANSWERS = 4_096

Parameters = Mapping[str, tuple[Any, ...]]
ANY: Parameters = MappingProxyType({})

DEFAULT_POLICY = """\
# what every token may do unless it was made without this policy: look after itself

path "auth/token/lookup-self" { capabilities = ["read"] }
path "auth/token/renew-self" { capabilities = ["update"] }
path "auth/token/revoke-self" { capabilities = ["update"] }

path "sys/capabilities-self" { capabilities = ["update"] }
path "sys/internal/ui/resultant-acl" { capabilities = ["read"] }
path "sys/renew" { capabilities = ["update"] }
path "sys/leases/renew" { capabilities = ["update"] }
path "sys/leases/lookup" { capabilities = ["update"] }

path "cubbyhole/*" { capabilities = ["create", "read", "update", "delete", "list"] }

path "sys/wrapping/wrap" { capabilities = ["update"] }
path "sys/wrapping/lookup" { capabilities = ["update"] }
path "sys/wrapping/unwrap" { capabilities = ["update"] }

path "sys/tools/hash" { capabilities = ["update"] }
path "sys/tools/hash/*" { capabilities = ["update"] }
path "sys/control-group/request" { capabilities = ["update"] }

path "identity/entity/id/{{identity.entity.id}}" { capabilities = ["read"] }
path "identity/entity/name/{{identity.entity.name}}" { capabilities = ["read"] }
path "identity/oidc/provider/+/authorize" { capabilities = ["read", "update"] }
"""

WRAPPING_POLICY = """\
path "cubbyhole/response" { capabilities = ["create", "read"] }
path "sys/wrapping/unwrap" { capabilities = ["update"] }
"""


class Rule(NamedTuple):
    """What is allowed on one pattern."""

    pattern: str
    capabilities: int
    allowed: Parameters = ANY
    denied: Parameters = ANY
    required: tuple[str, ...] = ()
    min_wrapping_ttl_ns: int = 0
    max_wrapping_ttl_ns: int = 0

    @property
    def needs_parameters(self) -> bool:
        """Whether the rule looks at more of a request than its path."""
        return bool(
            self.allowed or self.denied or self.required or self.min_wrapping_ttl_ns or self.max_wrapping_ttl_ns
        )


def parse_policy(text: str) -> tuple[Rule, ...]:
    """Read a policy's rules; raise PolicyError with the text that follows ``failed to parse policy:``."""
    rules = []
    for item in parse(text):
        if item.keys[0] not in ("path", "name"):
            raise PolicyError(_listed(f'invalid key "{item.keys[0]}" on line {item.line}'))
        if item.keys[0] == "name":
            continue
        if len(item.keys) == 1 and isinstance(item.value, Body):
            rules += [_rule(inner.keys[-1], inner) for inner in item.value]
        elif len(item.keys) == 2:
            rules.append(_rule(item.keys[1], item))
        else:
            raise PolicyError(f"path block on line {item.line} needs one pattern")
    return tuple(rule for rule in rules if "{{" not in rule.pattern)


def _listed(text: str) -> str:
    return f"1 error occurred:\n\t* {text}\n\n"


def _rule(written: str, item: Item) -> Rule:
    if not isinstance(item.value, Body):
        raise PolicyError(f'path "{written}": a block is wanted on line {item.line}')
    pattern = written.removeprefix("/")
    if "+*" in pattern:
        raise PolicyError(f"path \"{written}\": invalid use of wildcards ('+*' is forbidden)")
    found: dict[str, Any] = {}
    for entry in item.value:
        key = entry.keys[0]
        if key not in RULE_KEYS:
            raise PolicyError(_listed(f'path "{written}": invalid key "{key}" on line {entry.line}'))
        found[key] = entry.value if len(entry.keys) == 1 else Body([Item(entry.keys[1:], entry.value, entry.line)])
    shortest, longest = (_ttl(written, key, found) for key in ("min_wrapping_ttl", "max_wrapping_ttl"))
    if longest and shortest > longest:
        raise PolicyError(f'path "{written}": max_wrapping_ttl cannot be less than min_wrapping_ttl')
    return Rule(
        pattern,
        _capabilities(written, found),
        _parameters(written, found.get("allowed_parameters", Body())),
        _parameters(written, found.get("denied_parameters", Body())),
        tuple(str(name).lower() for name in _as_list(found.get("required_parameters", []))),
        shortest,
        longest,
    )


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _capabilities(written: str, found: Mapping[str, Any]) -> int:
    bits = 0
    if "policy" in found:
        name = found["policy"]
        if not isinstance(name, str) or name not in LEGACY:
            raise PolicyError(f'path "{written}": invalid policy "{name}"')
        bits |= LEGACY[name]
    for name in _as_list(found.get("capabilities", [])):
        bit = CAPABILITIES.get(name) if isinstance(name, str) else None
        if bit is None:
            raise PolicyError(f'path "{written}": invalid capability "{name}"')
        bits |= bit
    return DENY if bits & DENY or not bits else bits


def _parameters(written: str, body: Any) -> Parameters:
    if not isinstance(body, Body):
        raise PolicyError(f'path "{written}": parameters are written as name = [values]')
    return {item.keys[0].lower(): tuple(_as_list(item.value)) for item in body}


def _ttl(written: str, key: str, found: Mapping[str, Any]) -> int:
    try:
        ttl = parse_duration(found.get(key))
    except ValueError as error:
        raise PolicyError(f'path "{written}": error parsing {key}: {error}') from None
    if ttl < 0:
        raise PolicyError(f'path "{written}": {key} cannot be negative')
    return ttl


class Acl:
    """What several policies together allow; ``root`` allows everything."""

    __slots__ = ("_answers", "_exact", "_prefixes", "_sorted", "_wild", "root")

    def __init__(self, policies: Iterable[tuple[Rule, ...]], root: bool = False) -> None:
        self.root = root
        merged: dict[str, Rule] = {}
        for rule in (rule for policy in policies for rule in policy):
            known = merged.get(rule.pattern)
            merged[rule.pattern] = rule if known is None else _merge(known, rule)
        self._exact: dict[str, Rule] = {}
        self._prefixes: dict[str, Rule] = {}
        self._wild: list[Rule] = []
        for pattern, rule in merged.items():
            if "+" in pattern.removesuffix("*").split("/"):
                self._wild.append(rule)
            elif pattern.endswith("*"):
                self._prefixes[pattern[:-1]] = rule
            else:
                self._exact[pattern] = rule
        self._sorted = sorted(self._prefixes)
        self._answers: dict[tuple[int, str], bool] = {}

    def rule_for(self, path: str, *, listing: bool = False) -> Rule | None:
        """Return the one rule that decides about a path; None where nothing is said."""
        short = path.removesuffix("/") if listing else path
        rule = self._exact.get(path) or (self._exact.get(short) if listing else None) or self._best(path)
        return rule or (self._best(short) if listing and short != path else None)

    def allows(
        self,
        capability: int,
        path: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        listing: bool = False,
        wrap_ttl_ns: int = 0,
    ) -> bool:
        """Whether a capability on a path is granted to a request with these parameters and this wrapping."""
        if self.root:
            return True
        known = self._answers.get((capability, path))
        if known is not None:
            return known
        rule = self.rule_for(path, listing=listing)
        granted = rule is not None and bool(rule.capabilities & capability)
        if rule is None or not granted or not rule.needs_parameters:
            if len(self._answers) >= KEPT_ANSWERS:
                self._answers.clear()
            self._answers[capability, path] = granted
            return granted
        return _wraps(rule, wrap_ttl_ns) and (parameters is None or _fits(rule, parameters))

    def capabilities(self, path: str) -> list[str]:
        """Return the names of what is granted on a path, sorted; ``["root"]`` for all, ``["deny"]`` for none."""
        if self.root:
            return ["root"]
        rule = self.rule_for(path, listing=path.endswith("/"))
        bits = rule.capabilities if rule is not None else DENY
        return sorted(name for name, bit in CAPABILITIES.items() if bits & bit)

    def rules(self) -> list[Rule]:
        """Return all merged rules, sorted by pattern."""
        return sorted((*self._exact.values(), *self._prefixes.values(), *self._wild), key=lambda rule: rule.pattern)

    def _best(self, path: str) -> Rule | None:
        candidates = [rule for rule in self._wild if _matches(rule.pattern, path)]
        prefix = self._longest_prefix(path)
        if prefix is not None:
            candidates.append(prefix)
        return max(candidates, key=_priority, default=None)

    def _longest_prefix(self, path: str) -> Rule | None:
        """Find the longest pattern that the path begins with: each miss shortens the path to what it shares."""
        while True:
            at = bisect_right(self._sorted, path)
            if not at:
                return None
            found = self._sorted[at - 1]
            if path.startswith(found):
                return self._prefixes[found]
            shared = 0
            for one, other in zip(found, path, strict=False):
                if one != other:
                    break
                shared += 1
            path = path[:shared]


def _merge(one: Rule, other: Rule) -> Rule:
    bits = one.capabilities | other.capabilities
    if bits & DENY:
        return Rule(one.pattern, DENY)
    return Rule(
        one.pattern,
        bits,
        _merge_parameters(one.allowed, other.allowed),
        _merge_parameters(one.denied, other.denied),
        tuple(dict.fromkeys((*one.required, *other.required))),
        _smaller(one.min_wrapping_ttl_ns, other.min_wrapping_ttl_ns),
        _smaller(one.max_wrapping_ttl_ns, other.max_wrapping_ttl_ns),
    )


def _merge_parameters(one: Parameters, other: Parameters) -> Parameters:
    merged = dict(one)
    for name, values in other.items():
        known = merged.get(name)
        merged[name] = values if known is None else () if not known or not values else (*known, *values)
    return merged


def _smaller(one: int, other: int) -> int:
    return min(one, other) if one and other else one or other


def _matches(pattern: str, path: str) -> bool:
    prefix = pattern.endswith("*")
    wanted, given = pattern.removesuffix("*").split("/"), path.split("/")
    if len(given) < len(wanted) or (not prefix and len(given) != len(wanted)):
        return False
    last = len(wanted) - 1
    for number, part in enumerate(wanted):
        if part == "+":
            continue
        if prefix and number == last:
            return given[number].startswith(part)
        if part != given[number]:
            return False
    return True


def _priority(rule: Rule) -> tuple[int, bool, int, int, str]:
    pattern = rule.pattern
    bare = pattern.removesuffix("*")
    parts = bare.split("/")
    first = len(bare)
    if "+" in parts:
        first = sum(len(part) + 1 for part in parts[: parts.index("+")])
    return first, not pattern.endswith("*"), -parts.count("+"), len(bare), pattern


def _wraps(rule: Rule, wrap_ttl_ns: int) -> bool:
    shortest, longest = rule.min_wrapping_ttl_ns, rule.max_wrapping_ttl_ns
    if longest and (not wrap_ttl_ns or wrap_ttl_ns > longest or shortest > longest):
        return False
    return not shortest or wrap_ttl_ns >= shortest


def _fits(rule: Rule, parameters: Mapping[str, Any]) -> bool:
    """Judge a request's parameters (rule 3)."""
    given = {name.lower(): value for name, value in parameters.items()}
    if any(name not in given for name in rule.required):
        return False
    if not given:
        return True
    if "*" in rule.denied:
        return False
    for name, value in given.items():
        values = rule.denied.get(name)
        if values is not None and (not values or any(_equals(wanted, value) for wanted in values)):
            return False
    allowed = rule.allowed
    if not allowed or (len(allowed) == 1 and "*" in allowed and not allowed["*"]):
        return True
    return all(_allowed(allowed, name, value) for name, value in given.items())


def _allowed(allowed: Parameters, name: str, value: Any) -> bool:
    values = allowed.get(name, allowed.get("*"))
    return values is not None and (not values or any(_equals(wanted, value) for wanted in values))


def _equals(wanted: Any, value: Any) -> bool:
    """Compare text with text (``*`` at either end is anything) flags with flags; numbers match nothing."""
    if isinstance(wanted, str) and isinstance(value, str):
        begins, ends = wanted.startswith("*"), wanted.endswith("*")
        core = wanted.strip("*") if begins and ends else wanted[1:] if begins else wanted[:-1] if ends else wanted
        if begins and ends:
            return core in value
        return value.endswith(core) if begins else value.startswith(core) if ends else value == core
    return isinstance(wanted, bool) and isinstance(value, bool) and wanted == value
