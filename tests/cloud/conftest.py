"""A cloud as ``Cloud.dev`` makes it, with a clock that tests move, and whoever asks its APIs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit.front.cloud import Cloud
from labkit.seeded import START_NS, SeededEntropy
from labkit.service.message import Fetch, Request, Response

PUBLIC = "https://{}.cloud.test"


class MovedClock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now_ns = START_NS

    def __call__(self) -> int:
        return self.now_ns

    def move(self, seconds: float) -> None:
        self.now_ns += int(seconds * 1e9)


@pytest.fixture(scope="session")
def filled() -> dict[str, Any]:
    """The state of a filled cloud whose keys are made."""
    cloud = Cloud.dev(seed=1)
    assert cloud.jwks()
    return cloud.state()


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def cloud(filled: dict[str, Any], clock: MovedClock) -> Cloud:
    return Cloud(clock, SeededEntropy(2, "test"), filled)


Ask = Callable[..., Any]  # an answer whose body is there


@pytest.fixture
def ask(cloud: Cloud) -> Ask:
    """Ask a part of the public cloud: ``ask("management", "GET", path, body, token=...)``."""

    def asked(part: str, method: str, path: str, body: Any = None, token: str = "", **headers: str) -> Response:
        sent = {**headers, **({"Authorization": f"Bearer {token}"} if token else {})}
        return cloud.answer(Fetch(PUBLIC.format(part), Request(method, path, sent, body)))

    return asked


@pytest.fixture
def token_for(cloud: Cloud, ask: Ask) -> Callable[..., str]:
    """Return a token that the application of the vault gets for an audience."""

    def got(part: str) -> str:
        sent = {**credentials(cloud), "resource": PUBLIC.format(part) + "/"}
        token: str = ask("login", "POST", f"/{cloud.config['tenant_id']}/oauth2/token", sent).body["access_token"]
        return token

    return got


def credentials(cloud: Cloud) -> dict[str, str]:
    """What the application sends to get a token, but for the audience."""
    config = cloud.config
    return {"grant_type": "client_credentials"} | {name: config[name] for name in ("client_id", "client_secret")}
