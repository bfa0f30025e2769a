"""Search: a mark by which equal e-mail addresses of one tenant are found, and of two tenants never."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, NamedTuple

from labkit.front.vault import Vault
from labkit.lessons.kept_keys.rows import base64_of
from labkit.lessons.plan import Condition, Exercise, Trap

TENANTS, EMAILS = ("north", "south"), ("ada@example.org", "bob@example.org")
SEEDS = (231, 232)


class SearchSeen(NamedTuple):
    """The marks of two tenants with two addresses each, the first of them twice, and once in a service of others."""

    marks: tuple[tuple[Any, Any], ...]
    again: Any
    elsewhere: Any
    error: str

    @property
    def all_texts(self) -> bool:
        """Whether each mark is a text that is not empty."""
        return not self.error and all(isinstance(one, str) and one for row in self.marks for one in row)


def look(function: Callable[[Any, str, str], Any]) -> SearchSeen:
    """Let a function mark addresses in a new vault, and one in a vault with other keys."""
    vault, other = (Vault.dev(seed=seed) for seed in SEEDS)
    try:
        marks = tuple([(function(vault, each, EMAILS[0]), function(vault, each, EMAILS[1])) for each in TENANTS])
        again = function(vault, TENANTS[0], EMAILS[0])
        return SearchSeen(marks, again, function(other, TENANTS[0], EMAILS[0]), "")
    except Exception as error:  # the reader's own
        return SearchSeen((), None, None, f"{type(error).__name__}: {error}")


def untouched(function: Callable[[Any, str, str], Any]) -> bool:
    """Whether a function marks nothing yet."""
    seen = look(function)
    return not seen.error and seen.again is None


def convergent(vault: Any, tenant: str, email: str) -> str:
    """Encrypt under a key that gives equal texts for equal contexts, with the tenant as context."""
    vault.post("transit/keys/mail", {"derived": True, "convergent_encryption": True})
    sent = {"plaintext": base64_of(email), "context": base64_of(tenant)}
    return str(vault.post("transit/encrypt/mail", sent).data["ciphertext"])


def beside_it(vault: Any, tenant: str, email: str) -> str:
    """Let the service sign tenant and address: a column beside the ciphertext, which is random as usual."""
    vault.post("transit/keys/mark", {})
    return str(vault.post("transit/hmac/mark", {"input": base64_of(f"{tenant}\n{email}")}).data["hmac"])


def _random(vault: Any, tenant: str, email: str) -> Any:
    return vault.post("transit/encrypt/mail", {"plaintext": base64_of(email)}).data["ciphertext"]


def _convergent_in(vault: Any, email: str, context: str) -> Any:
    vault.post("transit/keys/mail", {"derived": True, "convergent_encryption": True})
    sent = {"plaintext": base64_of(email), "context": base64_of(context)}
    return vault.post("transit/encrypt/mail", sent).data["ciphertext"]


def _key_per_tenant(vault: Any, tenant: str, email: str) -> Any:
    return vault.post(f"transit/encrypt/mail-{tenant}", {"plaintext": base64_of(email)}).data["ciphertext"]


def _tenant_only(vault: Any, tenant: str, email: str) -> Any:
    return beside_it(vault, tenant, "")


def _no_context(vault: Any, tenant: str, email: str) -> Any:
    vault.post("transit/keys/mail", {"derived": True, "convergent_encryption": True})
    return vault.post("transit/encrypt/mail", {"plaintext": base64_of(email)}).raise_for_status().data["ciphertext"]


SEARCH = Exercise(
    name="search",
    title="Find without opening",
    goal="a function of vault, tenant and e-mail address that returns a mark: equal for equal addresses of one tenant, "
    "different otherwise, and of no use without the service.",
    look=look,
    takes=("a function of vault, tenant and address",),
    untouched=untouched,
    conditions=(
        Condition(
            name="marks",
            holds=lambda seen: seen.all_texts,
            says=lambda seen: seen.error or f"it returned {seen.again!r}",
            asks="For each tenant and address it has to return a text.",
            hints=(
                "Play it with `Vault.dev(seed=1)`, and look at the errors of each answer.",
                "A derived key needs a context for each text.",
                '`.data["ciphertext"]` or `.data["hmac"]`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="same",
            holds=lambda seen: seen.again == seen.marks[0][0],
            says=lambda seen: "one address of one tenant got two marks",
            asks="The same address of the same tenant has to get the same mark.",
            hints=(
                "Call it twice with the same arguments.",
                "Usual encryption draws a nonce each time, so that equal texts do not look equal.",
                "`convergent_encryption`, or `transit/hmac/…`",
            ),
        ),
        Condition(
            name="addresses apart",
            holds=lambda seen: all(first != second for first, second in seen.marks),
            says=lambda seen: "two addresses of one tenant got one mark",
            asks="Two addresses have to get two marks.",
            hints=(
                "Call it with two addresses.",
                "What the mark is made of has to hold the address.",
                "put the address into plaintext or input",
            ),
        ),
        Condition(
            name="tenants apart",
            holds=lambda seen: not set(seen.marks[0]) & set(seen.marks[1]),
            says=lambda seen: "one address got the same mark for two tenants",
            asks="Nobody may see that two tenants know the same address.",
            hints=(
                "Call it for two tenants with one address.",
                "The context decides which key is derived: another context, another key.",
                "the tenant as context, or in front of the address",
            ),
        ),
        Condition(
            name="needs the service",
            holds=lambda seen: seen.elsewhere != seen.marks[0][0],
            says=lambda seen: "a service with other keys gave the same mark",
            asks="Who does not have the service may not be able to make a mark, or to guess an address from one.",
            hints=(
                "Call it with two vaults of different seeds.",
                "A hash without a key can be tried by everybody, for each address they know.",
                "let transit make the mark",
            ),
        ),
    ),
    ways={"convergent, by tenant": convergent, "a signature beside it": beside_it},
    traps=(
        Trap(name="random nonces", act=_random, refused_by="same"),
        Trap(name="a key per tenant", act=_key_per_tenant, refused_by="same"),
        Trap(name="tenant only", act=_tenant_only, refused_by="addresses apart"),
        Trap(
            name="one context for all",
            act=lambda vault, tenant, email: _convergent_in(vault, email, "all"),
            refused_by="tenants apart",
        ),
        Trap(
            name="the address as context",
            act=lambda vault, tenant, email: _convergent_in(vault, email, email),
            refused_by="tenants apart",
        ),
        Trap(
            name="the address itself",
            act=lambda vault, tenant, email: f"{tenant} {email}",
            refused_by="needs the service",
        ),
        Trap(
            name="a hash in Python",
            act=lambda vault, tenant, email: sha256(f"{tenant} {email}".encode()).hexdigest(),
            refused_by="needs the service",
        ),
        Trap(name="no context", act=_no_context, refused_by="marks"),
    ),
)
