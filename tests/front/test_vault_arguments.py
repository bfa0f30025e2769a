"""What a vault alone is given: each wrong value is one sentence, and makes or changes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from labkit import Vault
from labkit.front.vault_arguments import advance_ns, judge_path, judge_settings
from labkit.vault.core import Settings

ODD: list[Any] = [None, True, -1, -2.5, float("nan"), 10**4_000, "", "10%", "osaka", [], {}, b"x", object()]


@pytest.mark.parametrize("name", [*Settings._fields, "clock"])
def test_no_odd_setting_makes_a_vault(name: str) -> None:
    for value in ODD:
        text = name in ("cluster_name", "node", "api_address", "cluster_address", "storage_type")
        if text and isinstance(value, str) and value:
            continue
        if (name == "clock" and value is None) or (name in ("high_availability", "fips") and value is True):
            continue
        if name in ("max_request_bytes", "backlog_entries", "nonce_limit") and isinstance(value, int) and value > 1:
            continue
        if name == "environ" and value == {}:
            continue
        with pytest.raises(ValueError, match=f"^{name}: expected "):
            Vault.dev(**{name: value})


def test_a_setting_that_there_is_not_is_named_with_those_there_are() -> None:
    says = "settings: expected a setting of a vault, got 'versoin'; there are: clock, seed, .* — did you mean 'version'"
    with pytest.raises(ValueError, match=says):
        Vault.dev(versoin="1.16.3")
    with pytest.raises(ValueError, match=r"got 'sed'; .*, key_cooldown_s — did you mean 'seed'\?"):
        Vault.dev(sed=7)
    with pytest.raises(ValueError, match=r"got 'seed'; there are: version, .*, key_cooldown_s$"):
        Vault.open("lab.db", seed=7)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"version": "1.16"}, "version: expected a version such as 1.16.3+ent, got '1.16'"),
        (
            {"edition": "comunity"},
            "edition: expected an edition, got 'comunity'; there are: enterprise, community"
            " — did you mean 'community'?",
        ),
        ({"clock": 5}, "clock: expected a function that gives nanoseconds since the epoch, or None, got 5"),
    ],
)
def test_the_sentence_says_what_was_wanted(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        Vault.dev(**settings)

    assert str(caught.value) == says


@pytest.mark.parametrize("path", [*(value for value in ODD if value not in ("10%", "osaka")), "a\0b"])
def test_what_names_no_file_opens_none(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"path: expected the path of a file such as lab\.db, got"):
        Vault.open(path)

    assert os.listdir(tmp_path) == []


def test_a_file_is_named_by_text_or_a_path(tmp_path: Path) -> None:
    for name in (str(tmp_path / "a.db"), tmp_path / "b.db"):
        vault = Vault.open(cast("Any", name))
        assert vault.get("sys/health").status == 200
        vault.close()


ACTS: dict[str, tuple[Callable[[Vault, Any], Any], str]] = {
    "advance": (lambda vault, value: vault.advance(value), "duration"),
    "status": (lambda vault, value: vault.fail_next(value), "status"),
    "times": (lambda vault, value: vault.fail_next(503, value), "times"),
}


@pytest.mark.parametrize("name", ACTS)
def test_no_odd_value_changes_a_vault(name: str) -> None:
    act, argument = ACTS[name]
    vault = Vault.dev()
    before_ns = vault.now()
    for value in ODD:
        with pytest.raises(ValueError, match=f"^{argument}: expected "):
            act(vault, value)

    assert vault.get("sys/health").status == 200
    assert vault.now() - before_ns < 60 * 10**9


def test_right_values_go_on_working() -> None:
    vault = Vault.dev(version="1.15.0", edition="enterprise", node="n1", backlog_entries=8, high_availability=False)
    began_ns = vault.now()
    vault.advance("2h")
    vault.advance(60)
    vault.advance("0s")
    vault.fail_next(429)

    assert 7_260 * 10**9 <= vault.now() - began_ns < 7_320 * 10**9
    assert [vault.get("sys/health").status for _ in range(2)] == [429, 200]


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("login_leeway_s", 0, 300),
        ("key_cooldown_s", 0, 86_400),
        ("max_request_bytes", 1, None),
        ("backlog_entries", 1, None),
        ("nonce_limit", 1, None),
    ],
)
def test_a_number_is_taken_from_its_least_to_its_most(name: str, least: int, most: int | None) -> None:
    for value in (least, least + 1, 10**9 if most is None else most):
        judge_settings(None, {name: value})
    for value in (least - 1, *([] if most is None else [most + 1])):
        with pytest.raises(ValueError, match=f"^{name}: expected a whole number from {least} "):
            judge_settings(None, {name: value})


@pytest.mark.parametrize(
    "environ", [{"A": 1}, {1: "a"}, {"A": "a", "B": None}, {"A": None, "B": "b"}, ["A"], "A", {"A": ["secret"]}]
)
def test_variables_are_texts_and_are_not_shown(environ: Any) -> None:
    with pytest.raises(ValueError, match="environ: expected variables") as caught:
        judge_settings(None, {"environ": environ})

    assert str(caught.value) == "environ: expected variables and their values, all of them texts"
    judge_settings(None, {"environ": {"A": "a", "B": ""}})


@pytest.mark.parametrize("name", ["peer_api_addresses", "peer_cluster_addresses"])
def test_addresses_are_a_tuple_of_texts(name: str) -> None:
    judge_settings(None, {name: ()})
    judge_settings(None, {name: ("http://a", "http://b")})
    for value in (["http://a"], ("http://a", 7), "http://a"):
        with pytest.raises(ValueError, match=f"^{name}: expected a tuple of addresses"):
            judge_settings(None, {name: value})


class Answering:
    """Answers, and has nothing else of a cloud or a key store."""

    def answer(self) -> None: ...


class Listing:
    """Has what a cloud and a key store have, and answers nothing."""

    config = labels = ()


class Whole(Answering, Listing):
    """Stands for either."""


@pytest.mark.parametrize("what", ["cloud", "keystore"])
def test_what_stands_beside_a_vault_answers_and_has_what_is_asked_for(what: str) -> None:
    judge_settings(None, {}, **{what: Whole()})
    judge_settings(None, {}, **{what: None})
    for part in (Answering(), Listing(), 0, ""):
        with pytest.raises(ValueError, match=f"^{what}: expected a "):
            judge_settings(None, {}, **{what: part})


def test_each_setting_is_judged_by_its_kind() -> None:
    judge_settings(lambda: 0, {"version": "1.16.3+ent", "edition": "community", "fips": True}, seed=0)
    judge_settings(None, {"version": "999.0.0", "high_availability": False, "node": "n1", "cluster_name": "c"})
    for name, value in (("version", "1.16.3+ent "), ("version", 1), ("edition", "oss"), ("fips", 1), ("node", 7)):
        with pytest.raises(ValueError, match=f"^{name}: expected "):
            judge_settings(None, {name: value})
    with pytest.raises(ValueError, match=r"^seed: expected "):
        judge_settings(None, {}, seed=-1)
    with pytest.raises(ValueError, match=r"^clock: expected "):
        judge_settings(0, {})


def test_a_path_is_text_or_names_itself() -> None:
    judge_path("a.db")
    judge_path(Path("a.db"))
    for path in ("", "a\0b", 7, None):
        with pytest.raises(ValueError, match="path: expected"):
            judge_path(path)


def test_a_duration_is_read_in_nanoseconds() -> None:
    assert [advance_ns(duration) for duration in ("2h", "90ms", 3, "0s")] == [7_200 * 10**9, 90 * 10**6, 3 * 10**9, 0]
