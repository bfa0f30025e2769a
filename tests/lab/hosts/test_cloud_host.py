"""Cloud host: a lab's cloud answers over the network, late or never as it was asked to, and is saved with the lab."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.hosts.cloud_host import OF_CLOUD, CloudHost
from labkit.lab.plan.blueprint import BalancerPlan, CloudPlan, pair
from labkit.lab.wire.messages import ApiAnswer, ApiRequest, Correlation
from labkit.service.message import Request

KEYS = "/common/discovery/keys"


class Asker:
    """A node's place on the network: asks the cloud, and keeps when what came."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.came: list[tuple[int, Any]] = []
        self.node, lab.parts.hosts["paris-1"] = lab.parts.hosts["paris-1"], self

    def receive(self, source: str, message: Any) -> None:
        if source != "cloud":
            self.node.receive(source, message)
            return
        self.came.append((self.lab.now, message))

    def on_timer(self, timer: Any) -> None:
        self.node.on_timer(timer)

    def ask(self, path: str = KEYS, host: str = "login.cloud.test", number: int = 1) -> int:
        """Ask; return when."""
        request = ApiRequest(Correlation("paris-1", number), Request("GET", path, {"Host": host}))
        self.lab.network.send("paris-1", "cloud", "request", request, 160)
        return self.lab.now


@pytest.fixture
def lab() -> Lab:
    return Lab(replace(pair(), cloud=CloudPlan(site="tokyo")), seed=5)


def host_of(lab: Lab) -> CloudHost:
    return lab.parts.clouds["cloud"]


def test_an_answer_takes_the_way_there_and_back(lab: Lab) -> None:
    asker = Asker(lab)
    asked_ns = asker.ask()
    lab.run("1s")
    ((at_ns, message),) = asker.came

    assert message == ApiAnswer(Correlation("paris-1", 1), message.response)
    assert message.response.body == lab.cloud.jwks()
    assert 160 <= (at_ns - asked_ns) / 1e6 <= 164
    assert repr(host_of(lab)) == "CloudHost(cloud at tokyo)"


def test_a_slow_part_takes_its_time_and_a_silent_one_answers_nothing(lab: Lab) -> None:
    asker = Asker(lab)
    lab.cloud.slow("5s", "keys")
    asked_ns = asker.ask()
    lab.run("2s")
    assert asker.came == []
    again = Lab.restore(lab.snapshot())  # an answer that takes its time is on the clock
    lab.run("4s")
    assert 5.16 <= (asker.came[0][0] - asked_ns) / 1e9 <= 5.17
    again.run("4s")
    assert again.trace.digest() == lab.trace.digest()
    lab.cloud.restore()
    lab.cloud.outage("keys")
    asker.ask()
    lab.run("5s")
    assert len(asker.came) == 1


def test_cuts_and_the_like_concern_the_cloud_too(lab: Lab) -> None:
    asker = Asker(lab)
    lab.partition("paris", "tokyo")
    asker.ask()
    lab.run("2s")

    assert asker.came == []


def test_what_is_no_request_is_refused_and_counted(lab: Lab) -> None:
    host, before = host_of(lab), len(lab.trace)
    nothing: Any = None
    asked = (ApiRequest(Correlation("a", 1), nothing), ApiRequest(nothing, Request("GET", "/")))
    for odd in (None, 7, ApiAnswer(Correlation("a", 1), nothing), *asked):
        host.receive("paris-1", odd)

    assert host.refused_messages == 5
    assert len(lab.trace) == before + 5


def test_a_machines_endpoint_is_no_host_of_the_network(lab: Lab) -> None:
    asker = Asker(lab)
    asker.ask("/metadata/instance?api-version=1", "169.254.169.254")
    lab.run("1s")

    assert asker.came[0][1].response.status == 401


def test_it_is_saved_with_the_lab(lab: Lab) -> None:
    lab.cloud.vm("web-1").token()
    lab.cloud.fail_next("keys", 503, 3)
    host_of(lab).receive("paris-1", None)
    again = Lab.restore(lab.snapshot())

    assert host_of(again).state() == host_of(lab).state()
    for each in (lab, again):
        each.cloud.vm("web-2").token("api://x")
        each.cloud.roll_keys()
    assert again.cloud.vm("web-2").token("api://x") == lab.cloud.vm("web-2").token("api://x")


def test_it_comes_when_it_is_asked_for() -> None:
    lab = Lab.pair(seed=5)
    assert "cloud" not in lab.network.hosts()
    assert lab["tokyo"].cloud is lab.cloud is lab["paris"].cloud
    assert host_of(lab).site == "paris"
    again = Lab.restore(lab.snapshot())

    assert again.cloud.state() == lab.cloud.state()
    assert lab.cloud.parts.now() == lab.parts.start_wall_ns + lab.now


def test_its_name_is_its_own() -> None:
    balancer = BalancerPlan(name="cloud", site="paris", use=("paris",))
    taken = replace(pair(), balancers=(balancer,))

    with pytest.raises(ValueError, match="the cloud's host is called cloud, as another one of this lab is"):
        Lab(taken, seed=5).cloud  # noqa: B018  # the look-up itself is what is tested
    with pytest.raises(ValueError, match="a name of its own for each host, got 'cloud'"):
        Lab(replace(taken, cloud=CloudPlan(site="paris")), seed=5)
    with pytest.raises(ValueError, match="cloud, site: expected a site, got 'moon'"):
        Lab(replace(pair(), cloud=CloudPlan(site="moon")), seed=5)


def test_operators_have_what_a_login_method_needs(lab: Lab) -> None:
    values = host_of(lab).values()

    assert tuple(values) == tuple(f"cloud.{name}" for name in OF_CLOUD)
    assert values["cloud.client_secret"] == lab.cloud.config["client_secret"]
    assert values["cloud.web-1.token"] == lab.cloud.vm("web-1").token()
    assert set(values) <= set(lab.parts.console.values())
    lab.cloud.outage("machine")
    assert "cloud.web-2.token" not in host_of(lab).values()
