"""Write only: a token that may encrypt with one key, and may neither read nor make anything."""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.front.vault import Vault
from labkit.lessons.kept_keys.rows import base64_of, rows_of, with_rows
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart

POLICY, TOKENS = "sys/policies/acl/writer", "auth/token/create"
SECRET = base64_of("row 0")


class WriteOnlySeen(NamedTuple):
    """Which of the requests that a writer needs were refused, and which that it may not make were not."""

    needed: tuple[str, ...]
    read: tuple[str, ...]
    made: tuple[str, ...]


@KeptStart
def start() -> Vault:
    """Return a vault with a table of rows and the key that they are encrypted with."""
    return with_rows(seed=22, count=3)


def look(branch: Vault, token: Any) -> WriteOnlySeen:
    """Try eight requests with the token."""
    sent, row = {"plaintext": base64_of("new")}, rows_of(branch)[0]
    needs: dict[str, dict[str, Any]] = {"encrypt": sent, "encrypt a batch": {"batch_input": [sent]}}
    reads: dict[str, tuple[str, dict[str, Any]]] = {
        "decrypt": ("transit/decrypt/rows", {"ciphertext": row}),
        "decrypt a batch": ("transit/decrypt/rows", {"batch_input": [{"ciphertext": row}]}),
        "rewrap": ("transit/rewrap/rows", {"ciphertext": row}),
    }
    makes: dict[str, tuple[str, dict[str, Any]]] = {
        "encrypt with a key that does not exist": ("transit/encrypt/other", sent),
        "rotate the key": ("transit/keys/rows/rotate", {}),
        "change the policy": (POLICY, {"policy": 'path "a" { capabilities = ["read"] }'}),
    }
    token = token if isinstance(token, str) else ""
    refused = [name for name, body in needs.items() if not branch.post("transit/encrypt/rows", body, token=token).ok]
    read = [name for name, (path, body) in reads.items() if branch.post(path, body, token=token).ok]
    made = [name for name, (path, body) in makes.items() if branch.post(path, body, token=token).ok]
    return WriteOnlySeen(tuple(refused), tuple(read), tuple(made))


def exact_path(vault: Vault) -> tuple[Vault, str]:
    """Allow one path only: whatever is not allowed is refused."""
    rule = 'path "transit/encrypt/rows" { capabilities = ["update"] }'
    vault.put("sys/policies/acl/writer", {"policy": rule})
    return vault, vault.post("auth/token/create", {"policies": ["writer"]}).auth["client_token"]


def with_denials(vault: Vault) -> tuple[Vault, str]:
    """Allow a pattern, and deny what it would open."""
    rules = ['path "transit/+/rows" { capabilities = ["update"] }']
    rules += [f'path "transit/{verb}/rows" {{ capabilities = ["deny"] }}' for verb in ("decrypt", "rewrap")]
    vault.put("sys/policies/acl/writer", {"policy": "\n".join(rules)})
    token = vault.post("auth/token/create", {"policies": ["writer"], "no_default_policy": True})
    return vault, token.auth["client_token"]


def _token_with(vault: Vault, policy: str, **more: Any) -> tuple[Vault, str]:
    vault.put(POLICY, {"policy": policy})
    return vault, vault.post(TOKENS, {"policies": ["writer"], **more}).auth["client_token"]


def _everything(vault: Vault) -> tuple[Vault, str]:
    return _token_with(vault, 'path "transit/*" { capabilities = ["create", "update"] }')


def _makes_keys(vault: Vault) -> tuple[Vault, str]:
    return _token_with(vault, 'path "transit/encrypt/*" { capabilities = ["create", "update"] }')


def _pattern_only(vault: Vault) -> tuple[Vault, str]:
    return _token_with(vault, 'path "transit/+/rows" { capabilities = ["update"] }')


def _batch_forgotten(vault: Vault) -> tuple[Vault, str]:
    rules = 'path "transit/encrypt/rows" { capabilities = ["update"] }\n'
    rules += 'path "transit/decrypt/rows" { capabilities = ["update"] denied_parameters = { "ciphertext" = [] } }'
    return _token_with(vault, rules)


def _root(vault: Vault) -> tuple[Vault, str]:
    exact_path(vault)
    return vault, vault.root_token


def _nobody_has_it(vault: Vault) -> tuple[Vault, str]:
    exact_path(vault)
    return vault, vault.post(TOKENS, {"policies": ["default"]}).auth["client_token"]


def _reading(vault: Vault) -> tuple[Vault, str]:
    return _token_with(vault, 'path "transit/encrypt/rows" { capabilities = ["read", "list"] }')


WRITE_ONLY = Exercise(
    name="write_only",
    title="May write, may not read",
    goal="you hand in a token that may encrypt with the key rows, also in batches, and may neither open a row nor make "
    "or change anything else.",
    start=start,
    look=look,
    takes=("the vault", "the token"),
    conditions=(
        Condition(
            name="writes",
            holds=lambda seen: not seen.needed,
            says=lambda seen: f"refused: {' and '.join(seen.needed)}",
            asks="The token has to be able to encrypt with the key rows, one text or a batch.",
            hints=(
                'Try it yourself: `vault.post("transit/encrypt/rows", …, token=token)`.',
                "A token may do what its policies allow. A policy that no token has changes nothing.",
                'capabilities = ["update"] on the path, and the policy in `auth/token/create`',
            ),
        ),
        Condition(
            name="reads nothing",
            holds=lambda seen: not seen.read,
            says=lambda seen: f"not refused: {' and '.join(seen.read)}",
            asks="It may not open a row, in any way.",
            hints=(
                "Try to decrypt with the token: one row, and a batch of one.",
                "A pattern opens whatever fits it, also what you did not think of.",
                "name the exact path, or deny what the pattern opens",
            ),
        ),
        Condition(
            name="makes nothing",
            holds=lambda seen: not seen.made,
            says=lambda seen: f"not refused: {' and '.join(seen.made)}",
            asks="It may not make or change a key or a policy.",
            hints=(
                "Encrypt with the token under a name that no key has.",
                "The first use of a name makes a key, for whoever may create on that path.",
                'leave out "create", and `*`',
            ),
        ),
    ),
    ways={"one exact path": exact_path, "a pattern with denials": with_denials},
    traps=(
        Trap(name="all of transit", act=_everything, refused_by="reads nothing"),
        Trap(name="keys that make themselves", act=_makes_keys, refused_by="makes nothing"),
        Trap(name="a pattern only", act=_pattern_only, refused_by="reads nothing"),
        Trap(name="batches forgotten", act=_batch_forgotten, refused_by="reads nothing"),
        Trap(name="the root token", act=_root, refused_by="reads nothing"),
        Trap(name="a policy that no token has", act=_nobody_has_it, refused_by="writes"),
        Trap(name="read and list", act=_reading, refused_by="writes"),
    ),
)
