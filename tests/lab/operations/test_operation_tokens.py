"""Operation tokens are made by the ceremony and kept by name, or made by hand and decoded."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.operations.runbook_effects import RunbookError

DR = "sys/replication/dr/secondary/"
ATTEMPT = DR + "generate-operation-token/"


def ask(lab: Lab, path: str, body: dict[str, Any], **options: Any) -> str:
    return lab.work_through("ask", cluster="tokyo", method="POST", path=path, body=body, options=options)


def test_a_token_is_kept_and_opens_what_it_should_until_it_is_deleted(calm: Lab) -> None:
    said = calm.work_through("operation-token", cluster="tokyo", keep="drop")
    body = {"dr_operation_token": "$(drop)"}

    assert said == "an operation token of tokyo is kept as drop"
    assert ask(calm, DR + "merkle-check", body, token="none").endswith("200")
    ask(calm, DR + "operation-token/delete", body, token="none")
    assert ask(calm, DR + "merkle-check", body, token="none", answer={"status": 403}).endswith("403")


@pytest.mark.parametrize(("otp", "status"), [("$(otp)", 200), ("x$(otp)", 0), ("$(other)", 403)])
def test_an_encoded_token_is_decoded_with_its_one_time_password(calm: Lab, otp: str, status: int) -> None:
    ask(calm, ATTEMPT + "attempt", {}, keep={"other": "otp"})
    calm.work_through("ask", cluster="tokyo", method="DELETE", path=ATTEMPT + "attempt")
    ask(calm, ATTEMPT + "attempt", {}, keep={"nonce": "nonce", "otp": "otp"})
    for number in (1, 2):
        ask(calm, ATTEMPT + "update", {"key": f"$(tokyo.share.{number})", "nonce": "$(nonce)"})
    ask(calm, ATTEMPT + "update", {"key": "$(tokyo.share.3)", "nonce": "$(nonce)"}, keep={"encoded": "encoded_token"})

    if not status:
        with pytest.raises(RunbookError, match=r"^decode: expected a one-time password of 28 characters, got 29$"):
            calm.work_through("decode", value="$(encoded)", otp=otp, keep="drop")
        return
    assert calm.work_through("decode", value="$(encoded)", otp=otp, keep="drop") == "decoded, kept as drop"
    ask(calm, DR + "merkle-check", {"dr_operation_token": "$(drop)"}, token="none", answer={"status": status})


@pytest.mark.parametrize(
    ("value", "said"),
    [("$(drop)", "nothing is kept under the name 'drop'; kept are: .*"), ("a", "decode: .*"), ("é", "decode: .*")],
)
def test_what_cannot_be_decoded_is_refused(calm: Lab, value: str, said: str) -> None:
    with pytest.raises(RunbookError, match=said):
        calm.work_through("decode", value=value, otp="abc", keep="drop")


def test_a_secondary_is_enabled_with_a_kept_activation_token(quiet: Lab) -> None:
    quiet["paris"].enable_primary()
    path, options = "sys/replication/dr/primary/secondary-token", {"keep": {"activation": "wrap_info.token"}}
    asked = {"cluster": "paris", "method": "POST", "path": path, "body": {"id": "east"}, "options": options}
    quiet.work_through("ask", **asked)
    quiet.run("1s")
    before = quiet["tokyo"].unseal_keys
    with pytest.raises(RunbookError, match="http://nowhere:8200"):
        quiet["tokyo"].enable_secondary("paris", token="$(activation)", address="http://nowhere:8200")
    said = quiet["tokyo"].enable_secondary("paris", token="$(activation)", address="http://paris-2:8200")

    assert said == "tokyo streams from paris"
    assert quiet["tokyo"].status()["secondary_id"] == "east"
    assert quiet.parts.console.values()["tokyo.former.share.1"] == before[0] != quiet["tokyo"].unseal_keys[0]
    with pytest.raises(RunbookError, match="tokyo is a secondary already"):
        quiet.work_through("enable-secondary", cluster="tokyo", primary="paris", token="$(activation)")
