"""The numbers of lesson 03, and by what each is known."""

from __future__ import annotations

import inspect
import json
from base64 import urlsafe_b64decode

from labkit import Vault
from labkit.lessons.machine_logins import shift
from labkit.lessons.machine_logins.five_reasons import SHOWN, WANTED, by_claims, by_header_and_place, look
from labkit.lessons.machine_logins.machines import five_tries, reasons
from labkit.lessons.machine_logins.questions import HOUR_S, LOGINS
from labkit.lessons.machine_logins.shift import RENEWAL_MINUTES, explicit_maximum, role_maximum
from labkit.lessons.plan import Act
from labkit.trace import SECOND_NS
from tests.lessons.numbers.claims import answered, code_of, done, given, imagined, known, listed, measured
from tests.lessons.numbers.runs import begun


def with_a_good_signature() -> list[int]:
    """Of the five forgeries: how many the cloud signed, and how many there are."""
    vault = begun("03", "five_reasons")
    five_tries(vault)
    found = reasons(vault)
    return [sum(reason not in ("algorithm", "signature") for reason in found), len(found)]


def reasons_of(way: Act) -> int:
    """How many reasons a way leaves in the audit file beside those of the lesson."""
    vault = begun("03", "five_reasons")
    way(vault)
    return len(look(vault).new)


def minutes(attribute: str) -> int:
    """At which minute of a shift a check asks something."""
    source = inspect.getsource(shift.look)
    steps = {
        "at_59": 'branch.advance("9m")\n    at_59',
        "at_61": 'branch.advance("2m")\n    at_61',
        "before_end": '8 * 60 - 10 - minutes}m")\n    before_end',
        "after_end": 'branch.advance("20m")\n    period',
    }
    assert all(step in source for step in steps.values())
    at_59 = RENEWAL_MINUTES + 9
    return {"at_59": at_59, "at_61": at_59 + 2, "before_end": 8 * 60 - 10, "after_end": 8 * 60 + 10}[attribute]


def hours_and_minutes(attribute: str) -> list[int]:
    """The same in hours and minutes."""
    return list(divmod(minutes(attribute), 60))


def left_of_the_first() -> int:
    """Seconds that would be left at the second renewal of a whole hour that the first one had given."""
    return 50 * 60 + HOUR_S - 85 * 60


def ids_of_approle() -> list[str]:
    """With which ids a program logs in by AppRole."""
    vault = Vault.dev(seed=1)
    vault.post("sys/auth/approle", {"type": "approle"})
    vault.post("auth/approle/role/app", {"token_policies": "app"})
    role = vault.get("auth/approle/role/app/role-id").data["role_id"]
    secret = vault.post("auth/approle/role/app/secret-id").data["secret_id"]
    assert vault.post("auth/approle/login", {"role_id": role, "secret_id": secret}, token="").ok
    return [name for name in vault.calls[-1].names if name.endswith("_id")]


def helped_by() -> int:
    """The value with which a path says what it takes."""
    vault = begun("03", "shift")
    return 1 if vault.get("auth/cloud/role/shift?help=1").body["help"] else 0


def unrenewed_for_h() -> float:
    """For how many hours a token of the right way lives that nobody renews."""
    vault = begun("03", "shift")
    explicit_maximum(vault)
    token = vault.cloud.vm("web-1").login(vault, role="shift").auth["client_token"]
    minutes = 0
    while vault.get("auth/token/lookup-self", token=token).ok:
        vault.advance("1m")
        minutes += 1
    return minutes / 60


def signed_for_days() -> float:
    """For how many days a statement is good at the most, of the machines of the cloud."""
    vault, most = Vault.dev(seed=5), 0
    for name in ("web-1", "web-2", "db-1"):
        part = vault.cloud.vm(name).token().split(".")[1]
        claims = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        most = max(most, claims["exp"] - vault.core.now() // SECOND_NS)
    return most / 86_400


def shift_hours() -> float:
    """After how many hours a token of the right way ends, however often it was renewed."""
    vault = begun("03", "shift")
    explicit_maximum(vault)
    token = vault.cloud.vm("web-1").login(vault, role="shift").auth["client_token"]
    hours = 0.0
    while vault.post("auth/token/renew-self", {}, token=token).ok:
        vault.advance("30m")
        hours += 0.5
    return hours


def rolled() -> int:
    """How often the cloud of the stretch changes its keys: before each wait but the longest."""
    code = code_of("03")
    waits = code.partition("for wait in (")[2].partition(")")[0].replace('"', "").split(", ")
    assert f'if wait != "{waits[-1]}":\n        vault.cloud.roll_keys()' in code
    return sum(wait != waits[-1] for wait in waits)


def headers() -> int:
    """How many headers the right way by header and place changes."""
    vault = begun("03", "five_reasons")
    by_header_and_place(vault)
    return inspect.getsource(by_header_and_place).count('{"kid"') + inspect.getsource(by_header_and_place).count(
        '{"typ"'
    )


CLAIMS = {
    "with two ids (**AppRole**)": measured(lambda runs: len(ids_of_approle())),
    "The five answers": measured(lambda runs: len(runs["03"]["tries"])),
    "Five logins": measured(lambda runs: len(runs["03"]["tries"])),
    "?help=1": measured(lambda runs: helped_by()),
    "five ways to be refused": known(lambda: WANTED),
    "`permission denied` in five ways": known(lambda: WANTED),
    "one of the five above": known(lambda: len(SHOWN)),
    "shifts of eight hours": measured(lambda runs: shift_hours()),
    "eight hours after the login": measured(lambda runs: shift_hours()),
    "changes its signing keys, twice": known(lambda: rolled()),
    "Two people write one secret": imagined("people in general, before anybody writes"),
    "the audit file has five different reasons": known(lambda: WANTED),
    "Five different reasons": known(lambda: WANTED),
    "All five answer": measured(lambda runs: with_a_good_signature()[1]),
    "Four of the five statements": measured(lambda runs: with_a_good_signature()),
    "a limit of 90 minutes": given('"explicit_max_ttl": "90m"'),
    "not renewed at 85 minutes": given('"50m"', '"35m"', running=True),
    "at 85 minutes {} seconds": given('"50m"', '"35m"', running=True),
    "not again for five minutes": known(lambda: begun("03", "shift").core.settings.key_cooldown_s / 60),
    "How many of the last four": known(lambda: len(SHOWN) - 1),
    "Four would differ": answered(),
    "90 minutes in all": given('"explicit_max_ttl": "90m"'),
    "renewed at 50 minutes, and again at 85 minutes": given('"50m"', '"35m"', running=True),
    "3600 would be right": answered(),
    "1500 would be left": answered(),
    "5400 is the limit": answered(),
    "far is that from 85 minutes": given('"50m"', '"35m"', running=True),
    "changes its signing keys twice": known(lambda: rolled()),
    "once more five minutes later": given('("1s", "1s", "5m")'),
    "its four logins": known(lambda: LOGINS),
    "Four would pass": answered(),
    "Two would pass": answered(),
    "within five minutes of that": known(lambda: begun("03", "shift").core.settings.key_cooldown_s / 60),
    "not valid at 59 minutes": known(lambda: minutes("at_59")),
    "still valid at 61 minutes": known(lambda: minutes("at_61")),
    "are two settings": listed("How long it lives at a time", "how long in all"),
    '`"token_ttl": "1h"`': done(role_maximum, '"token_ttl": "1h"'),
    "renewed each 50 minutes": known(lambda: RENEWAL_MINUTES),
    "your own, each 50 minutes": known(lambda: RENEWAL_MINUTES),
    "valid at 7 h 50 min": known(lambda: hours_and_minutes("before_end")),
    "a maximum of 8 h": done(role_maximum, '"token_max_ttl": "8h"'),
    "valid after 8 h 10 min": known(lambda: hours_and_minutes("after_end")),
    "go on for 8 h 10 min": known(lambda: hours_and_minutes("after_end")),
    "Five tokens of web-1": measured(lambda runs: reasons_of(by_claims)),
    "Three headers, a signature": measured(lambda runs: headers()),
    "a JWT, good for a day or less": measured(lambda runs: signed_for_days()),
    "its tokens end an hour after": measured(lambda runs: unrenewed_for_h()),
    "A token lives an hour at a time": given('"ttl": "1h"'),
    "before, a second after each change": given('("1s", "1s", "5m")'),
    "ends an hour after": measured(lambda runs: unrenewed_for_h()),
    "has to live for an hour": measured(lambda runs: unrenewed_for_h()),
    "live for longer than an hour": measured(lambda runs: unrenewed_for_h()),
    "before each hour is over": measured(lambda runs: unrenewed_for_h()),
}
