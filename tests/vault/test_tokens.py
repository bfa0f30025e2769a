"""Tokens as records: stored by hash, found while they live, ended when they are due."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest, Forbidden
from labkit.service.message import Request
from labkit.vault import token_record, tokens
from labkit.vault.context import Context
from labkit.vault.policies.access_list import Acl
from labkit.vault.token_index import index_of
from labkit.vault.token_record import Caller, Token

PLAIN = Token("", ("default",), "auth/token/create", "token")


@pytest.fixture
def step(service):
    """A step of the service: only it sees its writes until they are committed."""
    return Context(service.core, Request("GET", "x"), service.core.now())


texts = st.text(max_size=5)
whole = st.integers(0, 2**62)


@given(
    st.builds(
        Token,
        texts,
        st.lists(texts, max_size=3).map(tuple),
        texts,
        texts,
        texts,
        st.sampled_from(["service", "batch"]),
        st.none() | st.lists(st.tuples(texts, texts), max_size=3).map(tuple),
        whole,
        whole,
        whole,
        whole,
        whole,
        st.booleans(),
        whole,
        whole,
        st.booleans(),
        texts,
        st.lists(texts, max_size=2).map(tuple),
        whole,
    )
)
def test_a_record_comes_back_as_it_was(token: Token) -> None:
    assert token_record.decode_token(token_record.encode_token(token)) == token


def test_a_token_is_found_by_text_and_by_accessor_and_its_text_is_not_stored(service, step) -> None:
    text, token = tokens.issue(step, PLAIN._replace(ttl_s=60))
    service.core.commit(step.writes)

    assert (
        tokens.find(step, text) == tokens.find_accessor(step, token.accessor) == (token, token_record.digest_of(text))
    )
    assert not any(text in key for key in step.writes)
    assert not any(text.encode() in value for value in step.writes.values())
    assert repr(token) == "Token(token, policies=['default'])"


@pytest.mark.parametrize("text", ["", "hvs.none", "hvb.", "hvb.!", "hvb.YWJj", "hvb." + "A" * 60])
def test_what_is_no_token_is_not_found(step, text: str) -> None:
    assert tokens.find(step, text) is None
    assert tokens.find_accessor(step, text) is None


def test_it_is_over_at_the_very_nanosecond(service, step) -> None:
    text, token = tokens.issue(step, PLAIN._replace(ttl_s=60))
    step.now = token.expires_ns - 1
    assert tokens.find(step, text) is not None
    step.now += 1
    assert tokens.find(step, text) is None
    assert tokens.find_accessor(step, token.accessor) is None


def test_remaining_seconds_are_rounded_up() -> None:
    token = PLAIN._replace(expires_ns=10 * SECOND_NS)
    assert tokens.remaining_s(token, 0) == 10
    assert tokens.remaining_s(token, 1) == 10
    assert tokens.remaining_s(token, 9 * SECOND_NS + 1) == 1
    assert tokens.remaining_s(PLAIN, 5) == 0


def test_the_last_use_leaves_a_token_that_is_spent(service, step) -> None:
    text, token = tokens.issue(step, PLAIN._replace(uses=2))
    digest = token_record.digest_of(text)
    tokens.use(step, token, digest)
    once = tokens.find(step, text)
    assert once is not None
    assert once[0].uses == 1
    tokens.use(step, once[0], digest)
    twice = tokens.find(step, text)
    assert twice is not None
    assert twice[0].uses == -1


def test_a_family_leaves_nothing_behind_however_deep_it_is(service, step) -> None:
    before = service.core.storage.keys()
    family = [""]
    for _ in range(1_200):
        text, _token = tokens.issue(step, PLAIN._replace(parent=family[-1]))
        family.append(token_record.digest_of(text))
    service.core.commit(step.writes)
    later = Context(service.core, Request("GET", "x"), service.core.now())
    tokens.revoke(later, family[1])
    service.core.commit(later.writes)
    assert service.core.storage.keys() == before


def test_those_that_ended_come_in_the_order_of_their_ends(service) -> None:
    for ttl_s in (30, 10, 20, 40):
        service.post("auth/token/create", {"policies": ["default"], "ttl": ttl_s})
    now, left = service.core.now(), []
    while (due_ns := service.next_due()) is not None:
        left.append((due_ns - now) // SECOND_NS)
        service.advance("10s")
    assert left == [10, 20, 30, 40]


def test_many_that_end_at_once_are_each_a_step_of_their_own(service) -> None:
    for _ in range(50):
        service.post("auth/token/create", {"policies": ["default"], "ttl": "1h"})
    commits = service.core.commits
    service.advance("1h")
    assert service.core.commits == commits + 50
    assert len(service.core.storage.list(token_record.IDS)) == 1
    assert service.next_due() is None


@pytest.mark.parametrize(
    ("address", "blocks", "allowed"),
    [
        ("10.1.2.3", ("10.0.0.0/8",), True),
        ("11.1.2.3", ("10.0.0.0/8",), False),
        ("11.1.2.3", ("10.0.0.0/8", "11.1.2.3"), True),
        ("10.9.9.9", ("10.1.2.3/8",), True),
        ("2001:db8::1", ("2001:db8::/32",), True),
        ("10.1.2.3", ("2001:db8::/32",), False),
        ("not an address", ("10.0.0.0/8",), False),
        ("", ("0.0.0.0/0",), False),
    ],
)
def test_addresses(address: str, blocks: tuple[str, ...], allowed: bool) -> None:
    token = PLAIN._replace(bound_cidrs=blocks)
    if allowed:
        tokens.check_address(token, address)
    else:
        with pytest.raises(Forbidden, match="permission denied"):
            tokens.check_address(token, address)


@pytest.mark.parametrize(
    ("headers", "text"),
    [
        ({}, ""),
        ({"X-Vault-Token": "a"}, "a"),
        ({"x-vault-token": "a"}, "a"),
        ({"Authorization": "Bearer b"}, "b"),
        ({"authorization": "bearer  b "}, "b"),
        ({"Authorization": "Basic b"}, ""),
        ({"Authorization": "b"}, ""),
        ({"X-Vault-Token": "a", "Authorization": "Bearer b"}, "a"),
    ],
)
def test_where_a_token_is_sent(service, headers: dict[str, str], text: str) -> None:
    ctx = Context(service.core, Request("GET", "x", headers), 0)
    ctx.headers = {name.lower(): value for name, value in headers.items()}
    assert tokens.sent_token(ctx) == text


@pytest.mark.parametrize("altered", ["{}=", "{}==", "{}%%%", "{} ", " {}", "{}A", "last"])
def test_a_batch_token_has_one_spelling(service, altered: str) -> None:
    """Another spelling of the same bytes is another text, and no token."""
    for length in range(3):  # one of three lengths has bits to spare in its last character
        asked = {"policies": ["default"], "type": "batch", "ttl": "1h", "meta": {"m": "x" * length}}
        made = service.post("auth/token/create", asked)
        text = made.auth["client_token"]
        spelled = [altered.format(text)]
        if altered == "last":
            spelled = [text[:-1] + other for other in BASE64URL if other != text[-1]]
        assert service.get("auth/token/lookup-self", token=text).ok
        for other in spelled:
            assert service.get("auth/token/lookup-self", token=other).status == 403, other


BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def test_tidying_deletes_what_earlier_versions_kept_beside_tokens_and_nothing_else(service, step) -> None:
    digests = []
    for parent in ("", "of one"):
        text, token = tokens.issue(step, PLAIN._replace(ttl_s=60, parent=parent))
        digests.append(token_record.digest_of(text))
    service.core.commit(step.writes)
    kept = service.core.storage.keys()
    left = Context(service.core, Request("GET", "x"), service.core.now())
    left.full_storage.put(token_record.OLD_ACCESSORS + "gone", b"no digest")
    left.write(token_record.OLD_ACCESSORS + "damaged", b"not to be opened")
    left.full_storage.put(token_record.OLD_CHILDREN + "of one/gone", b"")
    service.core.commit(left.writes)

    tidied = Context(service.core, Request("GET", "x"), service.core.now())
    assert tokens.tidy(tidied) == 3
    service.core.commit(tidied.writes)
    assert service.core.storage.keys() == kept
    assert tokens.find_accessor(tidied, token.accessor) == (token, digests[1])


def test_a_token_without_a_use_left_is_due_at_once_unless_a_request_waits(service, step) -> None:
    text, token = tokens.issue(step, PLAIN._replace(ttl_s=60, uses=1))
    digest, storage = token_record.digest_of(text), step.full_storage

    assert tokens.due_ns(step, storage, "none") == 0
    assert tokens.due_ns(step, storage, digest) == token.expires_ns > step.now
    tokens.use(step, token, digest)
    assert tokens.due_ns(step, storage, digest) == step.now
    service.core.waiting[1] = digest
    assert tokens.due_ns(step, storage, digest) == token.expires_ns


def test_a_revoked_token_is_reported_by_its_accessor(service, observed) -> None:
    auth = service.post("auth/token/create", {"policies": ["default"]}).auth
    service.post("auth/token/revoke", {"token": auth["client_token"]})

    assert observed == [("token revoked", {"accessor": auth["accessor"]})]


@pytest.mark.parametrize(
    ("mode", "uses", "left"), [("primary", 2, 1), ("primary", 1, -1), ("primary", 0, 0), ("secondary", 2, 2)]
)
def test_a_token_that_is_admitted_loses_a_use_but_not_on_a_secondary(service, mode: str, uses: int, left: int) -> None:
    service.post("sys/replication/dr/primary/enable")
    made = Context(service.core, Request("GET", "x"), service.core.now())
    text, token = tokens.issue(made, PLAIN._replace(uses=uses))
    service.core.commit(made.writes)
    if mode == "secondary":
        service.post("sys/replication/dr/primary/demote")
    step = Context(service.core, Request("GET", "x"), service.core.now())
    tokens.admit(step, token, token_record.digest_of(text))
    service.core.commit(step.refused_writes)

    later = Context(service.core, Request("GET", "x"), service.core.now())
    found = tokens.find(later, text)
    assert found is not None
    assert found[0].uses == left


def test_a_wrong_address_costs_a_use_and_is_refused(step) -> None:
    text, token = tokens.issue(step, PLAIN._replace(uses=2, bound_cidrs=("10.0.0.0/8",)))
    with pytest.raises(Forbidden):
        tokens.admit(step, token, token_record.digest_of(text))
    assert len(step.refused_writes) == 1


@pytest.mark.parametrize("why", ["no use taken", "no caller", "sealed", "a use is left", "another request waits", ""])
def test_a_token_ends_with_its_last_use(service, step, why: str) -> None:
    text, token = tokens.issue(step, PLAIN._replace(uses=2 if why == "a use is left" else 1))
    digest = token_record.digest_of(text)
    tokens.use(step, token, digest)
    step.use_spent = why != "no use taken"
    step.caller = None if why == "no caller" else Caller(token, digest, Acl(()))
    if why == "another request waits":
        service.core.waiting[1] = digest
    if why == "sealed":
        service.core.keys.drop()
    before = dict(step.writes)
    tokens.end_last_use(step)

    assert (step.writes == before) is bool(why)
    assert (step.writes[token_record.IDS + digest] is None) is not bool(why)


@pytest.mark.parametrize("kind", ["service", "batch"])
def test_a_token_is_still_valid_until_its_end_or_its_parents(service, kind: str) -> None:
    step = Context(service.core, Request("GET", "x"), service.core.now())
    parent, _ = tokens.issue(step, PLAIN)
    text, token = tokens.issue(step, PLAIN._replace(kind=kind, ttl_s=60, parent=token_record.digest_of(parent)))
    forever, endless = tokens.issue(step, PLAIN)
    service.core.commit(step.writes)
    core, digest = service.core, token_record.digest_of(text)

    assert tokens.still_valid(core, token, digest)
    assert tokens.still_valid(core, endless, token_record.digest_of(forever))
    service.environment.now.shift_ns += 60 * SECOND_NS - 1
    assert tokens.still_valid(core, token, digest)
    service.environment.now.shift_ns += 1
    assert not tokens.still_valid(core, token, digest)
    assert tokens.still_valid(core, endless, token_record.digest_of(forever))
    service.environment.now.shift_ns -= 1
    lost = token_record.digest_of(parent) if kind == "batch" else digest
    core.commit({token_record.IDS + lost: None})
    assert not tokens.still_valid(core, token, digest)


def test_a_batch_token_is_found_until_its_end_or_its_parents(service, step) -> None:
    parent, _ = tokens.issue(step, PLAIN)
    child = PLAIN._replace(kind="batch", ttl_s=60, parent=token_record.digest_of(parent), renewable=True)
    text, token = tokens.issue(step, child)

    assert tokens.find(step, text) == (token, token_record.digest_of(text))
    assert (token.accessor, token.created_ns, token.renewable) == ("", step.now, False)
    assert token.expires_ns == step.now + 60 * SECOND_NS
    step.now = token.expires_ns - 1
    assert tokens.find(step, text) is not None
    step.now += 1
    assert tokens.find(step, text) is None
    step.now -= 1
    tokens.revoke(step, token_record.digest_of(parent))
    assert tokens.find(step, text) is None


def test_children_of_a_token_that_is_revoked_alone_are_orphans(service, step) -> None:
    family = [""]
    for _ in range(3):
        text, _token = tokens.issue(step, PLAIN._replace(parent=family[-1]))
        family.append(token_record.digest_of(text))
    tokens.revoke(step, family[1], descendants=False)
    storage = step.full_storage

    assert storage.get(token_record.IDS + family[1]) is None
    child, grandchild = (token_record.decode_token(storage.get(token_record.IDS + name)) for name in family[2:])
    assert (child.parent, child.orphan) == ("", True)
    assert (grandchild.parent, grandchild.orphan) == (family[2], False)
    index = index_of(step)
    assert [index.children_of(name) for name in family] == [[], [], [family[3]], []]


def test_what_a_token_was_issued_with_is_stored_where_it_is_looked_for(service, step) -> None:
    text, token = tokens.issue(step, PLAIN._replace(ttl_s=60, parent="of one"))
    digest = token_record.digest_of(text)

    assert (text[:4], len(text), len(token.accessor)) == ("hvs.", 28, 24)
    assert (token.created_ns, token.expires_ns) == (step.now, step.now + 60 * SECOND_NS)
    assert [*step.writes] == [f"token/id/{digest}"]
    assert tokens.issue(step, PLAIN)[1].expires_ns == 0
    assert tokens.issue(step, PLAIN, "chosen")[0] == "chosen"
    tokens.save(step, digest, token._replace(uses=7))
    assert tokens.find(step, text) == (token._replace(uses=7), digest)


@pytest.mark.parametrize("action", ["renewed", "revoked"])
def test_a_batch_token_is_refused_by_what_needs_a_record(action: str) -> None:
    tokens.refuse_batch(PLAIN, action)
    with pytest.raises(BadRequest, match=f"^batch tokens cannot be {action}$"):
        tokens.refuse_batch(PLAIN._replace(kind="batch"), action)


def test_records_that_do_not_open_keep_nothing_alive(service) -> None:
    made = Context(service.core, Request("GET", "x"), service.core.now())
    text, token = tokens.issue(made, PLAIN._replace(uses=1))
    digest = token_record.digest_of(text)
    made.full_storage.put(f"cubbyhole/{digest}/response", b"1")
    made.write(token_record.IDS + digest, b"not to be opened")
    service.core.commit(made.writes)
    step = Context(service.core, Request("GET", "x"), service.core.now())
    step.use_spent, step.caller = True, Caller(token, digest, Acl(()))
    tokens.end_last_use(step)
    assert step.writes == {}
    assert tokens.tidy(step) == 0
    tokens.revoke(step, digest)

    assert step.writes == {token_record.IDS + digest: None, f"cubbyhole/{digest}/response": None}


def test_the_auth_block_of_a_token() -> None:
    token = PLAIN._replace(accessor="a", meta=(("k", "v"),), uses=3, renewable=True, orphan=True)
    assert tokens.auth_block("text", token, 60) == {
        "client_token": "text",
        "accessor": "a",
        "policies": ["default"],
        "token_policies": ["default"],
        "metadata": {"k": "v"},
        "lease_duration": 60,
        "renewable": True,
        "entity_id": "",
        "token_type": "service",
        "orphan": True,
        "mfa_requirement": None,
        "num_uses": 3,
    }
    assert tokens.auth_block("text", PLAIN, 0)["metadata"] is None


def test_a_token_lives_for_thirty_two_days_where_nothing_else_is_said() -> None:
    assert tokens.SYSTEM_TTL_S == 32 * 86_400


def test_a_batch_token_without_its_namespace_is_not_valid(service) -> None:
    service.post("sys/namespaces/team")
    made = {"type": "batch", "policies": ["default"]}
    text = service.post("auth/token/create", made, namespace="team").auth["client_token"]
    step = Context(service.core, Request("GET", "x"), service.core.now())
    found = tokens.find(step, text)
    assert found is not None
    assert tokens.still_valid(service.core, *found)
    service.delete("sys/namespaces/team")

    assert not tokens.still_valid(service.core, *found)
    assert tokens.find(Context(service.core, Request("GET", "x"), service.core.now()), text) is None
