"""Search: a mark by which equal e-mail addresses of one tenant are found, and of two tenants never.

What a mark shows is judged place by place, over several addresses: a place that differs by address and looks the same
in a service with other keys is made without a key; one that looks the same for another tenant links the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from math import log2
from typing import Any, NamedTuple

from labkit.front.vault import Vault
from labkit.lessons.attempts import is_blank
from labkit.lessons.kept_keys.rows import base64_of
from labkit.lessons.overlooked import FIRST_REFUSAL
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.said import raised
from labkit.service.message import Response
from labkit.service.short_forms import ShortForms

TENANTS = ("north", "south")
EMAILS = (
    *("ada.lovelace@example.org", "grace.hopper@example.org", "kt.johnson@orbit.example", "emmy.noether@ring.sample"),
    *("s.kowalewski@prizes.test", "hypatia.alex@museum.test", "chien-s.wu@betadecay.org", "barb.liskov@types.sample"),
)
"""All of one length, as the tenants are: so a part of a mark stands at the same places in each."""
JOIN_ALIKE = (("northada", ".lovelace@example.org"), ("gnorth", "ada.lovelace@example.or"))
"""Tenants and addresses that give the same text as the first ones, joined in one order and in the other."""
SEEDS = (231, 232)
MANY = 1_000_000
"""So many addresses have to get marks of their own."""
MAX_SHARED = 0.01
ALPHABETS = (2, 10, 16, 32, 64, 256)


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
    """The marks of two tenants with each address; the first one again, and the first tenant's in another service.

    ``joined`` are marks of other tenants and addresses that join to the same text as the first.
    """

    marks: tuple[tuple[Any, ...], ...]
    again: Any
    elsewhere: tuple[Any, ...]
    joined: tuple[Any, ...]
    error: str

    @property
    def all_texts(self) -> bool:
        """Whether each mark is a text that is not empty."""
        every = [one for row in (*self.marks, self.elsewhere) for one in row]
        return not self.error and all(isinstance(one, str) and one for one in every)

    @property
    def made_without_keys(self) -> int:
        """How many characters of a mark differ by address, and are the same in a service with other keys."""
        return len(_alike(self.marks[0], self.elsewhere))

    @property
    def linking(self) -> int:
        """How many characters of a mark differ by address, are the same for both tenants, and need the key."""
        return len(_alike(*self.marks) - _alike(self.marks[0], self.elsewhere))

    @property
    def shared(self) -> float:
        """How many pairs of so many addresses would share a mark, by the characters of it that differ."""
        columns, *others = [_varying(row) for row in (*self.marks, self.elsewhere)]
        used = len({character for column in columns.union(*others) for character in column})
        alphabet = next((size for size in ALPHABETS if size >= used), used)
        bits: float = len(columns) * log2(alphabet)
        return MANY**2 / 2 ** (bits + 1)


def look(function: Callable[[Any, str, str], Any]) -> SearchSeen:
    """Let a function mark addresses in a new vault, and one in a vault with other keys."""
    vault, other = (Vault.dev(seed=seed) for seed in SEEDS)
    try:
        marks = tuple([tuple([function(vault, each, email) for email in EMAILS]) for each in TENANTS])
        again = function(vault, TENANTS[0], EMAILS[0])
        joined = tuple([function(vault, tenant, email) for tenant, email in JOIN_ALIKE])
        twin = OtherService(other, vault)
        elsewhere = tuple([function(twin, TENANTS[0], email) for email in EMAILS])
        return SearchSeen(marks, again, elsewhere, joined, "")
    except Exception as error:  # the reader's own
        return SearchSeen((), None, (), (), f"{raised(error)}{_last_refusal(vault)}")


def _last_refusal(vault: Vault) -> str:
    call = vault.calls[-1] if len(vault.calls) else None
    return (
        f"; before that {call.method} {call.path} answered {call.status}"
        if call and call.status >= FIRST_REFUSAL
        else ""
    )


def _alike(first: tuple[str, ...], second: tuple[str, ...]) -> set[int]:
    """Return the places that differ by address and are alike in two rows of marks."""
    pairs = enumerate(zip(zip(*first, strict=False), zip(*second, strict=False), strict=False))
    return {place for place, (ours, theirs) in pairs if ours == theirs and len(set(ours)) > 1}


def _varying(marks: tuple[str, ...]) -> set[tuple[str, ...]]:
    return {column for column in zip(*marks, strict=False) if len(set(column)) > 1}


def shows(mark: str, email: str) -> bool:
    """Whether a mark holds an address, or the name before its @, as it is or in hexadecimal digits or base64."""
    return any(form in mark for text in (email, email.partition("@")[0]) for form in _forms(text))


def _forms(text: str) -> Iterator[str]:
    yield from (text, text[::-1], text.encode().hex())
    for before in range(3):  # in base64 a text looks otherwise by how many bytes stand before it
        yield base64_of(" " * before + text)[4 * (before > 0) :].rstrip("=")[:-1]


def _all_differ(seen: SearchSeen) -> bool:
    return all(len(set(row)) == len(row) for row in seen.marks)


def _characters(number: int) -> str:
    return f"{number} character{' of the mark is' if number == 1 else 's of the mark are'}"


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


def _linked_part(vault: Any, tenant: str, email: str) -> Any:
    return f"{tenant}:{beside_it(vault, '', email)}"


def _part_by_hash(vault: Any, tenant: str, email: str) -> Any:
    return f"{beside_it(vault, tenant, email)}|{sha256(f'{tenant} {email}'.encode()).hexdigest()}"


def _hash_of_the_address(vault: Any, tenant: str, email: str) -> Any:
    return f"{beside_it(vault, tenant, email)}|{sha256(email.encode()).hexdigest()}"


def _too_short(vault: Any, tenant: str, email: str) -> Any:
    return beside_it(vault, tenant, email)[:13]


def _first_letters(vault: Any, tenant: str, email: str) -> Any:
    return beside_it(vault, tenant, email) + email[:2]


def _no_key(vault: Any, tenant: str, email: str) -> Any:
    return vault.post("transit/hmac/mark", {"input": base64_of(f"{tenant} {email}")}).data["hmac"]


def _no_context(vault: Any, tenant: str, email: str) -> Any:
    vault.post("transit/keys/mail", {"derived": True, "convergent_encryption": True})
    return vault.post("transit/encrypt/mail", {"plaintext": base64_of(email)}).raise_for_status().data["ciphertext"]


SEARCH = Exercise(
    name="search",
    title="Find without opening",
    goal="a function of vault, tenant and e-mail address that returns a mark: equal for equal addresses of one tenant, "
    "different otherwise, and no part of it is of use without the service.",
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
            holds=lambda seen: _all_differ(seen) and seen.shared < MAX_SHARED,
            says=lambda seen: (
                f"so few characters of a mark differ by address that of {MANY:,} addresses about "
                f"{float(f'{seen.shared:.1g}'):,.0f} pairs would share one"
                if _all_differ(seen)
                else "two addresses of one tenant got one mark"
            ),
            asks=f"Two addresses have to get two marks, also where there are {MANY:,} of them.",
            hints=(
                "Call it with two addresses: how many characters of their marks differ?",
                "What the mark is made of has to hold the address, and what comes out has to stay as long as it is.",
                "put the address into plaintext or input, and return the answer whole",
            ),
        ),
        Condition(
            name="tenants apart",
            holds=lambda seen: not set(seen.marks[0]) & set(seen.marks[1]) and not seen.linking,
            says=lambda seen: (
                f"{_characters(seen.linking)} the same for two tenants with one address"
                if seen.linking and not set(seen.marks[0]) & set(seen.marks[1])
                else "one address got the same mark for two tenants"
            ),
            asks="Nobody may see that two tenants know the same address, not by a part of the mark either.",
            hints=(
                "Call it for two tenants with one address, and compare the marks character by character.",
                "What stands beside a part changes nothing of it. The tenant has to go in where the service makes the "
                "mark: another context is another key, another input another HMAC.",
                "the tenant as context, or in the input, in front of the address",
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
            for_its_sentence=True,
        ),
        Condition(
            name="needs the service",
            holds=lambda seen: not seen.made_without_keys,
            says=lambda seen: (
                f"{_characters(seen.made_without_keys)} the same in a service with other keys, and differ"
                f"{'s' if seen.made_without_keys == 1 else ''} by address: made of what anybody can read"
            ),
            asks="Nobody without the service may make a mark or a part of one, or find out by trying which address it "
            "stands for.",
            hints=(
                "Which of what your function uses does only the service know? Does every part of the mark need that?",
                "A hash of what everybody can read can be tried by everybody, for each address they know; and each "
                "character of an address beside a mark leaves fewer to try.",
                '`vault.post("transit/hmac/NAME", {"input": …})`, and nothing beside its answer',
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
            refused_by="hides the address",
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
        Trap(name="a part that links tenants", act=_linked_part, refused_by="tenants apart"),
        Trap(name="a part made by a hash", act=_part_by_hash, refused_by="needs the service"),
        Trap(name="a hash of the address beside a mark", act=_hash_of_the_address, refused_by="needs the service"),
        Trap(name="the first letters beside a mark", act=_first_letters, refused_by="needs the service"),
        Trap(name="cut too short", act=_too_short, refused_by="addresses apart"),
        Trap(name="encoded beside a mark", act=_encoded_beside_the_mark, refused_by="hides the address"),
    ),
)
