"""The index of tokens: derived from their labels, kept up by commits, and always as if it were made again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from labkit import Vault
from labkit.service.message import Request
from labkit.vault import tokens
from labkit.vault.context import Context
from labkit.vault.storage.barrier import label_of
from labkit.vault.storage.unfenced import UnfencedStorage
from labkit.vault.token_index import TokenIndex, index_of
from labkit.vault.token_record import IDS, OLD_ACCESSORS, OLD_CHILDREN, Token, decode_token, digest_of, encode_token
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
    assert repr(filled.core.caches.tokens) == "TokenIndex(4 tokens)"
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
    assert caches.tokens is None
    for drop in drops:
        assert len(listed(filled)) == 3
        assert caches.tokens is not None
        drop()
        assert caches.tokens is None
    listed(filled)
    filled.put("sys/seal").raise_for_status()
    assert caches.tokens is None


def test_a_step_sees_what_it_wrote_itself(filled: Vault) -> None:
    before = listed(filled)
    ctx = step(filled)
    text, token = tokens.issue(ctx, PLAIN)
    assert tokens.accessors(ctx) == sorted([*before, token.accessor])
    assert tokens.accessors(step(filled)) == before
    filled.core.commit(ctx.writes)

    ctx = step(filled)
    child, _ = tokens.issue(ctx, PLAIN._replace(parent=digest_of(text)))
    assert index_of(ctx).children_of(digest_of(text)) == [digest_of(child)]
    assert index_of(step(filled)).children_of(digest_of(text)) == []
    filled.core.commit(ctx.writes)

    ctx = step(filled)
    tokens.revoke(ctx, digest_of(text))
    for seen, present in ((ctx, False), (step(filled), True)):
        assert (token.accessor in tokens.accessors(seen)) is present
        assert (index_of(seen).by_accessor(token.accessor) is not None) is present
        assert (index_of(seen).children_of(digest_of(text)) == [digest_of(child)]) is present


def test_of_two_with_one_accessor_the_other_stays_when_one_goes() -> None:
    """As where a label was altered: nothing else is lost by it, and nothing fails."""
    labels = {IDS + name: b"same/parent" for name in ("one", "other")}
    stored: dict[str, bytes | None] = dict.fromkeys(labels, b"")
    index = TokenIndex(["one", "other"])
    index.settle(stored.get, lambda key, value: labels[key])
    for name in ("one", "other"):
        kept = index.by_accessor("same")
        stored[IDS + name] = None
        index.note([IDS + name])
        index.settle(stored.get, lambda key, value: labels[key])
        assert index.by_accessor("same") == (kept if kept != name else None)
    assert index.children_of("parent") == []


def test_a_secondary_keeps_none(filled: Vault) -> None:
    """It is written to by what its primary sends, which is no commit of its own."""
    filled.post("sys/replication/dr/primary/enable").raise_for_status()
    filled.post("sys/replication/dr/primary/demote").raise_for_status()
    before = tokens.accessors(step(filled))
    ctx = step(filled)
    _, made = tokens.issue(ctx, PLAIN)
    filled.core.storage.apply(ctx.writes, filled.core.leadership.term)
    assert tokens.accessors(step(filled)) == sorted([*before, made.accessor])


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
    assert IDS not in folders


def test_a_taped_step_reads_what_is_stored(filled: Vault) -> None:
    listed(filled)
    filled.core.caches.tokens = TokenIndex([])
    taped = Context(filled.core, Request("GET", "x"), filled.core.now(), Tape(filled.core))
    assert len(tokens.accessors(taped)) == 3


def test_a_damaged_record_keeps_no_accessor_from_the_list(filled: Vault) -> None:
    made = created(filled)
    spoil(filled, IDS + digest_of(made["client_token"]))
    for drop in (lambda: None, filled.core.caches.clear):
        drop()
        assert made["accessor"] in listed(filled)
        asked = filled.post("auth/token/lookup-accessor", {"accessor": made["accessor"]})
        assert (asked.status, "does not open" in asked.errors[0]) == (500, True)


@pytest.mark.parametrize("drops", [False, True])
def test_a_damaged_record_keeps_none_of_its_family_alive(filled: Vault, drops: bool) -> None:
    """Whose child it is, and which are its own, stands in labels."""
    family: list[str] = []
    for _ in range(4):
        made = filled.post("auth/token/create", {"policies": ["root"]}, token=family[-1] if family else None)
        assert made.auth is not None
        family.append(made.auth["client_token"])
    listed(filled)
    spoil(filled, IDS + digest_of(family[1]))
    if drops:
        filled.core.caches.clear()
    filled.post("auth/token/revoke", {"token": family[0]}).raise_for_status()
    assert len(listed(filled)) == 3
    assert [filled.core.storage.get(IDS + digest_of(text)) for text in family] == [None] * 4


def test_a_label_that_was_altered_opens_nothing(filled: Vault) -> None:
    """It is bound to the record: who can write to the store moves no token to another parent or accessor."""
    one, other = created(filled), created(filled)
    key = IDS + digest_of(one["client_token"])
    stored = filled.core.storage.get(key)
    assert stored is not None
    altered = stored.replace(one["accessor"].encode(), other["accessor"].encode())
    assert altered != stored
    filled.core.storage.apply({key: altered}, 0)
    assert filled.get("auth/token/lookup-self", token=one["client_token"]).status == 500
    filled.core.caches.clear()
    listed(filled)
    assert filled.post("auth/token/revoke", {"token": other["client_token"]}).ok
    filled.core.storage.apply({key: stored[:6] + b"\xff" * len(label_of(stored) or b"") + stored[-40:]}, 0)
    filled.core.caches.clear()
    assert len(listed(filled)) == 4  # the root token, two more, and one that no request can name
    assert filled.get("auth/token/lookup-self", token=one["client_token"]).status == 500


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
    ctx = step(filled)
    digest = index_of(ctx).by_accessor(before[0])
    text, made = tokens.issue(ctx, PLAIN)
    filled.core.storage.apply({**ctx.writes, f"{IDS}{digest}": None}, 9)
    ctx = step(filled)
    assert tokens.accessors(ctx) == sorted([made.accessor, *before[1:]])
    assert tokens.find_accessor(ctx, made.accessor) == (made, digest_of(text))
    assert tokens.find_accessor(ctx, before[0]) is None


# ---- stores of an earlier version, which have entries beside the tokens' records


def as_earlier(vault: Vault) -> list[str]:
    """Store all tokens as an earlier version did; return the keys of what it kept beside them, sorted."""
    ctx = step(vault)
    storage, entries = ctx.full_storage, {}
    for digest in storage.list(IDS):
        token = decode_token(storage.get(IDS + digest) or b"")
        storage.put(IDS + digest, encode_token(token))
        entries[OLD_ACCESSORS + token.accessor] = digest.encode()
        if token.parent:
            entries[f"{OLD_CHILDREN}{token.parent}/{digest}"] = b""
    for key, value in entries.items():
        storage.put(key, value)
    vault.core.commit(ctx.writes)
    vault.core.caches.clear()
    return sorted(entries)


def entries_of(vault: Vault) -> list[str]:
    """The keys of what an earlier version kept beside tokens."""
    keys = vault.core.storage.keys()
    return [key for key in keys if key.startswith((OLD_ACCESSORS, OLD_CHILDREN))]


class Older(NamedTuple):
    """A vault of an earlier version: a family of tokens, each the child of the one before, and all accessors."""

    vault: Vault
    family: list[dict[str, Any]]
    lists: list[list[str]]

    def text(self, number: int) -> str:
        """A token of the family."""
        found: str = self.family[number]["client_token"]
        return found

    def token(self, digest: str) -> Token:
        """A stored token."""
        return decode_token(step(self.vault).full_storage.get(IDS + digest) or b"")


@pytest.fixture
def older(filled: Vault) -> Older:
    """A vault with four tokens of a family, stored as by an earlier version."""
    family: list[dict[str, Any]] = []
    for _ in range(4):
        token = family[-1]["client_token"] if family else None
        auth = filled.post("auth/token/create", {"policies": ["root"]}, token=token).auth
        assert auth is not None
        family.append(auth)
    lists = [listed(filled, place) for place in ("", "team")]
    assert entries_of(filled) == []
    assert as_earlier(filled) == entries_of(filled) != []
    return Older(filled, family, lists)


def test_tokens_of_an_earlier_version_are_found_in_every_way(older: Older) -> None:
    assert [listed(older.vault, place) for place in ("", "team")] == older.lists
    for made in older.family:
        found = older.vault.post("auth/token/lookup-accessor", {"accessor": made["accessor"]})
        assert found.data["accessor"] == made["accessor"]
        assert older.vault.get("auth/token/lookup-self", token=made["client_token"]).ok


def test_what_an_earlier_version_kept_beside_a_token_is_deleted_with_it(older: Older) -> None:
    before = entries_of(older.vault)
    older.vault.post("auth/token/revoke-accessor", {"accessor": older.family[1]["accessor"]}).raise_for_status()
    gone = [digest_of(made["client_token"]) for made in older.family[1:]]
    assert [older.vault.core.storage.get(IDS + digest) for digest in gone] == [None] * 3
    left = [key for key in before if not key.endswith((*gone, *[made["accessor"] for made in older.family[1:]]))]
    assert entries_of(older.vault) == left
    assert len(before) - len(left) == 6


def test_an_orphan_of_an_earlier_version_leaves_no_entry_of_its_parent(older: Older) -> None:
    parent, child = (digest_of(made["client_token"]) for made in older.family[:2])
    older.vault.post("auth/token/revoke-orphan", {"token": older.text(0)}).raise_for_status()
    assert not [key for key in entries_of(older.vault) if parent in key]
    assert older.token(child).orphan
    assert older.vault.get("auth/token/lookup-self", token=older.text(3)).ok


def test_tidying_deletes_what_an_earlier_version_kept(older: Older) -> None:
    assert older.vault.post("auth/token/tidy").status == 202
    assert entries_of(older.vault) == []
    assert [listed(older.vault, place) for place in ("", "team")] == older.lists


def test_a_changed_record_of_an_earlier_version_has_a_label(older: Older) -> None:
    """So it is found where it does not open any more; one that never changed is not."""
    for number in (1, 2):
        digest = digest_of(older.text(number))
        if number == 1:
            ctx = step(older.vault)
            tokens.save(ctx, digest, older.token(digest))
            older.vault.core.commit(ctx.writes)
        spoil(older.vault, IDS + digest)
    older.vault.core.caches.clear()
    assert listed(older.vault) == [name for name in older.lists[0] if name != older.family[2]["accessor"]]


class Tokens(RuleBasedStateMachine):
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
        kept = index_of(step(self.vault))
        assert kept is self.vault.core.caches.tokens
        self.vault.core.caches.tokens = None
        derived = index_of(step(self.vault))
        self.vault.core.caches.tokens = kept
        for part in ("_by_namespace", "_children", "_labels"):
            assert getattr(kept, part) == getattr(derived, part)
        storage = step(self.vault).full_storage
        stored = [decode_token(storage.get(IDS + name) or b"") for name in derived._labels]
        assert [token.label for token in stored] == [*derived._labels.values()]


def test_the_index_is_always_what_it_would_be_if_it_were_made_again() -> None:
    run_machine(Tokens, settings=settings(max_examples=examples(60), stateful_step_count=20))
