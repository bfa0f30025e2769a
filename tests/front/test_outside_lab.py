"""Outside a lab: contents, clock and seeded entropy are set back."""

from __future__ import annotations

import os
from typing import Any
from uuid import UUID

import pytest

from labkit import Cloud, Vault, real
from labkit.cloud.cloud_service import CloudService
from labkit.front.keystore import KeyStore
from labkit.front.outside_lab import ResetPoint, ShiftedClock, cloud_link, key_store, outside_lab, settings_of
from labkit.seeded import START_NS, SeededEntropy, start
from labkit.service.message import respond
from labkit.vault.core import Environment, Settings
from labkit.vault.storage.memory import MemoryStorage

MINE = "6f9619ff-8b86-4011-b42d-00c04fc964ff"


def test_clock_entropy_and_contents_go_back() -> None:
    clock, entropy, storage = ShiftedClock(lambda: 5), SeededEntropy(1, "a"), MemoryStorage()
    environment = Environment(clock, entropy, lambda kind, **fields: None, lambda fetch: None)  # type: ignore[arg-type, return-value]  # fetches nothing
    storage.apply({"a": b"1"}, 0)
    entropy(8)
    point = ResetPoint(storage, environment, {"serial": 3})
    storage.apply({"a": b"2"}, 0)
    expected = SeededEntropy(1, "a", counter=1)(8)
    entropy(8)
    clock.shift_ns = 7
    point.rewind(environment)

    assert (clock(), entropy(8), point.storage().get("a")) == (5, expected, b"1")
    assert point.state == {"serial": 3}


def test_a_clock_stands_where_its_base_does_until_it_is_moved_forward() -> None:
    clock = ShiftedClock(lambda: 5)

    assert (clock(), clock.shift_ns) == (5, 0)
    clock.shift_ns += 7
    assert clock() == 12


def test_without_a_seed_entropy_is_real_and_stays_where_it_is() -> None:
    clock = ShiftedClock(lambda: 5)
    environment = Environment(clock, os.urandom, lambda kind, **fields: None, lambda fetch: respond(500))
    point = ResetPoint(MemoryStorage({"a": b"1"}), environment, {})
    clock.shift_ns = 7
    point.rewind(environment)

    assert (clock(), point.storage().get("a")) == (5, b"1")


def test_time_and_entropy_come_from_the_system_or_from_a_seed() -> None:
    system, seeded = outside_lab(None), outside_lab(None, 7)

    assert isinstance(system.now, ShiftedClock)
    assert (system.now.base, system.now.shift_ns, system.entropy) == (real.now, 0, real.entropy)
    assert (seeded.now(), seeded.entropy(16)) == (START_NS, SeededEntropy(7, "vault")(16))
    for environment in (outside_lab(lambda: 5), outside_lab(lambda: 5, 7)):
        assert environment.now() == 5
        assert environment.observe("anything", field=1) is None
        assert environment.fetch.__name__ == "no_outside"


def test_ids_of_requests_are_drawn_many_at_once_and_never_twice() -> None:
    draw, other = outside_lab(None).request_id, outside_lab(lambda: 5).request_id
    assert draw is not None
    assert other is draw, "one pool for all vaults in real time"
    drawn = [draw() for _ in range(200)]

    assert len({*drawn}) == 200
    assert all(str(UUID(each)) == each for each in drawn)
    assert outside_lab(None, 7).request_id is None


def configured(**environ: str) -> list[str]:
    """What the link to a cloud asks a vault that has these variables, when the cloud is asked for."""
    vault = Vault.dev(seed=7, environ=environ)
    asked: list[str] = []

    def handle(request: Any) -> Any:
        asked.append(request.method)
        return respond(404 if request.method == "GET" else 204)

    cloud_link(vault.core, seed=7).connect(handle, "t")
    return asked


def test_a_vault_that_variables_configure_is_left_to_them() -> None:
    assert configured() == configured(HOME="x") == ["GET", "POST"]
    assert configured(CLOUD_TENANT_ID="x") == configured(HOME="x", CLOUD_TENANT_ID="x") == []


def test_a_cloud_has_the_vault_s_clock_and_seed_unless_one_is_given() -> None:
    vault = Vault.dev(seed=7)
    own = cloud_link(vault.core, seed=7).connect(vault.handle, "")
    given, of_a_lab = Cloud.dev(seed=3), CloudService.filled(start, SeededEntropy(3, "cloud"))

    assert own.state() == Cloud.dev(seed=7, clock=start).state()
    vault.advance("1h")
    assert own.parts.now() == vault.now() == START_NS + 3_600 * 10**9
    assert cloud_link(vault.core, given=given).connect(vault.handle, "") is given
    assert given.parts.now() == vault.now()
    assert cloud_link(vault.core, given=of_a_lab).connect(vault.handle, "") is of_a_lab
    assert of_a_lab.parts.now() == START_NS


def test_a_key_store_is_the_given_one_or_is_made_once() -> None:
    given = KeyStore.dev(seed=1)
    own, other = (key_store(Vault.dev(seed=1).core, 7) for _ in range(2))

    assert key_store(Vault.dev(seed=1).core, 7, given)() is given
    assert own() is own() is not other()
    for store in (own(), other()):
        store.generate("a")
    assert own().state() == other().state()


@pytest.mark.parametrize(
    ("chosen", "version"),
    [
        ({}, "1.16.3+ent"),
        ({"edition": "enterprise"}, "1.16.3+ent"),
        ({"edition": "community"}, "1.16.3"),
        ({"edition": "community", "version": "1.15.0+ent"}, "1.15.0+ent"),
        ({"version": "1.15.0"}, "1.15.0"),
    ],
)
def test_the_community_edition_has_a_version_of_its_own_unless_one_is_chosen(
    chosen: dict[str, Any], version: str
) -> None:
    assert settings_of(chosen) == Settings(**{**chosen, "version": version})


def test_variables_are_shown_by_their_names_only() -> None:
    settings = settings_of({"environ": {"CLOUD_CLIENT_SECRET": "hidden"}, "node": "n1"})

    assert settings.environ == {"CLOUD_CLIENT_SECRET": "hidden"}
    assert settings.node == "n1"
    assert "CLOUD_CLIENT_SECRET" in repr(settings)
    assert "hidden" not in repr(settings)


def test_a_configuration_of_one_s_own_stays_unless_it_is_to_give_way() -> None:
    vault = Vault.dev(seed=7)
    mine = {**vault.cloud.config, "tenant_id": MINE}
    assert vault.post("auth/cloud/config", mine).ok

    def tenant(how: dict[str, Any]) -> str:
        cloud_link(vault.core, seed=8, **how).connect(vault.handle, vault.root_token)
        found: str = vault.get("auth/cloud/config").data["tenant_id"]
        return found

    assert tenant({}) == tenant({"replaces": False}) == MINE
    assert tenant({"replaces": True}) != MINE
