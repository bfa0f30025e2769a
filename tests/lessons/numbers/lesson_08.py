"""The numbers of lesson 08, and by what each is known."""

from __future__ import annotations

from labkit import Vault
from labkit.lessons.damaged_tree.orders import PAIR
from labkit.lessons.safe_order.back import fence_by_the_network
from labkit.lessons.safe_order.logins import BOUND, OUTAGE_MINUTES, renew_there, wait_with_the_move
from labkit.lessons.safe_order.lossless import LUCKS, MAX_PAUSE_S, MAX_SLOW_PAUSE_S, SLOWER, by_lag
from labkit.lessons.safe_order.questions import WAIT_MS
from labkit.lessons.safe_order.writers import GAP_MS, pair_with_writer
from tests.lessons.numbers.claims import answered, done, given, known, measured, seconds
from tests.lessons.numbers.runs import Runs, begun, clusters, crossing_ms, pair


def roots_in_the_end() -> int:
    """How many roots both clusters have when the region that was lost is back."""
    lab = begun("08", "back")
    fence_by_the_network(lab)
    lab.run("10s")
    return len({lab[name].root for name in PAIR})


def moves(runs: Runs, name: str) -> int:
    """How many changes of mode a planned move has: a step down and a promotion."""
    lab = runs["08"][name]
    before = len(runs["08"]["busy"].trace.select("mode"))
    return len({(event.cluster, event.mode) for event in lab.trace.select("mode")[before:]})


def taken_alone() -> list[int]:
    """Which orders tokyo took while paris was dark."""
    lab = begun("08", "back")
    (crash,) = {event.at_ns for event in lab.trace.select("fault", verb="crash")}
    return [int(write.path.rpartition("/")[2]) for write in lab.ledger.writes if write.at_ns > crash]


def moves_back() -> int:
    """How often a cluster is given another one to follow until paris is the primary again."""
    lab = begun("08", "back")
    before = len(lab.trace.select("mode", mode="secondary"))
    fence_by_the_network(lab)
    return len({event.cluster for event in lab.trace.select("mode", mode="secondary")[before:]})


def rare_lag() -> float:
    """The smallest lag of all, if less than a tenth of all instants have it while the client writes."""
    lab, seen = pair_with_writer(seed=5), list[float]()
    for _ in range(200):
        lab.run("5ms")
        seen.append(int(lab.lag("paris", "tokyo").entries))
    return 0 if seen.count(0) < len(seen) / 10 else max(seen)


def lives(setting: str, unit_s: int) -> float:
    """How long the role's tokens live, at a time and in all."""
    return seconds(str(BOUND[setting])) / unit_s


def status_of_the_root_token() -> int:
    """What the renewal of the root token by its accessor is answered."""
    lab = begun("08", "logins")
    statuses = set()
    for accessor in lab["paris"].list("auth/token/accessors").data["keys"]:
        body = {"accessor": accessor, "increment": "30m"}
        statuses.add(lab["paris"].post("auth/token/renew-accessor", body).status)
    (found,) = statuses - {200}
    return int(found)


def renewed_for() -> list[float]:
    """For how many hours a token of two minutes lives that may live an hour, and is renewed each so many minutes."""
    vault = Vault.dev(seed=1)
    made = vault.post("auth/token/create", {"ttl": "2m", "explicit_max_ttl": "1h", "policies": ["default"]})
    token, minutes = made.auth["client_token"], 0
    while vault.get("auth/token/lookup-self", token=token).ok:
        vault.post("auth/token/renew-self", {}, token=token)
        vault.advance("1m")
        minutes += 1
    return [minutes / 60, 1]


CLAIMS = {
    "with one history in the end": measured(lambda runs: roots_in_the_end()),
    "the same two steps": measured(lambda runs: moves(runs, "patient")),
    "Now a fifth of a second": given('patient.run("200ms")', times=1 / 1000),
    "are one number for all": measured(lambda runs: len({pair()["paris"].root, pair()["tokyo"].root})),
    "each 30 ms": given('ask.run("30ms")'),
    "writes each 50 ms": known(lambda: GAP_MS),
    "tried in five labs": known(lambda: LUCKS),
    "line is ten times as slow": known(lambda: SLOWER),
    "or for three where": known(lambda: MAX_SLOW_PAUSE_S),
    "took the orders 4 and 5": measured(lambda runs: taken_alone()),
    "never two primaries": measured(lambda runs: clusters()),
    "of two minutes, which may be renewed for two hours": known(
        lambda: [lives("token_ttl", 60), lives("token_max_ttl", 3_600)]
    ),
    "ten minutes after the start": known(lambda: OUTAGE_MINUTES),
    "one message in ten": given("percent=10"),
    "a token of two minutes": known(lambda: lives("token_ttl", 60)),
    "two minutes / an hour": known(lambda: [lives("token_ttl", 60), 1]),
    "Two moves: first": measured(lambda runs: moves_back()),
    "You operate two clusters": measured(lambda runs: clusters()),
    '`"increment": "30m"`': done(renew_there, '"30m"'),
    "token answers 400": measured(lambda runs: status_of_the_root_token()),
    "the lag is hardly ever 0": measured(lambda runs: rare_lag()),
    'lab.run("20ms")`': done(by_lag, 'lab.run("20ms")'),
    "between the two": measured(lambda runs: moves(runs, "patient")),
    "the lag is 0": measured(lambda runs: pair().lag("paris", "tokyo").entries),
    "their 80 ms": measured(lambda runs: crossing_ms(runs["08"]["quick"])),
    "200 ms are more than one": known(lambda: WAIT_MS),
    "an order each 10 ms, tokyo is 80 ms away": measured(lambda runs: [10, crossing_ms(runs["08"]["quick"])]),
    "Sixteen is there and back": answered(),
    "Twenty orders would be lost": answered(),
    "in the 80 ms after it": measured(lambda runs: crossing_ms(runs["08"]["patient"])),
    "may wait for a second at most": known(lambda: MAX_PAUSE_S),
    "at most an hour, each minute": measured(lambda runs: renewed_for()),
    "renew each minute": done(wait_with_the_move, 'lab.run("1m")'),
}
