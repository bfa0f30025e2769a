"""Write only: a token that may encrypt with one key, and may do nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.front.vault import Vault
from labkit.lessons.kept_keys.grants import grants
from labkit.lessons.kept_keys.rows import base64_of, rows_of, with_rows
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart

POLICY, TOKENS, ENCRYPT = "sys/policies/acl/writer", "auth/token/create", "transit/encrypt/rows"
MAKE_IT = f"create {ENCRYPT}"
SHOWN = 3


class WriteOnlySeen(NamedTuple):
    """What was handed in as a token, which of the requests that a writer needs were refused, which that open a row were
    not, and what else the token may do; then its policies.
    """

    kind: str
    needed: tuple[str, ...]
    read: tuple[str, ...]
    more: tuple[str, ...]
    policies: str = ""


@KeptStart
def start() -> Vault:
    """Return a vault with a table of rows and the key that they are encrypted with."""
    return with_rows(seed=22, count=3)


def look(branch: Vault, token: Any) -> WriteOnlySeen:
    """Try with the token what it may and may not do with a row, and ask the service what else it may."""
    if not isinstance(token, str):
        return WriteOnlySeen(type(token).__name__, (), (), ())
    sent, row = {"plaintext": base64_of("new")}, rows_of(branch)[0]
    needs: dict[str, dict[str, Any]] = {"encrypt": sent, "encrypt a batch": {"batch_input": [sent]}}
    reads: dict[str, tuple[str, dict[str, Any]]] = {
        "decrypt": ("transit/decrypt/rows", {"ciphertext": row}),
        "decrypt a batch": ("transit/decrypt/rows", {"batch_input": [{"ciphertext": row}]}),
    }
    refused = [name for name, body in needs.items() if not branch.post(ENCRYPT, body, token=token).ok]
    read = [name for name, (path, body) in reads.items() if branch.post(path, body, token=token).ok]
    return WriteOnlySeen(
        "str", tuple(refused), tuple(read), grants(branch, token, ENCRYPT, start()), _of(branch, token)
    )


def _of(branch: Vault, token: str) -> str:
    """Say which policies a token has, and which of them there are none of."""
    found = branch.post("auth/token/lookup", {"token": token}) if token else None
    if found is None or not found.ok:
        return "nobody was given such a token"
    known = (*branch.list("sys/policies/acl").data["keys"], "root")
    names = [name if name in known else f"{name} (which nobody wrote)" for name in found.data["policies"]]
    return f"its policies are {' and '.join(names)}"


def exact_path(vault: Vault) -> tuple[Vault, str]:
    """Allow one path only: whatever is not allowed is refused."""
    rule = 'path "transit/encrypt/rows" { capabilities = ["update"] }'
    vault.put("sys/policies/acl/writer", {"policy": rule})
    return vault, vault.post("auth/token/create", {"policies": ["writer"]}).auth["client_token"]


def with_denials(vault: Vault) -> tuple[Vault, str]:
    """Allow a pattern, and deny whatever else it opens: a longer list, and a new verb of the service is not on it."""
    rules = ['path "transit/+/rows" { capabilities = ["update"] }']
    others = ("backup", "decrypt", "hash", "hmac", "keys", "random", "restore", "rewrap", "sign", "verify")
    rules += [f'path "transit/{verb}/rows" {{ capabilities = ["deny"] }}' for verb in others]
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


def _two_denials(vault: Vault) -> tuple[Vault, str]:
    rules = ['path "transit/+/rows" { capabilities = ["update"] }']
    rules += [f'path "transit/{verb}/rows" {{ capabilities = ["deny"] }}' for verb in ("decrypt", "rewrap")]
    return _token_with(vault, "\n".join(rules))


def _also(rule: str) -> Any:
    """Return what allows a rule beside the right one."""
    return lambda vault: _token_with(vault, f'path "{ENCRYPT}" {{ capabilities = ["update"] }}\n{rule}')


def _default_changed(vault: Vault) -> tuple[Vault, str]:
    vault.put("sys/policies/acl/default", {"policy": 'path "secret/*" { capabilities = ["read"] }'})
    return exact_path(vault)


def _answer_of_create(vault: Vault) -> tuple[Vault, Any]:
    exact_path(vault)
    return vault, vault.post(TOKENS, {"policies": ["writer"]})


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


def _none_of_its_own(vault: Vault) -> tuple[Vault, str]:
    exact_path(vault)
    return vault, vault.post(TOKENS).auth["client_token"]


def _may_create_too(vault: Vault) -> tuple[Vault, str]:
    return _token_with(vault, f'path "{ENCRYPT}" {{ capabilities = ["create", "update"] }}')


def _may_read_too(vault: Vault) -> tuple[Vault, str]:
    return _token_with(vault, f'path "{ENCRYPT}" {{ capabilities = ["update", "read"] }}')


def _reading(vault: Vault) -> tuple[Vault, str]:
    return _token_with(vault, 'path "transit/encrypt/rows" { capabilities = ["read", "list"] }')


WRITE_ONLY = Exercise(
    name="write_only",
    title="May write, may not read",
    goal="you hand in a token that may encrypt with the key rows, also in batches, and may do nothing else beside what "
    "the policy default gives to every token.",
    start=start,
    look=look,
    takes=("the vault", "the token"),
    conditions=(
        Condition(
            name="a token",
            holds=lambda seen: seen.kind == "str",
            says=lambda seen: f"what you handed in beside the vault is a {seen.kind}",
            asks="A token is a text, which goes with each request.",
            hints=(
                'Look at what `vault.post("auth/token/create", …)` answers.',
                "A token that is made is in `.auth` of the answer, not in `.data`.",
                'hand in `.auth["client_token"]` of that answer',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="writes",
            holds=lambda seen: seen.kind == "str" and not seen.needed,
            says=lambda seen: f"it may not {' and '.join(seen.needed)}; {seen.policies}",
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
            says=lambda seen: f"it may {' and '.join(seen.read)}; {seen.policies}",
            asks="It may not open a row, in any way.",
            hints=(
                "Try to decrypt with the token: one row, and a batch of one.",
                "A pattern opens whatever fits it, also what you did not think of. A token that is made without "
                "policies has those of its maker.",
                "name the exact path, or deny what the pattern opens",
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="nothing more",
            holds=lambda seen: not seen.more,
            says=lambda seen: f"it may also {_shown(seen.more)}",
            asks="Beside that it may do nothing but what the policy default gives to every token.",
            hints=(
                'Ask for it: `vault.post("sys/capabilities", {"token": token, "paths": [...]}).data`.',
                "Who may write policies, settings or tokens may soon do anything. A pattern opens whatever fits it, "
                "also a key that does not exist yet. To encrypt with a key that is there is an update of its path.",
                'one rule: `path "transit/encrypt/rows" { capabilities = ["update"] }`',
            ),
        ),
    ),
    ways={"one exact path": exact_path, "a pattern with denials": with_denials},
    traps=(
        Trap(name="all of transit", act=_everything, refused_by="reads nothing"),
        Trap(name="keys that make themselves", act=_makes_keys, refused_by="nothing more"),
        Trap(name="a pattern only", act=_pattern_only, refused_by="reads nothing"),
        Trap(name="a pattern with two denials", act=_two_denials, refused_by="nothing more"),
        Trap(name="batches forgotten", act=_batch_forgotten, refused_by="reads nothing"),
        Trap(name="the root token", act=_root, refused_by="reads nothing"),
        Trap(name="a policy that no token has", act=_nobody_has_it, refused_by="writes"),
        Trap(name="none of its own", act=_none_of_its_own, refused_by="reads nothing"),
        Trap(name="encrypt, and make the key", act=_may_create_too, refused_by="nothing more"),
        Trap(name="encrypt, and read there", act=_may_read_too, refused_by="nothing more"),
        Trap(name="read and list", act=_reading, refused_by="writes"),
        Trap(name="the answer in place of the token", act=_answer_of_create, refused_by="a token"),
        Trap(name="the policy default with more in it", act=_default_changed, refused_by="nothing more"),
        *[
            Trap(name=rule, act=_also(rule), refused_by="nothing more")
            for rule in (
                'path "sys/policies/acl/writer" { capabilities = ["update"] }',
                'path "transit/keys/rows/config" { capabilities = ["update"] }',
                'path "transit/keys/rows/trim" { capabilities = ["update"] }',
                'path "transit/keys/rows" { capabilities = ["delete"] }',
                'path "secret/*" { capabilities = ["create", "read", "update", "delete"] }',
                'path "auth/token/create" { capabilities = ["update", "sudo"] }',
                'path "sys/mounts/*" { capabilities = ["create", "update", "delete", "sudo"] }',
                'path "transit/backup/rows" { capabilities = ["read"] }',
                'path "transit/rewrap/rows" { capabilities = ["update"] }',
                'path "transit/encrypt/*" { capabilities = ["update"] }',
                'path "transit/encrypt/n*" { capabilities = ["create", "update"] }',
                'path "transit/encrypt/row*" { capabilities = ["update"] }',
                'path "transit/decrypt/other" { capabilities = ["update"] }',
                'path "transit/hmac/*" { capabilities = ["update"] }',
                'path "kv/later/*" { capabilities = ["read"] }',
            )
        ],
    ),
)


def _shown(grants: tuple[str, ...]) -> str:
    more = f", and {len(grants) - SHOWN} more" if len(grants) > SHOWN else ""
    makes = f"; `create` at {ENCRYPT} makes a key where there is none" if MAKE_IT in grants[:SHOWN] else ""
    return f"{', '.join(grants[:SHOWN])}{more}{makes}"
