"""By hand: key shares make an operation token, it promotes, and it is deleted."""

from __future__ import annotations

from base64 import b64decode
from typing import Any, NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.disaster.region import calm_pair, take_orders, takes_writes
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart

SECONDARY = "sys/replication/dr/secondary"
ATTEMPT = f"{SECONDARY}/generate-operation-token"
STORED = "node/operation-token"
SEED = 55


class ByHandSeen(NamedTuple):
    """What tokyo is, whether it takes writes, and whether an operation token or an attempt is left there."""

    mode: str
    takes_writes: bool
    token_left: bool


@KeptStart
def start() -> Lab:
    """Return a pair whose primary lost its power twenty seconds ago."""
    lab = calm_pair(SEED)
    take_orders(lab, 20)
    lab.crash("paris")
    lab.run("20s")
    return lab


def look(branch: Lab) -> ByHandSeen:
    """Look at tokyo: its mode, its answer to a write, its operation token."""
    left = bool(branch.parts.stores["tokyo"].get(STORED))
    return ByHandSeen(branch["tokyo"].mode, takes_writes(branch, "tokyo"), left)


def _token(lab: Lab, shares: int = 3) -> str:
    """Make an operation token from key shares: the answer to the last one is masked with the one-time password."""
    tokyo = lab["tokyo"]
    begun: Any = tokyo.post(f"{ATTEMPT}/attempt", {}, token="").body
    answer: Any = {}
    for share in tokyo.unseal_keys[:shares]:
        answer = tokyo.post(f"{ATTEMPT}/update", {"key": share, "nonce": begun["nonce"]}, token="").body
    masked = answer["encoded_token"]
    raw = b64decode(masked + "=" * (-len(masked) % 4))
    return "".join(chr(one ^ ord(other)) for one, other in zip(raw, begun["otp"], strict=True))


def by_requests(lab: Lab) -> None:
    """Begin an attempt, give three shares, take the mask away, promote, and delete the token."""
    body = {"dr_operation_token": _token(lab)}
    lab["tokyo"].post(f"{SECONDARY}/promote", body, token="")
    lab.run("2s")
    lab["tokyo"].post(f"{SECONDARY}/operation-token/delete", body, token="")


def by_a_runbook(lab: Lab) -> None:
    """Let a runbook make the token, promote with it by a request, and delete it."""
    body = {"dr_operation_token": lab["tokyo"].operation_token()}
    lab["tokyo"].post(f"{SECONDARY}/promote", body, token="")
    lab.run("2s")
    lab["tokyo"].post(f"{SECONDARY}/operation-token/delete", body, token="")


def _token_left(lab: Lab) -> None:
    lab["tokyo"].post(f"{SECONDARY}/promote", {"dr_operation_token": _token(lab)}, token="")
    lab.run("2s")


def _two_shares(lab: Lab) -> None:
    tokyo = lab["tokyo"]
    begun: Any = tokyo.post(f"{ATTEMPT}/attempt", {}, token="").body
    for share in tokyo.unseal_keys[:2]:
        tokyo.post(f"{ATTEMPT}/update", {"key": share, "nonce": begun["nonce"]}, token="")
    tokyo.post(f"{SECONDARY}/promote", {"dr_operation_token": begun["otp"]}, token="")
    lab.restart("paris")  # it did not work, so the power is waited for


def old_shares() -> tuple[str, ...]:
    """Return the shares that tokyo had before it followed paris, and got those of paris."""
    return Lab.pair(seed=SEED)["tokyo"].unseal_keys


def _old_shares(lab: Lab) -> None:
    tokyo = lab["tokyo"]
    begun: Any = tokyo.post(f"{ATTEMPT}/attempt", {}, token="").body
    for share in old_shares()[:3]:
        tokyo.post(f"{ATTEMPT}/update", {"key": share, "nonce": begun["nonce"]}, token="")
    tokyo.post(f"{SECONDARY}/promote", {"dr_operation_token": begun["otp"]}, token="")
    lab.restart("paris")


def _cancelled(lab: Lab) -> None:
    lab["tokyo"].post(f"{ATTEMPT}/attempt", {}, token="")
    lab["tokyo"].delete(f"{ATTEMPT}/attempt", token="")
    lab["tokyo"].post(f"{SECONDARY}/promote", {"dr_operation_token": "none"}, token="")
    lab.restart("paris")


def _root_token(lab: Lab) -> None:
    lab["tokyo"].post(f"{SECONDARY}/promote", {"dr_operation_token": lab["tokyo"].root_token, "force": True})
    lab.restart("paris")


def _disabled(lab: Lab) -> None:
    lab["tokyo"].disable()


def _deleted_too_early(lab: Lab) -> None:
    body = {"dr_operation_token": _token(lab)}
    lab["tokyo"].post(f"{SECONDARY}/operation-token/delete", body, token="")
    lab["tokyo"].post(f"{SECONDARY}/promote", body, token="")
    lab.restart("paris")


def _wrong_cluster(lab: Lab) -> None:
    lab.restart("paris")
    lab["paris"].unseal()


BY_HAND = Exercise(
    name="by_hand",
    title="By hand",
    goal="tokyo takes writes as a primary, and no operation token is left there.",
    start=start,
    look=look,
    conditions=(
        Condition(
            name="primary",
            holds=lambda seen: seen.mode == "primary" and seen.takes_writes,
            says=lambda seen: f"tokyo is {seen.mode} and takes {'writes' if seen.takes_writes else 'no writes'}",
            asks="tokyo has to take writes, as a primary.",
            hints=(
                "Look at the answer to each of your requests: `.status` and `.errors`.",
                "A secondary knows no tokens of clients. Whoever holds key shares makes an operation token: three of "
                "five, each sent with the nonce of one attempt. While it follows, it has its primary's shares.",
                "the last answer's `encoded_token` is base64 without padding, combined with the `otp` byte by byte (^)",
            ),
        ),
        Condition(
            name="no token left",
            holds=lambda seen: not seen.token_left,
            says=lambda seen: "an operation token is still valid at tokyo",
            asks="The operation token has to be gone: whoever finds it may take the cluster out of service.",
            hints=(
                "What have you made that outlives the switch?",
                "An operation token is valid until it is deleted.",
                f"`POST {SECONDARY}/operation-token/delete` with the token itself",
            ),
        ),
    ),
    ways={"by requests": by_requests, "the token by a runbook": by_a_runbook},
    traps=(
        Trap(name="token left", act=_token_left, refused_by="no token left"),
        Trap(name="two shares only", act=_two_shares, refused_by="primary"),
        Trap(name="old shares", act=_old_shares, refused_by="primary"),
        Trap(name="attempt cancelled", act=_cancelled, refused_by="primary"),
        Trap(name="the root token", act=_root_token, refused_by="primary"),
        Trap(name="deleted too early", act=_deleted_too_early, refused_by="primary"),
        Trap(name="out of replication", act=_disabled, refused_by="primary"),
        Trap(name="the wrong cluster", act=_wrong_cluster, refused_by="primary"),
    ),
)
