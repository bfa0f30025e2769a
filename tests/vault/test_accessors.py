"""The index of accessors: derived from the stored keys, kept up by commits, and always as if it were made again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from labkit import Vault
from labkit.service.message import Request
from labkit.vault import accessors, tokens
from labkit.vault.accessors import AccessorIndex
from labkit.vault.context import Context
from labkit.vault.storage.unfenced import UnfencedStorage
from labkit.vault.token_record import ACCESSORS, IDS, Token, digest_of
from labkit.vault.walk.suspension import Tape
from tests.counting import calls_made
from tests.examples import examples
from tests.vault.test_damage import spoil

LIST = "auth/token/accessors"
PLAIN = Token("", ("default",), "auth/token/create", "token")


def step(vault: Vault) -> Context:
    return Context(vault.core, Request("GET", "x"), vault.core.now())


def created(vault: Vault, namespace: str = "", **body: Any) -> dict[str, Any]:
    auth = vault.post("auth/token/create", {"ttl": "1h", **body}, namespace=namespace).auth
    assert auth is not None
    return auth


def listed(vault: Vault, namespace: str = "", **more: Any) -> list[str]:
    found: list[str] = vault.list(LIST, namespace=namespace, **more).data["keys"]
    return found


@pytest.fixture
def filled(service: Vault) -> Vault:
    """A vault with three tokens in the root namespace, one in team, and none in other."""
    for name in ("team", "other"):
        service.post(f"sys/namespaces/{name}").raise_for_status()
    created(service)
    created(service)
    created(service, "team")
    return service


def test_each_namespace_has_its_own(filled: Vault) -> None:
    assert [len(listed(filled, place)) for place in ("", "team", "other")] == [3, 1, 0]
    assert repr(filled.core.caches.accessors) == "AccessorIndex(4 accessors)"
    for place in ("", "team", "team", "other"):
        before = listed(filled, place)
        made = created(filled, place)
        assert listed(filled, place) == sorted([*before, made["accessor"]])
        filled.post("auth/token/revoke", {"token": made["client_token"]}, namespace=place).raise_for_status()
        assert listed(filled, place) == before


def test_a_list_costs_what_it_returns(service: Vault) -> None:
    """However many tokens other namespaces have: no folder of the store is read, and no key more is looked at."""
    service.post("sys/namespaces/team").raise_for_status()
    mine = [created(service, "team")["accessor"] for _ in range(3)]

    def ask() -> None:
        assert listed(service, "team") == sorted(mine)

    costs = []
    for count in (10, 1_000):
        ctx = step(service)
        for _ in range(count):
            tokens.issue(ctx, PLAIN)
        service.core.commit(ctx.writes)
        ask()
        costs.append(calls_made(ask))
    assert costs[0] == costs[1]


def test_a_namespace_is_deleted_for_what_its_own_tokens_cost(service: Vault) -> None:
    costs = []
    for count in (10, 1_000):
        ctx = step(service)
        for _ in range(count):
            tokens.issue(ctx, PLAIN)
        service.core.commit(ctx.writes)
        service.post("sys/namespaces/team").raise_for_status()
        made = created(service, "team")
        listed(service)
        costs.append(calls_made(lambda: service.delete("sys/namespaces/team").raise_for_status()))
        assert service.core.storage.get(IDS + digest_of(made["client_token"])) is None
    assert costs[1] < costs[0] + 200, costs


def test_it_is_made_at_the_first_question_and_dropped_with_leadership_and_seal(filled: Vault) -> None:
    caches = filled.core.caches
    drops = (lambda: filled.set_leadership(filled.core.leadership), caches.clear)
    assert caches.accessors is None
    for drop in drops:
        assert len(listed(filled)) == 3
        assert caches.accessors is not None
        drop()
        assert caches.accessors is None
    listed(filled)
    filled.put("sys/seal").raise_for_status()
    assert caches.accessors is None


def test_a_step_sees_what_it_wrote_itself(filled: Vault) -> None:
    before = listed(filled)
    ctx = step(filled)
    text, token = tokens.issue(ctx, PLAIN)
    assert tokens.accessors(ctx) == sorted([*before, token.accessor])
    assert tokens.accessors(step(filled)) == before
    filled.core.commit(ctx.writes)

    ctx = step(filled)
    tokens.revoke(ctx, digest_of(text))
    assert tokens.accessors(ctx) == before
    assert token.accessor in tokens.accessors(step(filled))


def test_a_caller_whose_uses_are_counted_reads_no_more(filled: Vault) -> None:
    text = created(filled, num_uses=9, policies=["root"])["client_token"]
    listed(filled)
    read = filled.core.names
    folders: list[str] = []

    def noted(prefix: str) -> list[str]:
        folders.append(prefix)
        return read(prefix)

    filled.core.names = noted
    assert len(listed(filled, token=text)) == 4
    assert ACCESSORS not in folders


def test_a_taped_step_reads_what_is_stored(filled: Vault) -> None:
    listed(filled)
    filled.core.caches.accessors = AccessorIndex(["wrong"])
    taped = Context(filled.core, Request("GET", "x"), filled.core.now(), Tape(filled.core))
    assert len(accessors.of_namespace(taped, "")) == 3


def test_a_damaged_record_keeps_no_accessor_from_the_list(filled: Vault) -> None:
    made = created(filled)
    for key in (ACCESSORS + made["accessor"], IDS + digest_of(made["client_token"])):
        spoil(filled, key)
        for drop in (lambda: None, filled.core.caches.clear):
            drop()
            assert made["accessor"] in listed(filled)


def overtaken(vault: Vault) -> None:
    vault.core.storage.claim(9)


def unfenced(vault: Vault) -> None:
    storage: Any = vault.core.storage
    vault.core.storage = UnfencedStorage.from_state(storage.state())
    vault.core.read, vault.core.names = vault.core.storage.get, vault.core.storage.list


@pytest.mark.parametrize("happens", [overtaken, unfenced])
def test_where_others_write_too_it_is_looked_at_each_time(filled: Vault, happens: Callable[[Vault], None]) -> None:
    """A leader that was paused knows nothing of what the next one wrote, but it reads the store that both have."""
    before = listed(filled)
    happens(filled)
    filled.core.storage.apply({ACCESSORS + "0" * 24: b"", ACCESSORS + before[0]: None}, 9)
    assert listed(filled) == sorted(["0" * 24, *before[1:]])


class Accessors(RuleBasedStateMachine):
    """Tokens come and end in namespaces that come and go; the index is what a new one would be."""

    @initialize()
    def start(self) -> None:
        self.now_ns = 1_893_456_000 * 10**9
        self.vault = Vault.dev(clock=lambda: self.now_ns)
        self.made: list[dict[str, Any]] = []
        listed(self.vault)

    @rule(place=st.sampled_from(["", "team", "team/sub"]), ttl=st.sampled_from(["0s", "5s", "1h"]), own=st.booleans())
    def create(self, place: str, ttl: str, own: bool) -> None:
        token = self.made[-1]["client_token"] if own and self.made else None
        body = {"ttl": ttl, "num_uses": 3 if ttl == "5s" else 0, "policies": ["root"]}
        answer = self.vault.post("auth/token/create", body, token=token, namespace=place)
        if answer.ok:
            assert answer.auth is not None
            self.made.append(answer.auth)

    @rule(name=st.sampled_from(["team", "sub"]), there=st.booleans())
    def namespace(self, name: str, there: bool) -> None:
        parent = "team" if name == "sub" else ""
        (self.vault.post if there else self.vault.delete)(f"sys/namespaces/{name}", namespace=parent)

    @precondition(lambda self: self.made)
    @rule(number=st.integers(0, 9), what=st.sampled_from(["revoke-self", "revoke-accessor", "lookup-self", "tidy"]))
    def use(self, number: int, what: str) -> None:
        made = self.made[number % len(self.made)]
        if what == "revoke-accessor":
            self.vault.post("auth/token/revoke-accessor", {"accessor": made["accessor"]})
        else:
            self.vault.post(f"auth/token/{what}", token=made["client_token"] if what != "tidy" else None)

    @rule(seconds=st.sampled_from([1, 6, 4_000]))
    def wait(self, seconds: int) -> None:
        self.now_ns += seconds * 10**9
        self.vault.tick()

    @invariant()
    def the_index_is_as_if_derived_now(self) -> None:
        if not hasattr(self, "vault"):
            return
        kept, derived = self.vault.core.caches.accessors, AccessorIndex(self.vault.core.storage.list(ACCESSORS))
        places = {"", *[name.partition(".")[2] for name in self.vault.core.storage.list(ACCESSORS)]}
        assert len(kept) == len(derived)
        assert len(kept._by_namespace) == len(places)
        for place in places:
            assert kept.of(place) == derived.of(place)


def test_the_index_is_always_what_it_would_be_if_it_were_made_again() -> None:
    run_machine(Accessors, settings=settings(max_examples=examples(60), stateful_step_count=20))
