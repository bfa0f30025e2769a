"""Questions: what a refusal shows to whoever is refused, how long a renewed token lives, and what new keys let in."""

from __future__ import annotations

from typing import Any

from labkit.front.vault import Vault
from labkit.lessons.machine_logins.machines import AUDIT, LOGIN, ROLE, five_tries, reasons
from labkit.lessons.plan import Question
from labkit.lessons.worlds import branched

HOUR_S, MAX_S = 3_600, 5_400
PASSED = 200
RENEWED_S = 85 * 60
LOGINS = 4
PUBLISHED = 2
"""A cloud whose keys never changed publishes the one that signs and the next; else the one before them too."""


def lacks_role(vault: Vault) -> str:
    """Say what is missing before five logins can be tried."""
    if vault.get(ROLE).ok and AUDIT in vault.files.names():
        return ""
    return "This vault has no role web, or no audit file: run the cells above first."


def that_differ(vault: Vault) -> int:
    """Return how many of five refused logins get another answer than the first, each tried in a branch."""
    first, *others = [(answer.status, answer.errors) for answer in five_tries(branched(vault))]
    return sum(other != first for other in others)


def why_alike(vault: Vault) -> str:
    """Explain who learns what was wrong."""
    branch = branched(vault)
    before = len(reasons(branch))
    first = five_tries(branch)[0]
    found = reasons(branch)[before:]
    return (
        f"All five answer {first.status} with the same words; {that_differ(vault)} of the others differ. The audit "
        f"file has the reasons: {', '.join(found)}. An answer that named the check would help whoever tries to get "
        "past it. Four of the five statements carry a good signature: it says who issued them, not for whom, from "
        "which machine and for how long."
    )


def lacks_renewal(vault: Vault) -> str:
    """Say what is missing before the length of a lease can be read."""
    token = _renewed(vault)
    if token is None:
        return "In this vault no token has a limit of 90 minutes: run the cell above first."
    if token["last_renewal_time"] - token["creation_time"] < RENEWED_S:
        return "The token is not renewed at 85 minutes yet: run the cell above first."
    return ""


def left_s(vault: Vault) -> int:
    """Return how many seconds the renewed token had after its second renewal."""
    token = _renewed(vault)
    assert token is not None, "asked before"
    return int(token["creation_time"] + MAX_S - token["last_renewal_time"])


def why_shorter(vault: Vault) -> str:
    """Explain what a renewal gives."""
    return (
        f"The token was made for {HOUR_S:,} seconds at a time and {MAX_S:,} in all. A renewal gives the usual time, "
        f"but never past the end that was set with the token: at 85 minutes {left_s(vault)} seconds were left."
    )


def lacks_logins(vault: Vault) -> str:
    """Say what is missing before the logins around two changes of keys can be counted."""
    found = len(_logins(vault))
    if found < LOGINS:
        return f"This vault has {found} logins so far: run the cell above first."
    if len(vault.cloud.jwks()["keys"]) <= PUBLISHED:
        return "The signing keys of this vault's cloud never changed: run the cell above first."
    return ""


def that_pass(vault: Vault) -> int:
    """Return how many of the first four logins passed."""
    return sum(status == PASSED for status in _logins(vault)[:LOGINS])


def why_one_waits(vault: Vault) -> str:
    """Explain why an unknown key is not fetched for each time."""
    first, second, third, last = _logins(vault)[:LOGINS]
    return (
        f"The logins answered {first}, {second}, {third} and {last}. Where a statement names a key that the service "
        "does not know, it asks the cloud which keys there are, and then not again for five minutes. If it asked "
        "each time, whoever sends tokens with invented keys could keep it asking. An honest machine waits that long "
        "after a second change."
    )


def _logins(vault: Vault) -> list[int]:
    return [call.status for call in vault.calls if call.path == LOGIN]


def _renewed(vault: Vault) -> dict[str, Any] | None:
    """Return what is known of the token with a limit of 90 minutes."""
    listed = vault.list("auth/token/accessors")
    for accessor in listed.data["keys"] if listed.ok else []:
        found: dict[str, Any] = vault.post("auth/token/lookup-accessor", {"accessor": accessor}).data
        if found["explicit_max_ttl"] == MAX_S and found.get("last_renewal_time"):
            return found
    return None


FORGERIES = Question(
    name="forgeries",
    world=Vault,
    asks="Five logins with role web: db-1, of another group; db-1 that says it is web-1; a statement that has ended; "
    "one that was made for a mail service; one without a signature. How many of the last four get another answer than "
    "the first?",
    least=0,
    most=4,
    measure=that_differ,
    needs=lacks_role,
    why=why_alike,
    replies={
        4: "Four would differ if each answer named what was wrong. Then whoever is refused would know what to mend.",
        1: "One would differ if a missing signature were a bad request. It is a login like the others, and fails.",
    },
    otherwise="Think of who reads the answer: what may they learn?",
)
RENEWED = Question(
    name="renewed",
    world=Vault,
    asks="A token lives an hour at a time and 90 minutes in all. It is renewed at 50 minutes, and again at 85 minutes. "
    "How many seconds does it have after the second renewal?",
    least=0,
    most=MAX_S,
    unit=" s",
    measure=left_s,
    needs=lacks_renewal,
    why=why_shorter,
    replies={
        HOUR_S: "3600 would be right if each renewal gave a new hour. Then a token could live for ever.",
        1_500: "1500 would be left of a whole hour from the first renewal. A renewal replaces what is left.",
        MAX_S: "5400 is the limit, counted from the renewal. It counts from when the token was made.",
    },
    otherwise="When does the token end at the latest, and how far is that from 85 minutes?",
)
ROLLED = Question(
    name="rolled",
    world=Vault,
    asks="A cloud changes its signing keys twice. A machine logs in before, a second after each change, and once more "
    "five minutes later. How many of its four logins pass?",
    least=0,
    most=LOGINS,
    measure=that_pass,
    needs=lacks_logins,
    why=why_one_waits,
    replies={
        4: "Four would pass if the keys were fetched at each unknown one. Then anybody could make the service ask the "
        "cloud as often as they like.",
        2: "Two would pass if a new key were always waited for. The first unknown one is fetched for at once; the "
        "second comes within five minutes of that.",
        1: "One would pass if the service kept its first keys for good. It fetches them again, though not each time.",
    },
    otherwise="When does a service learn of a new key, and who could make it ask?",
)
