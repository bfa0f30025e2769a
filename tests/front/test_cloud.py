"""Cloud: one that is made by hand: its clock, its seed, its environment."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from labkit import Cloud as FrontDoorCloud
from labkit import Lab, Vault
from labkit.front.cloud import Cloud
from labkit.seeded import START_NS, SeededEntropy, start
from labkit.service.cloud_environments import ENVIRONMENTS
from tests.cloud.conftest import MovedClock
from tests.counting import calls_made


def test_the_front_door_has_it() -> None:
    assert FrontDoorCloud is Cloud


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"environment": "MoonCloud"}, "environment: expected a cloud environment"),
        ({"clock": 7}, "clock: expected a function"),
        ({"seed": -1}, "seed: expected a whole number"),
    ],
)
def test_a_cloud_that_cannot_be_made_is_refused(how: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Cloud.dev(**how)


def test_a_cloud_without_a_clock_takes_that_of_the_first_vault() -> None:
    clock = MovedClock()
    free, own = Cloud.dev(seed=3), Cloud.dev(seed=3, clock=clock)
    first, second = (lambda: 10**18), (lambda: 2 * 10**18)
    for each in (free, own):
        each.follow(first)
        each.follow(second)

    assert free.parts.now() == 10**18
    assert own.parts.now() == clock()
    vault = Vault.dev(seed=7, cloud=Cloud.dev(seed=3))
    vault.advance("2h")
    assert vault.cloud.parts.now() == vault.now()


@pytest.mark.parametrize(("its_seed", "seed"), [(3, None), (None, 7)])
def test_machines_log_in_though_their_cloud_was_made_at_another_time(its_seed: int | None, seed: int | None) -> None:
    cloud = Cloud.dev(seed=its_seed)
    before = cloud.vm("web-1").token()
    vault = Vault.dev(seed=seed, cloud=cloud)
    vault.post("auth/cloud/role/web", {"bound_resource_groups": "web"})

    assert cloud.vm("web-1").token() != before
    assert cloud.vm("web-1").login(vault, role="web").status == 200


def test_a_cloud_in_another_environment() -> None:
    cloud = Cloud.dev(seed=3, environment="CloudGermanCloud")

    assert cloud.config["resource"] == "https://management.german.cloud.test/"
    assert cloud.config["environment"] == "CloudGermanCloud"
    assert cloud.vm("web-1").resource == cloud.config["resource"]


def test_a_seed_gives_the_same_ids_and_secrets() -> None:
    first, second = (Cloud.dev(seed=4) for _ in range(2))

    assert first.vm("web-1").token() == second.vm("web-1").token()
    assert first.state() == second.state() != Cloud.dev(seed=5).state()
    assert len({key["kid"] for name in ENVIRONMENTS for key in first.jwks(name)["keys"]}) == 2 * len(ENVIRONMENTS)
    assert Cloud.dev().config["client_secret"] != Cloud.dev().config["client_secret"]
    assert repr(first) == "Cloud(5 machines)"


def test_a_vault_beside_a_lab_s_cloud_leaves_it_its_clock() -> None:
    lab = Lab.pair(seed=7)
    cloud = lab.cloud
    before = cloud.parts.now()
    vault = Vault.dev(seed=7, cloud=cloud)

    vault.advance("2h")

    assert cloud.parts.now() == before


def test_one_that_was_not_made_by_hand_keeps_its_clock() -> None:
    filled = Cloud.filled(start, SeededEntropy(3, "cloud"))
    filled.follow(lambda: 5)

    assert filled.parts.now() == START_NS


def test_a_cloud_knows_whether_its_process_was_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.real._forks", -1)
    clouds = [Cloud.dev(), Cloud.dev(seed=3), Vault.dev().cloud, Lab.pair(seed=7).cloud]
    assert not any(cloud.use.is_forked() for cloud in clouds)
    monkeypatch.undo()

    assert all(cloud.use.is_forked() for cloud in clouds)


@pytest.mark.slow
def test_a_cloud_of_many_machines_gives_a_handle_and_a_token_as_one_of_few() -> None:
    few, many = Cloud.dev(seed=1), Cloud.dev(seed=1)
    group = many.inventory.machine("web-1").group
    for number in range(10_000):
        many.inventory.add_machine(f"m-{number}", group, "northeurope")
    works: tuple[Callable[[Any], object], ...] = (
        lambda cloud: cloud.vm("web-1"),
        lambda cloud: cloud.mint("web-1"),
        lambda cloud: cloud.vm("web-1").token(),
    )
    for work in works:
        for cloud in (few, many):
            work(cloud)  # what is kept after the first time is kept
        assert calls_made(partial(work, many)) <= 1.5 * calls_made(partial(work, few))
