"""Bad input: every endpoint of replication, in every mode, with every kind of token, with bodies right and wrong.

What is expected follows from tables of the decisions, in the order in which a request is judged: the body's form, the
seal, the edition, the caller's token (C3), the fields' types (C13), the mode (D11), the operation token (D2), and last
what the endpoint itself asks for (D1).  A refusal changes nothing but for a spent use of a counted token (R4, C15).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from labkit import Lab, Vault
from labkit.service.message import Request, Response, Suspended, silence
from labkit.vault.replication import endpoints, maintenance
from labkit.vault.replication.endpoints import ATTEMPT, DR
from labkit.vault.replication.tree.journal import WAL_KEY
from labkit.vault.sealing import otp
from labkit.vault.token_record import digest_of
from labkit.vault.vault_node import VaultNode

NAN = float("nan")
EVERYTHING = 'path "*" { capabilities = ["create", "read", "update", "delete", "list", "sudo"] }'
METHODS = {"read": "GET", "write": "POST", "delete": "DELETE"}

DISABLED, PRIMARY, SECONDARY = "disabled", "primary", "secondary"
NAMED = {DISABLED: "disabled", PRIMARY: "this cluster is a DR primary", SECONDARY: "this cluster is a DR secondary"}

NO_CLIENT_TOKEN = (403, "permission denied")
NO_OPERATION_TOKEN = (403, "dr operation token is missing or invalid")
TOKENS = ("none", "wrong", "counted", "batch", "operation", "used", "foreign")
CLIENTS = ("counted", "batch")  # that a caller may have
OPERATORS = ("operation", "batch")  # that stand in for the ceremony of the key shares

Outcome = tuple[int, str]


class Row(NamedTuple):
    """An endpoint: in which modes, who may, and what comes of bodies where all else is right."""

    operation: str
    path: str
    modes: tuple[str, ...]
    who: str  # "anyone", "client": token in the header, "operator": operation token in the body
    bodies: tuple[tuple[Any, Outcome], ...]


ANY = (DISABLED, PRIMARY, SECONDARY)
DONE, GONE = (200, ""), (204, "")
NOT_ONE = "give them one at a time"
ROWS = (
    Row("read", "replication/status", ANY, "anyone", ((None, DONE),)),
    Row("read", DR + "status", ANY, "anyone", ((None, DONE),)),
    Row(
        "write",
        DR + "primary/enable",
        (DISABLED,),
        "client",
        (({}, DONE), (None, DONE), ({"primary_cluster_addr": None, "unknown": 1}, DONE)),
    ),
    Row("write", DR + "primary/demote", (PRIMARY,), "client", (({}, DONE), ({"force": True}, DONE))),
    Row("write", DR + "primary/disable", (PRIMARY,), "client", (({}, DONE),)),
    Row(
        "write",
        DR + "primary/secondary-token",
        (PRIMARY,),
        "client",
        (
            ({}, (400, "id must be specified")),
            ({"id": None}, (400, "id must be specified")),
            ({"id": ""}, (400, "id must be specified")),
            ({"id": "x" * 257}, (400, "id has at most 256 characters, not 257")),
            ({"id": "x" * 256}, DONE),
            ({"id": "x", "ttl": 0}, (400, "ttl must be positive")),
            ({"id": "x", "secondary_public_key": "no key"}, (400, "secondary_public_key is not what")),
            ({"id": "x", "ttl": None}, DONE),
            ({"id": "x/y z", "ttl": "90s"}, DONE),
        ),
    ),
    Row(
        "write",
        DR + "primary/revoke-secondary",
        (PRIMARY,),
        "client",
        (
            ({}, (400, "id must be specified")),
            ({"id": "x" * 257}, (400, "no secondary with an id of 257 characters is known")),
            ({"id": "nobody"}, (400, "no secondary with id nobody is known")),
            ({"id": "known"}, GONE),
        ),
    ),
    Row("write", DR + "secondary/generate-public-key", (DISABLED, SECONDARY), "client", (({}, DONE),)),
    Row(
        "write",
        DR + "secondary/enable",
        (DISABLED,),
        "client",
        (
            ({}, (400, "token must be specified")),
            ({"token": None}, (400, "token must be specified")),
            ({"token": "junk"}, (400, "token is not a secondary activation token")),
            ({"token": "junk", "ca_file": None, "ca_path": None}, (400, "token is not a secondary activation token")),
            ({"token": "junk", "ca_file": "/nowhere"}, (400, "ca_file: no file /nowhere among this cluster's files")),
            ({"token": "junk", "ca_path": "/nowhere"}, (400, "ca_path: no file with a certificate in PEM form below")),
            ({"token": "x" * 100_000}, (400, "token is not a secondary activation token")),
        ),
    ),
    Row(
        "write",
        DR + "secondary/promote",
        (SECONDARY,),
        "operator",
        (({}, DONE), ({"force": None}, DONE), ({"force": "true", "primary_cluster_addr": "https://x:8201"}, DONE)),
    ),
    Row("write", DR + "secondary/disable", (SECONDARY,), "operator", (({}, DONE),)),
    Row(
        "write",
        DR + "secondary/update-primary",
        (SECONDARY,),
        "operator",
        (
            ({}, (400, "give token (blank: forget the primary) or update_primary_addrs")),
            ({"token": None}, (400, "give token (blank: forget the primary) or update_primary_addrs")),
            ({"token": "junk", "update_primary_addrs": ["https://x:8201"]}, (400, "mutually exclusive")),
            ({"token": "junk"}, (400, "token is not a secondary activation token")),
            ({"token": "junk", "ca_file": "/nowhere"}, (400, "ca_file: no file /nowhere among this cluster's files")),
            ({"token": "junk", "ca_path": "/nowhere"}, (400, "ca_path: no file with a certificate in PEM form below")),
            ({"token": "", "ca_file": "/nowhere"}, DONE),
            ({"update_primary_addrs": ["https://x:8201"] * 65}, (400, "has at most 64 addresses, not 65")),
            ({"token": ""}, DONE),
        ),
    ),
    Row("read", ATTEMPT + "attempt", (SECONDARY,), "anyone", ((None, DONE),)),
    Row(
        "write",
        ATTEMPT + "attempt",
        (SECONDARY,),
        "anyone",
        (
            ({"otp": "short"}, (400, "OTP string is wrong length")),
            ({"otp": "\u00e9" * 28}, (400, "not ASCII")),
            ({"pgp_key": "no key"}, (400, "PGP key")),
            ({}, DONE),
            ({"otp": None, "pgp_key": None}, DONE),
        ),
    ),
    Row("delete", ATTEMPT + "attempt", (SECONDARY,), "anyone", ((None, GONE),)),
    Row(
        "write",
        ATTEMPT + "update",
        (SECONDARY,),
        "anyone",
        (
            ({}, (400, "'key' must be specified")),
            ({"key": None, "nonce": None}, (400, "'key' must be specified")),
            ({"key": "zz!", "nonce": "n"}, (400, "'key' must be a valid hex or base64 string")),
            ({"key": "00" * 33, "nonce": "n"}, (400, "no root generation in progress")),
        ),
    ),
    Row("write", DR + "secondary/operation-token/delete", ANY, "operator", (({}, GONE),)),
    Row("write", DR + "secondary/merkle-check", (SECONDARY,), "operator", (({}, DONE),)),
    Row("write", "replication/merkle-check", (PRIMARY,), "client", (({}, DONE),)),
    Row(
        "write",
        DR + "secondary/reindex",
        (SECONDARY,),
        "operator",
        (({}, DONE), ({"diff": None, "force": "true", "skip_flush": False}, DONE)),
    ),
    Row("write", "replication/reindex", (PRIMARY,), "client", (({}, DONE), ({"diff": True, "skip_flush": 1}, DONE))),
    Row("write", DR + "secondary/recover", (SECONDARY,), "operator", (({}, DONE),)),
    Row("write", "replication/recover", (PRIMARY,), "client", (({}, DONE),)),
)

ROUTES = (*endpoints.ROUTES, *maintenance.ROUTES)

# What is no request at all, whoever asks, sealed or not (C9, C13).
MALFORMED: tuple[tuple[Any, Outcome], ...] = (
    ([], (400, "the body is not an object")),
    ("text", (400, "the body is not an object")),
    ({"id": NAN}, (400, "")),
    ({"id": "\ud800"}, (400, "")),
    ({"id": [0] * 10_001}, (400, "")),
    ({"id": 10**4_001}, (400, "")),
)

WRONG_TYPES: dict[str, tuple[Any, ...]] = {
    "string": ([], ["x"], {}, {"a": 1}),
    "boolean": ([], {}, "maybe"),
    "duration": ([], {}, "soon", "5 parsec", -1, "-5s", 2**70),
    "list or comma-separated string": ({"a": 1},),
}
ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    -1,
    0,
    7,
    2.5,
    2**63,
    "",
    " ",
    "x",
    "\u0000",
    "x" * 50_000,
    [],
    ["x"],
    {},
    {"a": {"b": 1}},
)


class Seat:
    """A vault in some mode that is asked directly, and the tokens that its callers show."""

    def __init__(self, vault: VaultNode, mode: str, tokens: dict[str, str], refuses: Outcome | None = None) -> None:
        self.vault, self.mode, self.tokens, self.refuses = vault, mode, tokens, refuses

    def ask(self, row: Row, body: Any, token: str) -> Response:
        """Ask as whoever holds a kind of token; what is fetched meets silence."""
        text = self.tokens.get(token, "")
        headers = {"X-Vault-Token": text} if text and row.who == "client" else {}
        if text and row.who == "operator" and (body is None or type(body) is dict):
            body = {"dr_operation_token": text, **(body or {})}
        return self.send(METHODS[row.operation], f"/v1/sys/{row.path}", headers, body)

    def send(self, method: str, path: str, headers: dict[str, str], body: Any) -> Response:
        """Hand the vault a request."""
        outcome = self.vault.handle(Request(method, path, headers, body))
        while isinstance(outcome, Suspended):
            outcome = self.vault.resume(outcome, silence("nobody answers"))
        return outcome

    def seen(self) -> tuple[Any, ...]:
        """All that lies in the store but for the lease and what a use of the counted token rewrites; and the keys."""
        core, spent = self.vault.core, ("token/id/" + digest_of(self.tokens["counted"]), WAL_KEY, "node/index/")
        free = ("node/lease",) if self.mode == SECONDARY else ("node/lease", *spent)
        store: Any = core.storage
        kept = {key: value for key, value in store.state()["items"].items() if not key.startswith(free)}
        reached = core.replica.journal.last if self.mode == SECONDARY else 0
        root_key, progress, nonce, counted, reason = core.keys.state()  # a spent use is an encryption: not counted here
        return kept, (root_key, progress, nonce, counted and counted[0], reason), core.leadership, reached


class StandbySeat(Seat):
    """A standby, asked over the network: all of this it forwards to its active node, whose vault is looked at."""

    def __init__(self, lab: Lab, cluster: str, mode: str, tokens: dict[str, str]) -> None:
        super().__init__(lab.parts.nodes[lab[cluster].active].vault, mode, tokens)
        self.lab, self.cluster = lab, cluster

    def send(self, method: str, path: str, headers: dict[str, str], body: Any) -> Response:
        """Send the standby a request."""
        answer: Response = self.lab[self.cluster].request(method, path, body, headers, node=f"{self.cluster}-2")
        return answer


def expected(seat: Seat, row: Row, token: str, outcome: Outcome) -> Outcome:
    """What the decisions say of a well-formed body that alone would have this outcome."""
    if seat.refuses is not None:
        return seat.refuses
    if row.who == "client" and token not in CLIENTS:
        return NO_CLIENT_TOKEN
    if seat.mode not in row.modes:
        return 400, NAMED[seat.mode]
    if row.who == "operator" and token not in (OPERATORS if seat.mode == SECONDARY else ("batch",)):
        return NO_OPERATION_TOKEN
    return outcome


def judge(answer: Response, wanted: Outcome, where: str) -> None:
    """Compare an answer with what is expected; whatever it is, it is JSON and says something."""
    status, text = wanted
    assert answer.status == status, f"{where}: {answer.status} {answer.errors}, expected {wanted}"
    assert json.loads(json.dumps(answer.body)) == answer.body, where
    if status >= 400:
        assert text in " ".join(answer.errors), f"{where}: {answer.errors}"
        assert all(answer.errors), where
        assert set(answer.body or {}) == {"errors"}, where
    else:
        assert (answer.body is None) == (status == 204), where


# ---- the seats: how each is made


def issue(post: Callable[..., Response]) -> dict[str, str]:
    """Make tokens that may do anything: one that counts its uses, one whose last is gone, and a batch token."""
    post("sys/policies/acl/all", {"policy": EVERYTHING}).raise_for_status()
    made: dict[str, dict[str, Any]] = {
        "counted": {"num_uses": 1_000_000},
        "used": {"num_uses": 1},
        "batch": {"type": "batch", "ttl": "10h", "no_parent": True},
    }
    texts = {}
    for name, body in made.items():
        texts[name] = str(post("auth/token/create", {"policies": ["all"], **body}).auth["client_token"])
    post("sys/mounts/none", {"type": "nothing"}, token=texts["used"])
    return {**texts, "wrong": "hvs.wrong", "operation": "hvs.none", "foreign": Vault.dev().root_token}


def operation_token(vault: Vault, shares: tuple[str, ...]) -> str:
    """Go through the ceremony, asking a vault directly."""

    def ask(path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = vault.handle(Request("POST", f"/v1/sys/{ATTEMPT}{path}", {}, body))
        assert isinstance(answer, Response)
        return answer.raise_for_status().body or {}

    started = ask("attempt", {})
    for share in shares[: started["required"]]:
        body = ask("update", {"key": share, "nonce": started["nonce"]})
    return otp.decode(body["encoded_token"], started["otp"])


def alone(mode: str, **settings: Any) -> Seat:
    """A vault without a network, brought into a mode."""
    vault = Vault.dev(**settings)
    tokens = issue(vault.post)
    if mode != DISABLED:
        vault.post("sys/" + DR + "primary/enable").raise_for_status()
        vault.post("sys/" + DR + "primary/secondary-token", {"id": "known"}).raise_for_status()
    if mode == SECONDARY:
        vault.post("sys/" + DR + "primary/demote").raise_for_status()
        tokens["operation"] = operation_token(vault, vault.unseal_keys)
    community = settings.get("edition") == "community"
    return Seat(vault, mode, tokens, (400, "enterprise-only feature") if community else None)


@pytest.fixture(scope="module")
def in_a_lab() -> dict[str, Callable[[], Seat]]:
    """A pair that replicates and lima that does not: the active node of each as it stands, sealed ones too."""
    lab = Lab.triangle(seed=7)
    tokens = issue(lab["paris"].post)
    lab["paris"].post("secret/data/app", {"data": {"a": 1}})
    lima = issue(lab["lima"].post)
    lab.replicate("paris", "tokyo")
    lab["paris"].post("sys/" + DR + "primary/secondary-token", {"id": "known"}).raise_for_status()
    lab.run("2s")
    operation = {**tokens, "operation": lab["tokyo"].operation_token()}
    open_snapshot = lab.snapshot()
    for cluster in lab.clusters:
        lab[cluster].put("sys/seal") if cluster != "tokyo" else lab.crash("tokyo")
    sealed = (503, "Vault is sealed")

    def seat(snapshot: Any, node: str, mode: str, known: dict[str, str], refuses: Outcome | None = None) -> Any:
        return lambda: Seat(Lab.restore(snapshot).parts.nodes[node].vault, mode, known, refuses)

    def standby(cluster: str, mode: str, known: dict[str, str]) -> Any:
        return lambda: StandbySeat(Lab.restore(open_snapshot), cluster, mode, known)

    closed_snapshot = lab.snapshot()
    return {
        "standby of lima": standby("lima", DISABLED, lima),
        "standby of paris": standby("paris", PRIMARY, tokens),
        "standby of tokyo": standby("tokyo", SECONDARY, operation),
        "lima": seat(open_snapshot, "lima-1", DISABLED, lima),
        "paris": seat(open_snapshot, "paris-1", PRIMARY, tokens),
        "tokyo": seat(open_snapshot, "tokyo-1", SECONDARY, operation),
        "lima sealed": seat(closed_snapshot, "lima-1", DISABLED, lima, sealed),
        "paris sealed": seat(closed_snapshot, "paris-1", PRIMARY, tokens, sealed),
        "tokyo sealed": seat(closed_snapshot, "tokyo-1", SECONDARY, operation, sealed),
    }


ALONE: dict[str, Callable[[], Seat]] = {
    "alone, disabled": lambda: alone(DISABLED),
    "alone, primary": lambda: alone(PRIMARY),
    "alone, secondary": lambda: alone(SECONDARY),
    "alone, community": lambda: alone(DISABLED, edition="community"),
}
SEATS = ("lima", "paris", "tokyo", "lima sealed", "paris sealed", "tokyo sealed", *ALONE)
STANDBYS = ("standby of lima", "standby of paris", "standby of tokyo")


@pytest.fixture
def make_seat(request: pytest.FixtureRequest, in_a_lab: dict[str, Callable[[], Seat]]) -> Callable[[], Seat]:
    """How to make the seat that a test is for."""
    return ALONE.get(request.param) or in_a_lab[request.param]


def requests() -> Iterator[tuple[Row, Any, str, Outcome]]:
    """Every row with every one of its bodies and every kind of token."""
    for row in ROWS:
        for body, outcome in row.bodies:
            for token in TOKENS:
                yield row, body, token, outcome


@pytest.mark.parametrize("make_seat", [*SEATS, *STANDBYS], indirect=True)
@pytest.mark.slow
def test_each_call_is_answered_as_decided_and_a_refusal_changes_nothing(make_seat):
    seat = make_seat()
    before = seat.seen()
    for row, body, token, outcome in requests():
        where = f"{row.operation} {row.path} {body} as {token}"
        wanted = expected(seat, row, token, outcome)
        if wanted[0] < 400:
            fresh = make_seat()
            judge(fresh.ask(row, body, token), wanted, where)
            continue
        judge(seat.ask(row, body, token), wanted, where)
        assert seat.seen() == before, where


@pytest.mark.parametrize("make_seat", SEATS, indirect=True)
def test_a_body_that_is_none_is_refused_first_whoever_asks(make_seat):
    seat = make_seat()
    before = seat.seen()
    for row in ROWS:
        for body, wanted in MALFORMED:
            for token in ("none", "counted", "operation"):
                judge(seat.ask(row, body, token), wanted, f"{row.path} {str(body)[:40]} as {token}")
    assert seat.seen() == before


def with_wrong_types() -> Iterator[tuple[Row, str, Any]]:
    """Every row with one field of a type that it cannot be."""
    for route in ROUTES:
        for row in ROWS:
            if (row.operation, row.path) == (route.operation, route.pattern):
                for field in route.fields:
                    for value in WRONG_TYPES[field.kind]:
                        yield row, field.name, value


@pytest.mark.parametrize("make_seat", ["lima", "paris", "tokyo", "tokyo sealed", *ALONE], indirect=True)
def test_a_field_of_a_wrong_type_is_named(make_seat):
    """After the caller's token, before mode and operation token."""
    seat = make_seat()
    before = seat.seen()
    for row, name, value in with_wrong_types():
        for token in ("none", "batch"):
            wanted = seat.refuses or (400, name)
            if seat.refuses is None and row.who == "client" and token == "none":
                wanted = NO_CLIENT_TOKEN
            judge(seat.ask(row, {name: value}, token), wanted, f"{row.path} {name}: {value!r} as {token}")
    assert seat.seen() == before


@pytest.mark.parametrize("make_seat", ["lima", "paris", "tokyo", "alone, secondary"], indirect=True)
@pytest.mark.slow
def test_odd_values_are_answered_and_a_refusal_changes_nothing(make_seat):
    """Every field of every endpoint there is, with everything that JSON can hold."""
    seat = make_seat()
    before = seat.seen()
    for route in ROUTES:
        who = "client" if "unauthenticated" not in route.flags else "operator"
        row = Row(route.operation, route.pattern, (), who, ())
        for field in route.fields:
            for value in ODD:
                others = {"id": "odd"} if field.name != "id" and "id" in route.by_name else {}
                answer = seat.ask(row, {**others, field.name: value}, "batch")
                where = f"{row.path} {field.name}: {str(value)[:40]}"
                assert answer.status in (200, 204, 400, 403, 503), f"{where}: {answer.status} {answer.errors}"
                assert json.loads(json.dumps(answer.body)) == answer.body, where
                if not answer.ok:
                    assert all(answer.errors), where
                    assert answer.errors, where
                    assert seat.seen() == before, where
                elif seat.seen() != before:
                    seat = make_seat()
                    before = seat.seen()


@pytest.mark.parametrize("make_seat", ["lima", "paris", "tokyo", "alone, primary"], indirect=True)
def test_other_methods_are_unsupported(make_seat):
    seat = make_seat()
    before = seat.seen()
    wanted = (400, "path disabled") if seat.mode == SECONDARY else (405, "unsupported operation")
    for path in sorted({row.path for row in ROWS}):
        known = {row.operation for row in ROWS if row.path == path}
        for operation in sorted(set(METHODS) - known):
            judge(seat.ask(Row(operation, path, (), "client", ()), None, "batch"), wanted, path)
    assert seat.seen() == before


CLIENT_CALLS = (
    ("GET", "secret/data/app"),
    ("POST", "secret/data/app"),
    ("LIST", "secret/metadata"),
    ("POST", "transit/encrypt/orders"),
    ("GET", "auth/token/lookup-self"),
    ("POST", "auth/token/create"),
    ("POST", "sys/wrapping/unwrap"),
    ("POST", "sys/capabilities-self"),
    ("GET", "sys/mounts"),
    ("PUT", "sys/seal"),
    ("PUT", "sys/step-down"),
    ("PUT", "sys/rotate"),
    ("GET", "sys/internal/ui/mounts"),
    ("GET", "nowhere/at/all"),
)
NODE_CALLS = (("sys/health", 472), ("sys/seal-status", 200), ("sys/leader", 200), ("sys/init", 200))


@pytest.mark.parametrize("make_seat", ["tokyo", "alone, secondary", "standby of tokyo", "tokyo sealed"], indirect=True)
def test_a_secondary_answers_no_client_whatever_its_token_and_takes_no_use(make_seat):
    """Decision D6: right after the seal, before the token is looked at; what tells how a node is ignores any token."""
    seat = make_seat()
    before = seat.seen()
    wanted = seat.refuses or (400, "path disabled in replication DR secondary mode")
    for token in TOKENS:
        headers = {"X-Vault-Token": seat.tokens[token]} if token in seat.tokens else {}
        for method, path in CLIENT_CALLS:
            body: Any = {} if method in ("POST", "PUT") else None
            judge(seat.send(method, f"/v1/{path}", headers, body), wanted, f"{method} {path} as {token}")
        for path, status in () if seat.refuses else NODE_CALLS:
            assert seat.send("GET", f"/v1/{path}", headers, None).status == status, f"{path} as {token}"
    assert seat.seen() == before


def test_every_endpoint_is_in_the_table():
    assert {(row.operation, row.path) for row in ROWS} <= {(route.operation, route.pattern) for route in ROUTES}
    fields = {field.kind for route in ROUTES for field in route.fields}
    assert fields <= WRONG_TYPES.keys()
