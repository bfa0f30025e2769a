"""Grants: what a token may do beyond one path and what the policy ``default`` gives to every token.

1. What may be done is asked of the service (``sys/capabilities``), for every path that it has, with the names that
   there are, and for every path that the token's own policies name.
2. A pattern that fits none of these stands for paths to come: one of them is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from labkit.front.vault import Vault
from labkit.vault.policies.policy_text import parse_policy

CAPABILITIES, DEFAULT, OTHER = "sys/capabilities", "default", "other"
UPDATE = "update"


def grants(vault: Vault, token: str, path: str, begun: Vault) -> tuple[str, ...]:
    """Return what a token may do beyond an update of one path, as texts like ``update transit/keys/rows``.

    What ``default`` gives is that of a vault as it began, whatever became of that policy.
    """
    policies = _policies(vault, token)
    if "root" in policies:
        return ("everything",)
    if not policies:  # nobody has this token
        return ()
    patterns = _patterns(vault, policies)
    paths = [
        *_paths(vault, (path.rpartition("/")[2], OTHER), policies),
        *[pattern for pattern in patterns if not _is_wide(pattern)],
    ]
    others = [one for one in paths if one != path]
    paths += [_filled(pattern) for pattern in patterns if not any(map(_form(pattern).fullmatch, others))]
    paths = list(dict.fromkeys(paths))
    usual = begun.post("auth/token/create", {"policies": [DEFAULT]}).auth["client_token"]
    ours, theirs = _capabilities(vault, token, paths), _capabilities(begun, usual, paths)
    return tuple(
        [
            f"{verb} {one}"
            for one in paths
            for verb in ours[one]
            if verb not in theirs[one] and (one != path or verb != UPDATE)
        ]
    )


def _policies(vault: Vault, token: str) -> tuple[str, ...]:
    found = vault.post("auth/token/lookup", {"token": token})
    is_known = token != "" and found.ok  # without one it is the asker's own that is looked up
    return (*found.data["policies"], *found.data.get("identity_policies", ())) if is_known else ()


def _patterns(vault: Vault, policies: Iterable[str]) -> list[str]:
    """Return the patterns of all rules of some policies."""
    texts = [vault.get(f"sys/policies/acl/{name}") for name in policies]
    return [rule.pattern for text in texts if text.ok for rule in parse_policy(text.data["policy"])]


def _paths(vault: Vault, names: tuple[str, ...], policies: tuple[str, ...]) -> Iterator[str]:
    """Give every path of the service with some names in it, those of policies where it is about policies."""
    described: dict[str, Any] = vault.get("sys/internal/specs/openapi").body or {}
    for template in described["paths"]:
        for name in (*names, *policies) if "/polic" in template else names:
            yield re.sub(r"\{\w+\}", name, template.lstrip("/"))


def _capabilities(vault: Vault, token: str, paths: list[str]) -> dict[str, list[str]]:
    found = vault.post(CAPABILITIES, {"token": token, "paths": paths})
    return {path: [verb for verb in found.data[path] if verb != "deny"] for path in paths}


def _is_wide(pattern: str) -> bool:
    return pattern.endswith("*") or "+" in pattern.split("/")


def _filled(pattern: str) -> str:
    filled = "/".join([OTHER if part == "+" else part for part in pattern.split("/")])
    return f"{filled[:-1]}{OTHER}" if filled.endswith("*") else filled


def _form(pattern: str) -> re.Pattern[str]:
    """Return what a path looks like that fits a pattern."""
    parts = [("[^/]+" if part == "+" else re.escape(part)) for part in pattern.removesuffix("*").split("/")]
    return re.compile("/".join(parts) + (".*" if pattern.endswith("*") else ""))
