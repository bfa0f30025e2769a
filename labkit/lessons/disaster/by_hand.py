"""By hand: key shares make an operation token, it promotes, and it is deleted.

The key shares were changed at paris, and tokyo's operator still has the old ones: no verb of tokyo does it instead.
"""

from __future__ import annotations

from base64 import b64decode
from contextlib import suppress
from typing import Any, NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.disaster.region import calm_pair, take_orders, takes_writes
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart, mode_said

SECONDARY = "sys/replication/dr/secondary"
ATTEMPT = f"{SECONDARY}/generate-operation-token"
STORED = "node/operation-token"
SEED = 55


class ByHandSeen(NamedTuple):
    """How far the token is, what tokyo is, whether it takes writes, and whether an operation token is left there.

    ``shares`` is how many were given for the attempt that is open, -1 where none is.
    """

    shares: int
    issued: bool
    mode: str
    takes_writes: bool
    token_left: bool


@KeptStart
def start() -> Lab:
    """Return a pair whose primary lost its power twenty seconds ago."""
    lab = calm_pair(SEED)
    lab["paris"].rekey()
    lab.run("5s")
    take_orders(lab, 20)
    lab.crash("paris")
    lab.run("20s")
    return lab


def look(branch: Lab) -> ByHandSeen:
    """Look at tokyo: the attempt, its mode, its answer to a write, its operation token."""
    attempt = branch["tokyo"].get(f"{ATTEMPT}/attempt", token="").body or {}
    shares = int(attempt["progress"]) if attempt.get("started") else -1
    issued = bool(branch.trace.select("observed", what="operation token issued"))
    left = bool(branch.parts.stores["tokyo"].get(STORED))
    return ByHandSeen(shares, issued, branch["tokyo"].mode, takes_writes(branch, "tokyo"), left)


def _shares_given(seen: ByHandSeen) -> str:
    if seen.shares < 0:
        return "no attempt to make an operation token is open at tokyo, and none came to its end"
    return f"an attempt is open at tokyo, and {seen.shares} of 3 shares were given that count"


def unmasked(encoded_token: str, otp: str) -> str:
    """Take the mask off an operation token: byte by byte, by the one-time password."""
    raw = b64decode(encoded_token + "=" * (-len(encoded_token) % 4))
    return "".join(chr(one ^ ord(other)) for one, other in zip(raw, otp, strict=True))


def _token(lab: Lab, shares: tuple[str, ...], otp: str = "") -> str:
    """Make an operation token from key shares, under a mask that tokyo chooses or one of one's own."""
    tokyo = lab["tokyo"]
    begun: Any = tokyo.post(f"{ATTEMPT}/attempt", {"otp": otp} if otp else {}, token="").body
    answer: Any = {}
    for share in shares:
        answer = tokyo.post(f"{ATTEMPT}/update", {"key": share, "nonce": begun["nonce"]}, token="").body or {}
    return unmasked(answer["encoded_token"], otp or begun["otp"]) if answer.get("encoded_token") else begun["otp"]


def by_requests(lab: Lab) -> None:
    """Begin an attempt, give three shares, take the mask away, promote, and delete the token."""
    body = {"dr_operation_token": _token(lab, lab["paris"].unseal_keys[:3])}
    lab["tokyo"].post(f"{SECONDARY}/promote", body, token="")
    lab.run("2s")
    lab["tokyo"].post(f"{SECONDARY}/operation-token/delete", body, token="")


def under_a_mask_of_ones_own(lab: Lab) -> None:
    """The same with a mask that you choose, of as many characters as the token, and with other shares."""
    body = {"dr_operation_token": _token(lab, lab["paris"].unseal_keys[2:], otp="0123456789abcdefghijklmnopqr")}
    lab["tokyo"].post(f"{SECONDARY}/promote", body, token="")
    lab["tokyo"].post(f"{SECONDARY}/operation-token/delete", body, token="")


def _promote(lab: Lab, token: str) -> None:
    lab["tokyo"].post(f"{SECONDARY}/promote", {"dr_operation_token": token}, token="")


def _token_left(lab: Lab) -> None:
    _promote(lab, _token(lab, lab["paris"].unseal_keys[:3]))
    lab.run("2s")


def _two_shares(lab: Lab) -> None:
    _promote(lab, _token(lab, lab["paris"].unseal_keys[:2]))
    lab.restart("paris")  # it did not work, so the power is waited for


def _old_shares(lab: Lab) -> None:
    _promote(lab, _token(lab, lab["tokyo"].unseal_keys[:3]))
    lab.restart("paris")


def _cancelled(lab: Lab) -> None:
    lab["tokyo"].post(f"{ATTEMPT}/attempt", {}, token="")
    lab["tokyo"].delete(f"{ATTEMPT}/attempt", token="")
    _promote(lab, "none")
    lab.restart("paris")


def _root_token(lab: Lab) -> None:
    lab["tokyo"].post(f"{SECONDARY}/promote", {"dr_operation_token": lab["tokyo"].root_token, "force": True})
    lab.restart("paris")


def _by_the_verb(lab: Lab) -> None:
    with suppress(RuntimeError):  # it has the old shares
        lab["tokyo"].promote()
    lab.restart("paris")


def _still_masked(lab: Lab) -> None:
    tokyo = lab["tokyo"]
    begun: Any = tokyo.post(f"{ATTEMPT}/attempt", {}, token="").body
    answer: Any = {}
    for share in lab["paris"].unseal_keys[:3]:
        answer = tokyo.post(f"{ATTEMPT}/update", {"key": share, "nonce": begun["nonce"]}, token="").body
    _promote(lab, answer["encoded_token"])
    lab.restart("paris")


def _out_of_replication(lab: Lab) -> None:
    body = {"dr_operation_token": _token(lab, lab["paris"].unseal_keys[:3])}
    lab["tokyo"].post(f"{SECONDARY}/disable", body, token="")


def _deleted_too_early(lab: Lab) -> None:
    body = {"dr_operation_token": _token(lab, lab["paris"].unseal_keys[:3])}
    lab["tokyo"].post(f"{SECONDARY}/operation-token/delete", body, token="")
    lab["tokyo"].post(f"{SECONDARY}/promote", body, token="")
    lab.restart("paris")


def _wrong_cluster(lab: Lab) -> None:
    lab.restart("paris")
    lab["paris"].unseal()


BY_HAND = Exercise(
    name="by_hand",
    title="By hand",
    goal="by requests and the shares that people hold, tokyo takes writes as a primary, and no operation token is left "
    "there.",
    start=start,
    look=look,
    conditions=(
        Condition(
            name="a token",
            holds=lambda seen: seen.issued,
            says=_shares_given,
            asks="An operation token has to be made at tokyo, from three shares.",
            hints=(
                "Look at each answer: `.status`, `.errors` and `.body`, where `progress` counts the shares.",
                "Three of five shares, each with the nonce of the one attempt that is open. Of "
                "shares that do not belong to this cluster the last one is refused and sets the progress to 0; the "
                "attempt, its nonce and its mask stay. `DELETE` on the attempt ends them all.",
                "a `POST` to `update` for each of three shares of paris: "
                '`{"key": share, "nonce": begun.body["nonce"]}`, with `token=""`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="primary",
            holds=lambda seen: seen.mode == "primary" and seen.takes_writes,
            says=lambda seen: (
                f"an operation token was made, tokyo is {mode_said(seen.mode)} and takes "
                f"{'writes' if seen.takes_writes else 'no writes'}"
            ),
            asks="tokyo has to take writes, as a primary.",
            hints=(
                "Look at the answer to `promote`: `.status` and `.errors`.",
                "What the last share brings is the token under a mask. The mask is in the first answer only.",
                '`unmasked(last.body["encoded_token"], begun.body["otp"])` is the `dr_operation_token`',
            ),
        ),
        Condition(
            name="no token left",
            holds=lambda seen: not seen.token_left,
            says=lambda seen: "an operation token is still valid at tokyo",
            asks="The operation token has to be gone: whoever finds it may promote this cluster, or take it out "
            "of replication, without any key share.",
            hints=(
                "What have you made that outlives the switch?",
                "An operation token is valid until it is deleted. It is none of the tokens below `auth/`: what revokes "
                "those knows nothing of it.",
                f"`POST {SECONDARY}/operation-token/delete` with the token itself",
            ),
        ),
    ),
    ways={"by requests": by_requests, "under a mask of one's own": under_a_mask_of_ones_own},
    traps=(
        Trap(name="token left", act=_token_left, refused_by="no token left"),
        Trap(name="two shares only", act=_two_shares, refused_by="a token"),
        Trap(name="old shares", act=_old_shares, refused_by="a token"),
        Trap(name="attempt cancelled", act=_cancelled, refused_by="a token"),
        Trap(name="the root token", act=_root_token, refused_by="a token"),
        Trap(name="the verb", act=_by_the_verb, refused_by="a token"),
        Trap(name="the mask left on", act=_still_masked, refused_by="primary"),
        Trap(name="deleted too early", act=_deleted_too_early, refused_by="primary"),
        Trap(name="out of replication", act=_out_of_replication, refused_by="primary"),
        Trap(name="the wrong cluster", act=_wrong_cluster, refused_by="a token"),
    ),
)
