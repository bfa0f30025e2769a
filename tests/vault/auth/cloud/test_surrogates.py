"""Halves of surrogate pairs: JSON can escape them, nothing can write them; they are judged where text comes in.

Each field of each answer from outside holds one, in turn, and each claim and header of a signed token.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from labkit.cloud.signatures import sign
from labkit.front.cloud import Cloud
from labkit.service.message import Fetch, Response

HALF = "\ud800"


def spoiled(value: Any) -> Iterator[Any]:
    """A value with half a pair in place of each of its parts, after each of its texts, and in each name."""
    yield HALF
    if isinstance(value, str):
        yield value + HALF
    elif isinstance(value, dict):
        yield {**value, HALF: HALF}
        for name, member in value.items():
            others = {each: kept for each, kept in value.items() if each != name}
            yield {**others, name + HALF: member}
            yield from ({**value, name: each} for each in spoiled(member))
    elif isinstance(value, list):
        for place, member in enumerate(value):
            yield from ([*value[:place], each, *value[place + 1 :]] for each in spoiled(member))


def whole(answer: Response) -> Iterator[Response]:
    """An answer with half a pair in each of its parts."""
    for body in spoiled(answer.body):
        yield answer._replace(body=body)
    yield answer._replace(status=429, headers={"Retry-After": HALF, HALF: "1", "retry-after-ms": "5" + HALF})


@pytest.mark.parametrize(
    ("word", "asked"),
    [
        ("openid-configuration", "login"),
        ("/keys", "login"),
        ("/oauth2/token", "login"),
        ("/virtualmachines/", "login"),
        ("/oauth2/token", "rotate-root"),
        ("/applications?", "rotate-root"),
        ("addPassword", "rotate-root"),
        ("removePassword", "rotate-root"),
    ],
)
def test_no_field_of_an_upstream_answer_is_more_than_refused(stand, word, asked) -> None:
    application = stand.cloud.inventory.applications[stand.cloud.config["client_id"]]
    answers: list[Response] = []

    def instead(fetch: Fetch) -> Response | None:
        if word not in fetch.request.path:
            return None
        if not answers:
            stand.instead.clear()  # so that the honest answer comes
            honest = Cloud.answer(stand.cloud, fetch)
            answers.extend([honest, *whole(honest)])
            return honest
        return answers[-1]

    def ask() -> Response:
        stand.vault.post("auth/cloud/config", {**stand.cloud.config, "max_retries": 0}).raise_for_status()
        stand.cloud.inventory.keep_secrets(
            stand.cloud.inventory.applications[application.client_id], application.secrets
        )
        answer: Response = stand.login(role="web") if asked == "login" else stand.vault.post("auth/cloud/rotate-root")
        return answer

    stand.instead[:] = [instead]
    assert ask().ok
    assert len(answers) > 2
    stand.instead[:] = [instead]
    while len(answers) > 1:
        answer = ask()
        assert answer.status in (200, 204, 403, 503), answers[-1]
        assert json.dumps(answer.body, ensure_ascii=False).encode()
        answers.pop()
    stand.instead.clear()
    stand.cloud.inventory.keep_secrets(stand.cloud.inventory.applications[application.client_id], application.secrets)


def test_no_claim_of_a_signed_token_is_more_than_refused(stand) -> None:
    keys = stand.cloud.parts.keys["CloudPublicCloud"]
    private = keys.private(keys.signing)
    header, claims = (
        json.loads(base64.urlsafe_b64decode(part + "==")) for part in stand.cloud.mint("web-1").split(".")[:2]
    )

    def token(header: Any, claims: Any) -> str:
        parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (header, claims))
        signed = ".".join(parts)
        made = sign("RS256", private, signed.encode())
        return f"{signed}.{base64.urlsafe_b64encode(made).rstrip(b'=').decode()}"

    assert stand.login(role="web", jwt=token(header, claims)).ok
    for odd in ({**claims, "groups": [HALF]}, {**claims, "appid": {"a": [HALF]}}, *spoiled(claims)):
        assert stand.login(role="web", jwt=token(header, odd)).status in (400, 403), odd
    for odd in spoiled(header):
        assert stand.login(role="web", jwt=token(odd, claims)).status in (400, 403), odd
    assert "claim_form" in stand.reasons
