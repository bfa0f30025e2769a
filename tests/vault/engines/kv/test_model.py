"""The engine under thousands of random requests, in memory and on SQLite, beside a plain model of dicts and lists."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from labkit import Vault

START_S = 1_893_456_000
STEPS = 2_000
PATHS = ("app", "app/1", "ü b")
VALUES: tuple[dict[str, Any], ...] = ({}, {"a": 1}, {"a": {"b": [1, None]}, "c": "x"}, {"c": 2**70, "a": None})
PATCHES: tuple[dict[str, Any], ...] = ({}, {"a": None}, {"a": {"b": None, "d": 1}}, {"c": [2], "e": {"f": None}})
LIMITS = (None, None, 0, 1, 2, 4)
LIFETIMES_S = (None, None, 0, 60, 3600)
FLAGS = (None, None, None, False, True)
CUSTOM: tuple[dict[str, Any] | None, ...] = (None, None, {}, {"team": "a"}, {"team": "b", "x": "1"})


class Secret:
    """What the model keeps of one secret: its settings, and every version that was ever written."""

    def __init__(self, now_s: int) -> None:
        self.created_s = self.updated_s = now_s
        self.settings: dict[str, Any] = {"max_versions": 0, "cas_required": False, "delete_version_after": 0}
        self.custom: dict[str, str] = {}
        self.count = self.oldest = 0
        self.versions: dict[int, Written] = {}


class Written(NamedTuple):
    """One version of the model; a deletion that lies ahead is one that is due."""

    data: Any
    created_s: int
    deletion_s: int | None = None
    destroyed: bool = False

    def lives(self, now_s: int) -> bool:
        """Whether it can be read."""
        return not self.destroyed and (self.deletion_s is None or now_s < self.deletion_s)


class EngineBesideModel:
    """The same requests to both; whatever is read afterwards is what the model holds."""

    def __init__(self, opened: Callable[[Callable[[], int]], Vault], seed: int) -> None:
        self.now_s = START_S
        self.opened = opened
        self.vault = opened(self.clock)
        self.draws = random.Random(seed)
        self.versions = 0  # written so far
        self.engine: dict[str, Any] = {"max_versions": 0, "cas_required": False, "delete_version_after": 0}
        self.secrets: dict[str, Secret] = {}

    def clock(self) -> int:
        """Return the time of both, in nanoseconds since the epoch."""
        return self.now_s * 1_000_000_000

    def step(self) -> None:
        """Send one random request to both, or let time pass."""
        draws, path = self.draws, self.draws.choice(PATHS)
        current = self.secrets[path].count if path in self.secrets else 0
        cas = draws.choice((None, current, current, draws.randint(-1, current + 1)))
        match draws.choice("wwwwppppdvvvmmrct" + "o" * (draws.random() < 0.1)):
            case "w":
                self.writes(path, draws.choice(VALUES), cas)
            case "p":
                self.patches(path, draws.choice(PATCHES), cas)
            case "d":
                self.deletes(path)
            case "v":
                numbers = [current - draws.randint(-1, 4) for _ in range(draws.randint(1, 3))]
                self.changes_versions(path, draws.choice(("delete", "undelete", "undelete", "destroy")), numbers)
            case "m":
                limit, required, lifetime_s = (draws.choice(of) for of in (LIMITS, FLAGS, LIFETIMES_S))
                self.describes(path, limit, required, lifetime_s, draws.choice(CUSTOM))
            case "r" if draws.random() < 0.2:
                self.removes(path)
            case "c":
                self.configures(*(draws.choice(of) for of in (LIMITS, FLAGS, (*LIFETIMES_S, -1))))
            case "t":
                self.now_s += draws.choice((1, 59, 60, 3600))
            case "o":
                self.vault.close()
                self.vault = self.opened(self.clock)

    def writes(self, path: str, data: Any, cas: int | None) -> None:
        answer = self.vault.post(f"secret/data/{path}", {"data": data, "options": {} if cas is None else {"cas": cas}})
        secret = self.secrets.get(path) or Secret(self.now_s)
        if self.expects_cas(answer, secret, cas):
            self.secrets[path] = secret
            self.appended(answer, secret, data)
        self.compare(path)

    def patches(self, path: str, patch: Any, cas: int | None) -> None:
        body = {"data": patch, "options": {} if cas is None else {"cas": cas}}
        answer = self.vault.patch(f"secret/data/{path}", body)
        secret = self.secrets.get(path)
        if secret is None:
            assert (answer.status, answer.body) == (404, None)
        elif self.expects_cas(answer, secret, cas):
            current = secret.versions.get(secret.count)
            if current is not None and current.lives(self.now_s):
                self.appended(answer, secret, laid_over(current.data, patch))
            else:
                assert answer.status == 404
                assert (answer.body is None) == (current is None)
        self.compare(path)

    def deletes(self, path: str) -> None:
        assert self.vault.delete(f"secret/data/{path}").status == 204
        if path in self.secrets:
            self.change(path, [self.secrets[path].count], deleted)
        self.compare(path)

    def changes_versions(self, path: str, verb: str, numbers: list[int]) -> None:
        assert self.vault.post(f"secret/{verb}/{path}", {"versions": numbers}).status == 204
        if path in self.secrets:
            self.change(path, numbers, {"delete": deleted, "undelete": self.revived(path), "destroy": destroyed}[verb])
        self.compare(path)

    def describes(self, path: str, limit: Any, required: Any, lifetime_s: Any, custom: Any) -> None:
        sent = sent_settings(limit, required, lifetime_s)
        body = sent if custom is None else {**sent, "custom_metadata": custom}
        answer = self.vault.post(f"secret/metadata/{path}", body)
        ignored = required is False and self.engine["cas_required"]
        assert answer.status == (200 if ignored else 204)
        if body:
            secret = self.secrets.setdefault(path, Secret(self.now_s))
            secret.settings.update(sent)
            secret.custom = secret.custom if custom is None else custom
        self.compare(path)

    def removes(self, path: str) -> None:
        assert self.vault.delete(f"secret/metadata/{path}").status == 204
        self.secrets.pop(path, None)
        self.compare(path)

    def configures(self, limit: Any, required: Any, lifetime_s: Any) -> None:
        sent = sent_settings(limit, required, lifetime_s)
        assert self.vault.post("secret/config", sent).status == 204
        self.engine.update(sent)
        shown = self.vault.get("secret/config").data
        assert (shown["max_versions"], shown["cas_required"]) == (
            self.engine["max_versions"],
            self.engine["cas_required"],
        )

    def compare_all(self) -> None:
        """Every secret, and the list of them, is what the model holds."""
        for path in PATHS:
            self.compare(path)
        names = {path.partition("/")[0] + "/" * ("/" in path) for path in self.secrets}
        listed = self.vault.list("secret/metadata")
        assert (listed.data or {"keys": []})["keys"] == sorted(names)

    # what the model says of a request

    def expects_cas(self, answer: Any, secret: Secret, cas: int | None) -> bool:
        """Whether check-and-set lets a write pass; if not, it was refused."""
        required = secret.settings["cas_required"] or self.engine["cas_required"]
        passes = cas == secret.count if cas is not None else not required
        assert passes or answer.status == 400
        return passes

    def appended(self, answer: Any, secret: Secret, data: Any) -> None:
        assert answer.status == 200
        self.versions += 1
        lifetime_s = self.lifetime_s(secret)
        secret.count += 1
        secret.updated_s = self.now_s
        deletion_s = self.now_s + lifetime_s if lifetime_s else None
        secret.versions[secret.count] = Written(copy.deepcopy(data), self.now_s, deletion_s)
        assert answer.data["version"] == secret.count
        limit = secret.settings["max_versions"] or self.engine["max_versions"] or 10
        beyond = [number for number in secret.versions if number <= secret.count - limit]
        if secret.count - secret.oldest >= limit:
            secret.oldest = secret.count - limit + 1
        for number in beyond:
            del secret.versions[number]

    def lifetime_s(self, secret: Secret) -> int:
        engine, own = self.engine["delete_version_after"], secret.settings["delete_version_after"]
        if engine < 0:
            return 0
        return int(min([own, engine] if own and engine else [own or engine]))

    def revived(self, path: str) -> Callable[[Written, int], Written]:
        """A version after it was brought back: it lives as long as a new one would."""
        lifetime_s = self.lifetime_s(self.secrets[path])
        return lambda version, now_s: version._replace(deletion_s=now_s + lifetime_s if lifetime_s else None)

    def change(self, path: str, numbers: list[int], event: Any) -> None:
        versions = self.secrets[path].versions
        for number in numbers:
            if number in versions and not versions[number].destroyed:
                versions[number] = event(versions[number], self.now_s)

    # what the engine shows

    def compare(self, path: str) -> None:
        """Everything that can be read of a secret is what the model holds."""
        secret = self.secrets.get(path)
        shown = self.vault.get(f"secret/metadata/{path}")
        if secret is None:
            assert (shown.status, self.vault.get(f"secret/data/{path}").status) == (404, 404)
            return
        assert shown.data == {
            **secret.settings,
            "delete_version_after": {0: "0s", 60: "1m0s", 3600: "1h0m0s"}[secret.settings["delete_version_after"]],
            "created_time": instant(secret.created_s),
            "updated_time": instant(secret.updated_s),
            "current_version": secret.count,
            "oldest_version": secret.oldest,
            "custom_metadata": secret.custom or None,
            "versions": {str(number): facts(version) for number, version in secret.versions.items()},
        }
        for number in (0, *range(max(1, secret.count - 5), secret.count + 2)):
            self.compare_version(path, secret, number)

    def compare_version(self, path: str, secret: Secret, number: int) -> None:
        version = secret.versions.get(number or secret.count)
        answer = self.vault.get(f"secret/data/{path}?version={number}")
        lives = version is not None and version.lives(self.now_s)
        assert answer.status == (200 if lives else 404)
        if version is None:
            assert answer.body == {"errors": []}
        else:
            described = {**facts(version), "version": number or secret.count, "custom_metadata": secret.custom or None}
            assert answer.data == {"data": version.data if lives else None, "metadata": described}


@pytest.fixture(params=["memory", "file"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Callable[[], int]], Vault]:
    """Open a vault whose contents end with it, or one whose contents stay in a file."""
    if request.param == "file":
        return lambda clock: Vault.open(str(tmp_path / "kv.db"), clock=clock)
    kept: list[Vault] = []

    def opened(clock: Callable[[], int]) -> Vault:
        kept.append(kept[0] if kept else Vault.dev(clock=clock))
        return kept[0]

    return opened


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))])
@pytest.mark.slow
def test_after_any_two_thousand_requests_the_engine_holds_what_the_model_does(opened: Any, seed: int) -> None:
    both = EngineBesideModel(opened, seed)
    for _ in range(STEPS):
        both.step()
    both.compare_all()
    assert both.versions > STEPS / 10, "the walk was worth it"


def deleted(version: Written, now_s: int) -> Written:
    """A version after its deletion; one that is gone keeps the time at which it went."""
    return version._replace(deletion_s=now_s) if version.lives(now_s) else version


def destroyed(version: Written, now_s: int) -> Written:
    """A version after its destruction."""
    return version._replace(destroyed=True, data=None)


def laid_over(target: Any, patch: Any) -> Any:
    """A merge patch, written from the pseudocode's words: null takes away, objects recurse, the rest replaces."""
    if not isinstance(patch, dict):
        return patch
    result = copy.deepcopy(target) if isinstance(target, dict) else {}
    for name in patch:
        if patch[name] is None:
            result.pop(name, None)
        else:
            result[name] = laid_over(result.get(name), patch[name])
    return result


def sent_settings(limit: int | None, required: bool | None, lifetime_s: int | None) -> dict[str, Any]:
    """The settings that are sent."""
    settings = {"max_versions": limit, "cas_required": required, "delete_version_after": lifetime_s}
    return {name: value for name, value in settings.items() if value is not None}


def facts(version: Written) -> dict[str, Any]:
    """A version as metadata show it."""
    return {
        "created_time": instant(version.created_s),
        "deletion_time": "" if version.deletion_s is None else instant(version.deletion_s),
        "destroyed": version.destroyed,
    }


def instant(seconds: int) -> str:
    """A time as answers write it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
