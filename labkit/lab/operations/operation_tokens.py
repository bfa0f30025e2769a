"""Operation tokens: the ceremony in which key shares make one, and steps that are gone through with one."""

from __future__ import annotations

from labkit.lab.operations.kept_values import UnknownValue, filled_text
from labkit.lab.operations.runbook_effects import (
    Ask,
    KeepValues,
    LookUpCredentials,
    LookUpValues,
    Runbook,
    RunbookError,
    Steps,
    check,
)
from labkit.service.encoding import from_unpadded_base64
from labkit.service.errors import ATTEMPT_IN_PROGRESS

DR = "sys/replication/dr/"
DELETE_TOKEN = DR + "secondary/operation-token/delete"


def generate_token(cluster: str) -> Runbook:
    """Go through the ceremony: start an attempt, give key shares until it is complete, decode with the OTP."""
    attempt = DR + "secondary/generate-operation-token/"
    keys = yield LookUpCredentials(cluster)
    answer = yield Ask(cluster, "POST", attempt + "attempt", {})
    if answer.code == ATTEMPT_IN_PROGRESS:
        check((yield Ask(cluster, "DELETE", attempt + "attempt")), "cancel the attempt that runs")
        answer = yield Ask(cluster, "POST", attempt + "attempt", {})
    started = check(answer, f"start an operation token on {cluster}").body or {}
    for share in keys.unseal_keys[: started["required"]]:
        answer = yield Ask(cluster, "POST", attempt + "update", {"key": share, "nonce": started["nonce"]})
        check(answer, f"give a key share to {cluster}")
    return _decoded((answer.body or {})["encoded_token"], started["otp"])


def operation_token(cluster: str, keep: str) -> Runbook:
    """Go through the ceremony and keep the operation token under a name."""
    token = yield from generate_token(cluster)
    yield KeepValues(((keep, token),))
    return f"an operation token of {cluster} is kept as {keep}"


def decode(value: str, otp: str, keep: str) -> Runbook:
    """Decode an encoded token with its one-time password and keep it; a wrong one of that length gives nonsense."""
    encoded, key = (yield from kept_text(value)), (yield from kept_text(otp))
    try:
        token = _decoded(encoded, key)
    except ValueError as error:
        raise RunbookError(f"decode: {error}") from None
    yield KeepValues(((keep, token),))
    return f"decoded, kept as {keep}"


def kept_text(text: str) -> Runbook:
    """Return a text with what is kept in place of each reference."""
    try:
        return filled_text(text, (yield LookUpValues()))
    except UnknownValue as error:
        raise RunbookError(str(error)) from None


def deleting(cluster: str, token: str, steps: Steps) -> Steps:
    """Go through steps with an operation token, and delete it however they end."""
    delete = Ask(cluster, "POST", DELETE_TOKEN, {"dr_operation_token": token})
    try:
        yield from steps
    except RunbookError:
        yield delete
        raise
    yield delete


def _decoded(encoded: str, otp: str) -> str:
    """Return the token of an encoded one; raise ValueError for a password of another length."""
    hidden, key = from_unpadded_base64(encoded), otp.encode()
    if len(hidden) != len(key):
        raise ValueError(f"expected a one-time password of {len(hidden)} characters, got {len(key)}")
    return bytes(a ^ b for a, b in zip(hidden, key, strict=True)).decode("latin-1")
