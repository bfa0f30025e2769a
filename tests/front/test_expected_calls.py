"""Expected calls: what is as expected, what is not, and how the difference reads."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import Vault
from labkit.front.expected_calls import Expectation, aligned, difference
from labkit.vault.calls import Call


@pytest.fixture
def vault() -> Vault:
    vault = Vault.dev(seed=7)
    vault.get("sys/mounts")  # what came before does not count
    return vault


def test_calls_as_expected_pass(vault: Vault) -> None:
    with vault.expect(["POST secret/data/app", "GET /v1/secret/data/* 200", "GET secret/data/none 404"]):
        vault.post("secret/data/app", {"data": {}})
        vault.get("secret/data/app")
        vault.get("secret/data/none")
    with vault.expect([]):
        pass


def test_a_difference_reads_side_by_side(vault: Vault) -> None:
    def program() -> None:
        with vault.expect(
            ["GET sys/health", "POST secret/data/app", "GET secret/data/app 404", "LIST secret/metadata"]
        ):
            vault.request("GET", "sys/health")
            vault.post("secret/data/app", {"data": {"password": "s3cret"}})
            vault.get("secret/data/app")

    with pytest.raises(AssertionError) as caught:
        program()

    assert str(caught.value).splitlines() == [
        "4 calls were expected and 3 came; - marks those missing, + those not expected",
        "  expected                 came",
        "  GET sys/health           GET sys/health 200",
        "  POST secret/data/app     POST secret/data/app 200",
        "- GET secret/data/app 404",
        "- LIST secret/metadata",
        "+                          GET secret/data/app 200",
    ]


def test_an_error_of_the_program_is_its_own(vault: Vault) -> None:
    with pytest.raises(KeyError), vault.expect(["GET sys/health"]):
        raise KeyError("x")


def test_calls_that_are_forgotten_meanwhile_are_not_missed(vault: Vault) -> None:
    with vault.expect(["GET sys/health"]):
        vault.get("sys/mounts")
        vault.calls.clear()
        vault.get("sys/health")


def test_a_vault_that_is_reset_meanwhile_is_asked_from_there_on(vault: Vault) -> None:
    with vault.expect(["GET sys/health"]):
        vault.get("sys/mounts")
        vault.reset()
        vault.get("sys/health")


def test_a_long_difference_is_cut(vault: Vault) -> None:
    def program() -> None:
        with vault.expect(["GET sys/health"] * 100):
            for _ in range(20):
                vault.get("sys/health")

    with pytest.raises(AssertionError) as caught:
        program()

    lines = str(caught.value).splitlines()
    assert lines[1] == "  the first 17 are as expected"
    assert lines[-1] == "  and 43 more"
    assert len(lines) == 44


@pytest.mark.parametrize(
    "wrong", ["GET sys/health", 7, None, ["sys/health"], ["GET"], ["get sys/health"], ["GET a b"], ["GET a 2000"], [7]]
)
def test_what_is_no_list_of_calls_is_refused(vault: Vault, wrong: Sequence[str]) -> None:
    with pytest.raises(ValueError, match="expect: "):
        vault.expect(wrong)


PATHS = st.sampled_from("abc")
EXPECTED = st.lists(PATHS.map(lambda path: Expectation("GET", path, None)), max_size=8)
CAME = st.lists(PATHS.map(lambda path: Call("GET", path, 200)), max_size=8)


@given(EXPECTED, CAME)
def test_an_alignment_keeps_all_in_order_and_pairs_as_many_as_possible(
    expected: list[Expectation], came: list[Call]
) -> None:
    rows = aligned(expected, came)

    assert [one for one, _ in rows if one is not None] == expected
    assert [call for _, call in rows if call is not None] == came
    assert all(one.is_met(call) for one, call in rows if one is not None and call is not None)
    assert sum(one is not None and call is not None for one, call in rows) == longest(expected, came)
    assert (difference(expected, came) == "") is ([one.path for one in expected] == [call.path for call in came])


def longest(expected: list[Expectation], came: list[Call]) -> int:
    """Return the length of the longest common subsequence, by trying all ways."""
    if not expected or not came:
        return 0
    if expected[0].is_met(came[0]):
        return 1 + longest(expected[1:], came[1:])
    return max(longest(expected[1:], came), longest(expected, came[1:]))


def test_lists_too_long_to_align_are_shown_one_after_the_other() -> None:
    rows = aligned([Expectation("GET", "a", None)] * 1_000, [Call("GET", "b", 200)] * 1_001)

    assert rows[0] == (Expectation("GET", "a", None), None)
    assert rows[1_000] == (None, Call("GET", "b", 200))
