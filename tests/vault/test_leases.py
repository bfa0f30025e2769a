"""The index of leases: derived from the tokens, kept up by commits, and the same after a restore or a takeover."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from labkit import Vault
from labkit.service.message import Request
from labkit.vault import leases
from labkit.vault.context import Context
from labkit.vault.leases import LeaseIndex
from labkit.vault.token_record import IDS, digest_of
from tests.examples import examples
from tests.vault.test_damage import spoil


def step(vault: Vault) -> Context:
    return Context(vault.core, Request("GET", "x"), vault.core.now())


def created(service, **body) -> str:
    return service.post("auth/token/create", {"ttl": "1h", **body}).auth["client_token"]


def test_a_lease_is_found_by_its_id_and_nothing_else_is(service) -> None:
    text = created(service)
    ctx, digest = step(service), digest_of(text)
    found = leases.find(ctx, f"auth/token/create/h{digest}")
    assert found is not None
    assert found[1] == digest
    for wrong in (
        *(
            digest,
            f"h{digest}",
            f"auth/token/h{digest}",
            f"auth/token/create/h{digest}.x",
            f"auth/token/create/{digest}",
        ),
        *(f"auth/token/create/h{digest}/", f"auth/token/create/x{digest}", "auth/token/create/h" + "0" * 64, ""),
        "/".join(("auth/token", "root", f"h{digest_of(service.root_token)}")),
    ):
        assert leases.find(ctx, wrong) is None


def test_a_lease_is_over_at_the_very_nanosecond(service, clock) -> None:
    lease_id = f"auth/token/create/h{digest_of(created(service))}"
    ctx = step(service)
    ctx.now = clock.now_ns + 3_600 * 10**9 - 1
    assert leases.find(ctx, lease_id) is not None
    ctx.now += 1
    assert leases.find(ctx, lease_id) is None


def test_names_are_listed_by_folder_and_counted_by_path(service) -> None:
    service.post("auth/token/roles/r", {"path_suffix": "east"})
    one = digest_of(created(service))
    other = digest_of(service.post("auth/token/create/r", {"ttl": "1h"}).auth["client_token"])
    ctx = step(service)
    assert leases.names_below(ctx, "") == ["auth/"]
    assert leases.names_below(ctx, "auth/token/") == ["create/"]
    assert leases.names_below(ctx, "auth/token/create/") == sorted([f"h{one}", "r/"])
    assert leases.names_below(ctx, "auth/token/create/r/east/") == [f"h{other}"]
    assert leases.names_below(ctx, "auth/tok/") == leases.names_below(ctx, "none/") == []
    assert leases.counts(ctx) == {"auth/token/create": 1, "auth/token/create/r/east": 1}
    assert leases.digests_below(ctx, "auth/token/create") == sorted([one, other])
    assert leases.digests_below(ctx, "/auth/token/create/r/") == [other]
    assert leases.digests_below(ctx, "auth/tok") == []


def test_the_index_is_derived_at_the_first_question_and_dropped_with_the_leadership(service) -> None:
    created(service)
    assert service.core.caches.leases is None
    assert repr(leases.index_of(step(service))) == "LeaseIndex(1 leases)"
    service.set_leadership(service.core.leadership)
    assert service.core.caches.leases is None
    leases.index_of(step(service))
    service.put("sys/seal")
    assert service.core.caches.leases is None


def test_a_node_that_was_overtaken_looks_each_time(service) -> None:
    """Another node writes to the store then, and what this one committed says nothing of that."""
    digest = digest_of(created(service))
    leases.index_of(step(service))
    service.core.storage.claim(9)
    service.core.storage.apply({IDS + digest: None}, 9)
    assert leases.counts(step(service)) == {}


def test_a_record_that_does_not_open_is_no_lease(service) -> None:
    digest = digest_of(created(service))
    spoil(service, IDS + digest)
    assert leases.counts(step(service)) == {}


class Tokens(RuleBasedStateMachine):
    """Tokens are made, renewed, used up, revoked and end; the index is what a new one would be."""

    @initialize()
    def start(self) -> None:
        self.now_ns = 1_893_456_000 * 10**9
        self.vault = Vault.dev(clock=lambda: self.now_ns)
        self.texts: list[str] = []
        leases.index_of(step(self.vault))

    @rule(ttl=st.sampled_from(["0s", "5s", "1h"]), path=st.sampled_from(["create", "create-orphan"]), own=st.booleans())
    def create(self, ttl: str, path: str, own: bool) -> None:
        token = self.texts[-1] if own and self.texts else None
        made = self.vault.post(f"auth/token/{path}", {"ttl": ttl, "num_uses": 3 if ttl == "5s" else 0}, token=token)
        if made.ok:
            self.texts.append(made.auth["client_token"])

    @precondition(lambda self: self.texts)
    @rule(place=st.integers(0, 9), what=st.sampled_from(["revoke-self", "renew-self", "lookup-self"]))
    def use(self, place: int, what: str) -> None:
        self.vault.post(f"auth/token/{what}", token=self.texts[place % len(self.texts)])

    @rule(path=st.sampled_from(["auth/token/create", "auth/token/create-orphan", "auth"]))
    def revoke_below(self, path: str) -> None:
        assert self.vault.put(f"sys/leases/revoke-prefix/{path}").status == 204

    @rule(seconds=st.sampled_from([1, 6, 4_000]))
    def wait(self, seconds: int) -> None:
        self.now_ns += seconds * 10**9
        self.vault.tick()

    @invariant()
    def the_index_is_as_if_derived_now(self) -> None:
        if not hasattr(self, "vault"):
            return
        ctx = step(self.vault)
        kept, derived = leases.index_of(ctx), LeaseIndex(self.vault.core.storage.list(IDS))
        derived.settle(ctx)
        assert kept.by_path == derived.by_path
        assert len(kept) == len(derived)


def test_the_index_is_always_what_it_would_be_if_it_were_derived_again() -> None:
    run_state_machine_as_test(Tokens, settings=settings(max_examples=examples(60), stateful_step_count=20))
