"""token: a machine's token from a served cloud, and a sentence for whatever else comes."""

from __future__ import annotations

from collections.abc import Iterator

import jwt
import pytest

from labkit import Cloud, Vault
from labkit.cli import main
from labkit.commands import token
from labkit.commands.token import RESOURCE
from labkit.doors.cloud_door import CloudDoor


@pytest.fixture(scope="module")
def vault() -> Vault:
    return Vault.dev(seed=1)


@pytest.fixture(scope="module")
def cloud(vault: Vault) -> Cloud:
    return vault.cloud


@pytest.fixture(scope="module")
def url(cloud: Cloud) -> Iterator[str]:
    with CloudDoor(cloud.request) as address:
        yield address


def test_a_token_is_printed_for_the_vaults_audience_or_another(
    cloud: Cloud, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["token", "--vm", "web-1", "--url", url]) == 0
    assert capsys.readouterr().out.strip() == cloud.vm("web-1").token()
    assert cloud.vm("web-1").resource == RESOURCE
    own = cloud.vm("db-1").client_id
    assert main(["token", "--vm", "db-1", "--url", url + "/", "--resource", "api://x", "--client-id", own]) == 0
    claims = jwt.decode(capsys.readouterr().out.strip(), options={"verify_signature": False})
    assert (claims["aud"], claims["appid"]) == ("api://x", own)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--vm", "moon"], 1, "the cloud answered 404: name: expected a machine of this cloud, got 'moon'"),
        (["--vm", "web-1", "--client-id", "x"], 1, "the cloud answered 400: the machine has no such identity"),
        (["--vm", "web-1", "--resource", ""], 1, "the cloud answered 400: the parameter resource must name"),
        (["--vm", "a/b"], 1, "the cloud answered 404"),
        (["--vm", "web-1", "--url", "here"], 2, "--url: expected an address such as http://127.0.0.1:8201, got 'here'"),
        (["--vm", "web-1", "--url", "file:///etc"], 2, "--url: expected an address"),
        (["--vm", "web-1", "--url", "http://127.0.0.1:1"], 2, "no answer from http://127.0.0.1:1"),
        (["--vm", "web-1", "--url", "http://127.0.0.1:x"], 2, "http://127.0.0.1:x"),
        (["--vm", "web-1", "--ca-file", "none.pem"], 2, "none.pem"),
    ],
)
def test_whatever_else_comes_is_a_sentence(
    arguments: list[str], code: int, said: str, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = arguments if "--url" in arguments else [*arguments, "--url", url]

    assert main(["token", *given]) == code
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("status", "content", "code", "said"),
    [
        (400, b"[" * 100_000, 1, "the cloud answered 400: no text"),
        (400, b'{"error":' + b"[" * 600 + b"]" * 600 + b"}", 1, "the cloud answered 400: no text"),
        (400, b'{"error":{"message":{"a":1}}}', 1, "the cloud answered 400: no text"),
        (400, b'{"errors":5}', 1, "the cloud answered 400: no text"),
        (400, b'{"errors":["\\u001b[2Jgone\\u0007"]}', 1, "the cloud answered 400:  [2Jgone \n"),
        (400, b'{"error":"' + b"x" * 5_000 + b'"}', 1, "x" * 1_024 + "\n"),
        (200, b'{"access_token":"a\\u001b[2J"}', 2, "is not the cloud's address"),
        (200, b'{"access_token":"\\ud800"}', 2, "is not the cloud's address"),
        (200, b"[" * 100_000, 2, "is not the cloud's address"),
    ],
)
def test_an_answer_of_another_kind_is_a_sentence_that_a_terminal_can_show(
    status: int, content: bytes, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token, "_fetched", lambda url, ca_file: (status, token._object(content)))
        assert main(["token", "--vm", "web-1", "--url", "http://127.0.0.1:1"]) == code
    printed = capsys.readouterr()
    assert said in printed.err
    assert "\x1b" not in printed.err + printed.out


def test_the_address_of_the_vault_is_not_the_clouds(vault: Vault, capsys: pytest.CaptureFixture[str]) -> None:
    with vault.serve() as address:
        assert main(["token", "--vm", "web-1", "--url", address]) == 2
    said = f"{address} is not the cloud's address, which labkit serve prints (cloud_url): 404 came\n"
    assert capsys.readouterr().err.endswith(said)
