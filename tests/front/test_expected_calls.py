"""Expected calls: what is as expected, what is not, and how the difference reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import Vault
from labkit.front.expected_calls import Expectation, aligned, difference, paired
from labkit.service.silence import Dropped
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


def test_another_error_has_a_note_of_what_came_until_then(vault: Vault) -> None:
    def program(calls: list[str]) -> None:
        with vault.expect(calls):
            vault.request("GET", "sys/health")
            raise KeyError("x")

    with pytest.raises(KeyError) as caught:
        program(["GET sys/health", "LIST secret/metadata"])
    note = caught.value.__notes__[0].splitlines()
    assert note[0].startswith("until then, 2 calls were expected and 1 came; - marks")
    assert note[-1] == "- LIST secret/metadata"
    with pytest.raises(KeyError) as caught:
        program(["GET sys/health"])
    assert not hasattr(caught.value, "__notes__")


def test_a_listing_is_expected_as_list_however_it_is_sent(vault: Vault) -> None:
    with vault.expect(["LIST secret/metadata/a 404", "LIST secret/metadata/a/", "LIST /v1/secret/metadata"]):
        vault.list("secret/metadata/a")
        vault.get("secret/metadata/a?list=true")
        vault.list("secret/metadata/")


def said(vault: Vault, calls: list[str], program: Callable[[], object], **how: bool) -> list[str]:
    """The lines of the difference, none when all is as expected."""
    try:
        with vault.expect(calls, **how):
            program()
    except AssertionError as error:
        return str(error).splitlines()
    return []


def test_a_status_is_one_a_class_or_none_at_all(vault: Vault) -> None:
    def program() -> None:
        vault.put("secret/data/app", {"data": {}})
        vault.get("secret/data/none")
        vault.drop_next()
        with pytest.raises(Dropped):
            vault.get("sys/health")

    assert (
        said(vault, ["POST secret/data/app 2xx", "GET secret/data/none 4xx", "GET sys/health dropped"], program) == []
    )
    assert said(vault, ["PUT secret/data/app 2xx", "GET secret/data/none 5xx", "GET sys/health 2xx"], program) == [
        "3 calls were expected and 3 came; - marks those missing, + those not expected",
        "  expected                  came",
        "  PUT secret/data/app 2xx   PUT secret/data/app 200",
        "- GET secret/data/none 5xx",
        "- GET sys/health 2xx",
        "+                           GET secret/data/none 404",
        "+                           GET sys/health dropped",
    ]


def test_calls_may_come_in_any_order(vault: Vault) -> None:
    def program() -> None:
        for path in ("sys/mounts", "secret/data/a", "secret/data/b"):
            vault.get(path)

    assert said(vault, ["GET secret/data/*", "GET secret/data/a", "GET sys/mounts"], program, in_order=False) == []
    assert said(vault, ["GET secret/data/a", "GET sys/health"], program, in_order=False) == [
        "2 calls were expected, in any order, and 3 came; - marks those missing, + those not expected",
        "  expected           came",
        "+                    GET sys/mounts 200",
        "  GET secret/data/a  GET secret/data/a 404",
        "+                    GET secret/data/b 404",
        "- GET sys/health",
    ]


def test_others_may_come_between(vault: Vault) -> None:
    def program() -> None:
        for path in ("sys/mounts", "secret/data/a", "secret/data/b"):
            vault.get(path)

    assert said(vault, ["GET sys/mounts", "GET secret/data/b"], program, others=True) == []
    assert said(vault, ["GET secret/data/b", "GET sys/mounts"], program, others=True, in_order=False) == []
    assert said(vault, ["GET secret/data/c"], program, others=True) == [
        "1 call was expected and 3 came; - marks those missing",
        "  expected           came",
        "- GET secret/data/c",
        "                     GET sys/mounts 200",
        "                     GET secret/data/a 404",
        "                     GET secret/data/b 404",
    ]
    assert said(vault, ["GET secret/data/b", "GET sys/mounts"], program, others=True)[0].startswith("2 calls")


@pytest.mark.parametrize("how", [{"in_order": 1}, {"others": None}])
def test_whether_order_counts_is_true_or_false(vault: Vault, how: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected True or False"):
        vault.expect([], **how)
    assert vault.unfired == ()


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
    "wrong",
    [
        *("GET sys/health", 7, None, ["sys/health"], ["GET"], ["get sys/health"], ["GET a b"], ["GET a 2000"], [7]),
        *(["GET a xx"], ["GET a 6xx"], ["GET a 20x"], ["GET a 000"], ["GET a Dropped"]),
    ],
)
def test_what_is_no_list_of_calls_is_refused(vault: Vault, wrong: Sequence[str]) -> None:
    with pytest.raises(ValueError, match="expect: "):
        vault.expect(wrong)


def test_a_method_that_is_misspelt_is_named(vault: Vault) -> None:
    with pytest.raises(ValueError, match=r"expect: call 2: expected a method, got 'get'; there are: GET, .*mean 'GET'"):
        vault.expect(["GET a", "get a"])


PATHS = st.sampled_from("abc")
EXPECTED = st.lists(PATHS.map(lambda path: Expectation("GET", path)), max_size=8)
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


@given(st.lists(st.sampled_from(["a", "b", "c", "*", "a*"]), max_size=6), st.lists(PATHS, max_size=6))
def test_in_any_order_as_many_are_paired_as_possible(patterns: list[str], paths: list[str]) -> None:
    expected = [Expectation("GET", pattern) for pattern in patterns]
    came = [Call("GET", path, 200) for path in paths]
    rows = paired(expected, came)

    assert [call for _, call in rows if call is not None] == came
    assert sorted(one for one, _ in rows if one is not None) == sorted(expected)
    assert all(one.is_met(call) for one, call in rows if one is not None and call is not None)
    assert sum(one is not None and call is not None for one, call in rows) == most(expected, came)


def most(expected: list[Expectation], came: list[Call]) -> int:
    """Return how many can be paired, by trying all ways."""
    if not expected:
        return 0
    first, rest = expected[0], expected[1:]
    ways = [1 + most(rest, came[:place] + came[place + 1 :]) for place, call in enumerate(came) if first.is_met(call)]
    return max([most(rest, came), *ways])


def longest(expected: list[Expectation], came: list[Call]) -> int:
    """Return the length of the longest common subsequence, by trying all ways."""
    if not expected or not came:
        return 0
    if expected[0].is_met(came[0]):
        return 1 + longest(expected[1:], came[1:])
    return max(longest(expected[1:], came), longest(expected, came[1:]))


def test_lists_too_long_to_align_are_shown_one_after_the_other() -> None:
    rows = aligned([Expectation("GET", "a")] * 1_000, [Call("GET", "b", 200)] * 1_001)

    assert rows[0] == (Expectation("GET", "a"), None)
    assert rows[1_000] == (None, Call("GET", "b", 200))


def test_others_between_calls_that_are_too_many_to_align_are_passed_over() -> None:
    expected = [Expectation("GET", str(number)) for number in range(1_000)]
    came = [Call("GET", name, 200) for number in range(1_000) for name in ("other", str(number))]

    assert difference(expected, came, others=True) == ""
    assert "and 2000 came" in difference(expected, came[::-1], others=True)
