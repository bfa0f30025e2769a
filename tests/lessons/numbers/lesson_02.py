"""The numbers of lesson 02, and by what each is known."""

from __future__ import annotations

from labkit import Vault
from labkit.lessons.kept_keys.questions import lacks_rotation
from labkit.lessons.kept_keys.retire import as_a_batch, one_by_one
from labkit.lessons.kept_keys.rows import opened, rows_of
from labkit.lessons.kept_keys.search import EMAILS, TENANTS, beside_it
from tests.lessons.numbers.claims import given, imagined, known, listed, measured
from tests.lessons.numbers.runs import begun, lone_versions


def passing_cas(version: int) -> list[int]:
    """At a secret that was written so many times: its version, and the cas that lets the next write pass."""
    tried = [
        cas
        for cas in range(version + 2)
        if lone_versions(version).post("secret/data/app", {"options": {"cas": cas}, "data": {"n": 0}}).ok
    ]
    return [version, *tried]


def versions_of_rows(vault: Vault) -> list[int]:
    """Under which versions of the key a table's rows are."""
    return sorted({int(row.split(":")[1].removeprefix("v")) for row in rows_of(vault)})


def first_and_second() -> list[int]:
    """The version that the rows of the lesson are under, and the one that a rotation adds."""
    vault = begun("02", "retire")
    (first,) = versions_of_rows(vault)
    vault.post("transit/keys/rows/rotate")
    assert lacks_rotation(vault)
    return [first, vault.get("transit/keys/rows").data["latest_version"]]


def minimum_of_a_retired() -> int:
    """Which minimum the right way leaves, with which no old row opens."""
    vault = begun("02", "retire")
    old = rows_of(vault)[0]
    one_by_one(vault)
    assert opened(vault, old) is None
    key = vault.get("transit/keys/rows").data
    assert key["min_decryption_version"] == key["min_available_version"]
    return int(key["min_available_version"])


def requests_of_a_batch() -> int:
    """By how many requests all rows are moved as a batch."""
    vault = begun("02", "retire")
    as_a_batch(vault)
    return sum(call.path == "transit/rewrap/rows" for call in vault.calls)


def marks() -> list[list[str]]:
    """The marks of each tenant for each address, by a right way."""
    vault = Vault.dev(seed=1)
    return [[beside_it(vault, tenant, email) for email in EMAILS] for tenant in TENANTS]


def addresses_and_marks() -> list[int]:
    """How many addresses are compared at least, the first of the check, and how many marks they get."""
    (found,) = {len(set(row[:2])) for row in marks()}
    return [len(EMAILS[:2]), found]


def stands_for_latest() -> int:
    """The minimum to encrypt of a key that was never set, under which its latest version encrypts."""
    vault = begun("02", "retire")
    vault.post("transit/keys/rows/rotate")
    key = vault.get("transit/keys/rows").data
    sent = vault.post("transit/encrypt/rows", {"plaintext": "cm93"}).data["ciphertext"]
    assert sent.startswith(f"vault:v{key['latest_version']}:")
    return int(key["min_encryption_version"])


def before_a_trim() -> int:
    """The least version that is left of a key of which nothing was trimmed."""
    return int(begun("02", "retire").get("transit/keys/rows").data["min_available_version"])


def marks_of_one_address() -> int:
    """How many marks an address of a tenant gets when it is marked again."""
    vault = Vault.dev(seed=1)
    return len({beside_it(vault, TENANTS[0], EMAILS[0]) for _ in range(2)})


CLAIMS = {
    "under version 1 of the key `rows`": measured(lambda runs: versions_of_rows(begun("02", "retire"))),
    "nothing under version 1 ever": measured(lambda runs: versions_of_rows(begun("02", "retire"))),
    "equal for equal addresses of one tenant": measured(lambda runs: marks_of_one_address()),
    "A secret is at version 3": measured(lambda runs: passing_cas(3)[1:]),
    "2 / 3 / 4": measured(lambda runs: [cas - 1 + n for cas in passing_cas(3)[1:] for n in range(3)]),
    "show two equal marks of one tenant": imagined("what whoever teaches shows, of a tenant of theirs"),
    "rows are under version 2": measured(lambda runs: first_and_second()[1]),
    "With the minimum at 2": given('{"min_decryption_version": 2})'),
    "lowered to 1 again": given('{"min_decryption_version": 1})'),
    "no text of version 1 opens": measured(lambda runs: first_and_second()[0]),
    "all encrypted under version 1 of a key": measured(lambda runs: versions_of_rows(runs["02"]["service"])),
    "set to 2, and an old row": given('{"min_decryption_version": 2})'),
    "Then it is set to 1 again": given('{"min_decryption_version": 1})'),
    "the minimum removed version 1": measured(lambda runs: first_and_second()[0]),
    "nothing that version 1 encrypted": measured(lambda runs: first_and_second()[0]),
    "What version 1 encrypted": measured(lambda runs: first_and_second()[0]),
    '{"min_decryption_version": 2})': measured(lambda runs: minimum_of_a_retired()),
    "with the minimum lowered to 1": measured(lambda runs: first_and_second()[0]),
    '{"min_available_version": 2})': measured(lambda runs: minimum_of_a_retired()),
    "a copy with version 1": measured(lambda runs: first_and_second()[0]),
    "Version 1 may not leave": measured(lambda runs: first_and_second()[0]),
    "`Vault.dev(seed=1)`": imagined("any seed would do as well"),
    "one address of one tenant got two marks": imagined("what a wrong function does, told only of one that did"),
    "Call it twice": imagined("how often the reader is to call it"),
    "two addresses of one tenant": imagined("what a wrong function does, said only of one that did"),
    "where 0 stands for the latest": measured(lambda runs: stands_for_latest()),
    "0 says that nothing was trimmed": measured(lambda runs: before_a_trim()),
    "show that two tenants know one address": known(lambda: len(TENANTS)),
    "two tenants with one address": known(lambda: len(TENANTS)),
    "got one mark": imagined("what a wrong function does, told only of one that did"),
    "Two addresses have to get two marks": measured(lambda runs: addresses_and_marks()),
    "Call it with two addresses": known(lambda: len(EMAILS[:2])),
    "same mark for two tenants": known(lambda: len(TENANTS)),
    "see that two tenants": known(lambda: len(TENANTS)),
    "Call it for two tenants": known(lambda: len(TENANTS)),
    "are the two texts equal": listed("tenant", "address"),
    "between the two, such as": listed("tenant", "sign"),
    "one text or a batch": listed("one text"),
    "only then forbid version 1": measured(lambda runs: first_and_second()[0]),
    "all rows by one request": measured(lambda runs: requests_of_a_batch()),
    "after a year": imagined("how long the reader lets pass in the stretch"),
    "After a month": given('"720h"', times=1 / 24 / 30),
}
