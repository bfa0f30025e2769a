"""Search: a mark by which equal e-mail addresses of one tenant are found, and of two tenants never."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from labkit.front.vault import Vault
from labkit.lessons.attempts import is_blank
from labkit.lessons.kept_keys.rows import base64_of
from labkit.lessons.overlooked import FIRST_REFUSAL
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.service.message import Response
from labkit.service.short_forms import ShortForms

TENANTS, EMAILS = ("north", "south"), ("ada.lovelace@example.org", "grace.hopper@example.org")
JOIN_ALIKE = (("northada", ".lovelace@example.org"), ("gnorth", "ada.lovelace@example.or"))
"""Tenants and addresses that give the same text as the first ones, joined in one order and in the other."""
SEEDS = (231, 232)


class OtherService(ShortForms):
    """A vault with other keys, which shows the same as the first one to whoever has no token."""

    def __init__(self, vault: Vault, first: Vault) -> None:
        self._vault, self._first = vault, first
        self.root_token = vault.root_token

    def request(self, method: str, path: str, *given: Any, **how: Any) -> Response:
        """Answer as the first one where that needs no token, else as the other."""
        shown = self._first.request(method, path) if method == "GET" else None
        return shown if shown is not None and shown.ok else self._vault.request(method, path, *given, **how)


class SearchSeen(NamedTuple):
    """The marks of two tenants with two addresses each; the first one again, and in a service with other keys.

    ``joined`` are marks of other tenants and addresses that join to the same text as the first.
    """

    marks: tuple[tuple[Any, Any], ...]
    again: Any
    elsewhere: Any
    joined: tuple[Any, ...]
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
        joined = tuple([function(vault, tenant, email) for tenant, email in JOIN_ALIKE])
        elsewhere = function(OtherService(other, vault), TENANTS[0], EMAILS[0])
        return SearchSeen(marks, again, elsewhere, joined, "")
    except Exception as error:  # the reader's own
        return SearchSeen((), None, None, (), f"{type(error).__name__}: {error}{_last_refusal(vault)}")


def _last_refusal(vault: Vault) -> str:
    call = vault.calls[-1] if len(vault.calls) else None
    return (
        f"; before that {call.method} {call.path} answered {call.status}"
        if call and call.status >= FIRST_REFUSAL
        else ""
    )


def shows(mark: str, email: str) -> bool:
    """Whether a mark holds an address, or the name before its @, as it is or in hexadecimal digits or base64."""
    return any(form in mark for text in (email, email.partition("@")[0]) for form in _forms(text))


def _forms(text: str) -> Iterator[str]:
    yield from (text, text[::-1], text.encode().hex())
    for before in range(3):  # in base64 a text looks otherwise by how many bytes stand before it
        yield base64_of(" " * before + text)[4 * (before > 0) :].rstrip("=")[:-1]


def untouched(function: Callable[[Any, str, str], Any]) -> bool:
    """Whether a function is blank, and marks nothing."""
    return is_blank(function) and look(function).again is None


def convergent(vault: Any, tenant: str, email: str) -> str:
    """Encrypt under a key that gives equal texts for equal contexts, with the tenant as context."""
    vault.post("transit/keys/mail", {"derived": True, "convergent_encryption": True})
    sent = {"plaintext": base64_of(email), "context": base64_of(tenant)}
    return str(vault.post("transit/encrypt/mail", sent).data["ciphertext"])


def beside_it(vault: Any, tenant: str, email: str) -> str:
    """Let the service sign tenant and address: a column beside the ciphertext, which is random as usual."""
    vault.post("transit/keys/mark", {})
    return str(vault.post("transit/hmac/mark", {"input": base64_of(f"{tenant}\n{email}")}).data["hmac"])


def with_a_pepper(vault: Any, tenant: str, email: str) -> str:
    """Keep a random text in the service, and hash tenant and address together with it."""
    kept = vault.get("secret/data/pepper")
    if not kept.ok:
        text = vault.post("sys/tools/random/32").data["random_bytes"]
        vault.post("secret/data/pepper", {"options": {"cas": 0}, "data": {"text": text}})
        kept = vault.get("secret/data/pepper")
    text = f"{kept.data['data']['text']} {tenant} {email}"
    return str(vault.post("sys/tools/hash", {"input": base64_of(text)}).data["sum"])


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


def _no_divider(vault: Any, tenant: str, email: str) -> Any:
    vault.post("transit/keys/mark", {})
    return vault.post("transit/hmac/mark", {"input": base64_of(tenant + email)}).data["hmac"]


def _no_divider_after(vault: Any, tenant: str, email: str) -> Any:
    return _no_divider(vault, email, tenant)


def _beside_the_mark(vault: Any, tenant: str, email: str) -> Any:
    return _tenant_only(vault, tenant, email) + email


def _encoded_beside_the_mark(vault: Any, tenant: str, email: str) -> Any:
    return _tenant_only(vault, tenant, email) + base64_of(f"{tenant}:{email}")


def _with_what_all_see(vault: Any, tenant: str, email: str) -> Any:
    seen = vault.get("sys/seal-status").body
    return sha256(f"{seen} {tenant} {email}".encode()).hexdigest()


def _no_key(vault: Any, tenant: str, email: str) -> Any:
    return vault.post("transit/hmac/mark", {"input": base64_of(f"{tenant} {email}")}).data["hmac"]


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
    arguments=3,
    untouched=untouched,
    conditions=(
        Condition(
            name="marks",
            holds=lambda seen: seen.all_texts,
            says=lambda seen: seen.error or f"it returned {seen.again!r}",
            asks="For each tenant and address it has to return a text.",
            hints=(
                "Play it with `Vault.dev(seed=1)`, and look at the `.errors` of each answer.",
                "A refused request has no `.data`. An HMAC needs a key that is there, a `derived` one a `context`.",
                '`vault.post("transit/keys/NAME")` before it, and `.data["hmac"]` or `.data["ciphertext"]`',
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
                "Usual encryption draws a random number each time: equal texts do not look equal. An HMAC draws none.",
                '`vault.post("transit/hmac/NAME", {"input": …})`, or a key with `convergent_encryption`',
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
            says=lambda seen: "a service with other keys gave the same mark: it is made of what anybody may read",
            asks="Nobody without the service may make a mark, or find out by trying which address one stands for.",
            hints=(
                "Which of what your function uses does only the service know?",
                "A hash of what everybody can read can be tried by everybody, for each address they know.",
                '`vault.post("transit/hmac/NAME", {"input": …})`: the key stays in the service',
            ),
        ),
        Condition(
            name="pairs apart",
            holds=lambda seen: seen.marks[0][0] not in seen.joined,
            says=lambda seen: (
                f"{' with '.join(JOIN_ALIKE[seen.joined.index(seen.marks[0][0])])} got the mark of "
                f"{TENANTS[0]} with {EMAILS[0]}"
            ),
            asks="Another tenant with another address has to get another mark.",
            hints=(
                "Join each tenant with its address, as your function does: are the two texts equal?",
                "What is joined without a sign between can be cut in another place.",
                "put a sign that no tenant has between the two, such as a new line",
            ),
        ),
        Condition(
            name="hides the address",
            holds=lambda seen: (
                not any(shows(mark, email) for row in seen.marks for mark, email in zip(row, EMAILS, strict=True))
            ),
            says=lambda seen: "a mark holds its address, so that whoever has the table can read it there",
            asks="A mark may not show the address.",
            hints=(
                "Look at a mark, and decode what is base64 in it.",
                "The address goes in where the service makes the mark; it does not stand beside it.",
                "return what the service answers, and nothing else",
            ),
        ),
    ),
    ways={"convergent, by tenant": convergent, "a signature beside it": beside_it, "with a pepper": with_a_pepper},
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
        Trap(name="no key", act=_no_key, refused_by="marks"),
        Trap(name="nothing between", act=_no_divider, refused_by="pairs apart"),
        Trap(name="nothing between, the other way", act=_no_divider_after, refused_by="pairs apart"),
        Trap(name="a hash with what everybody can read", act=_with_what_all_see, refused_by="needs the service"),
        Trap(name="the address beside a mark", act=_beside_the_mark, refused_by="hides the address"),
        Trap(name="encoded beside a mark", act=_encoded_beside_the_mark, refused_by="hides the address"),
    ),
)
