"""Outlived: a program whose ciphertexts open at the survivor, also where the newest key was still on the line."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from labkit.front.lab import Lab
from labkit.lab.snapshot import Snapshot
from labkit.lessons.attempts import is_blank
from labkit.lessons.disaster.region import calm_pair
from labkit.lessons.plan import Condition, Exercise, Trap

Seal = Callable[[Lab, str], Any]

KEY = "transit/keys/letters"
ENCRYPT, DECRYPT = "transit/encrypt/letters", "transit/decrypt/letters"
NOTE = b64encode(b"meet me at noon").decode()
DISTANCES = {"near": 1, "far": 4}


class TextSeen(NamedTuple):
    """What a program made in one lab: a ciphertext or not, and what the survivor answers when it is to be opened."""

    text: str
    is_ciphertext: bool
    status: int
    reason: str


class OutlivedSeen(NamedTuple):
    """Both distances."""

    near: TextSeen
    far: TextSeen


@cache
def _kept(name: str) -> Snapshot:
    lab = calm_pair(seed=57)
    lab["paris"].post(KEY, {})
    if DISTANCES[name] > 1:
        lab.slow("paris", "tokyo", factor=DISTANCES[name])
    lab.run("5s")
    lab["paris"].post(f"{KEY}/rotate", {})
    return lab.snapshot()


def rotated(name: str) -> Lab:
    """Return a pair, near or far, whose key was rotated this instant."""
    return Lab.restore(_kept(name))


def look(function: Seal) -> OutlivedSeen:
    """Have a text made at both distances; paris is lost in that instant, and tokyo has to open it."""
    return OutlivedSeen(*[_made(function, rotated(name)) for name in DISTANCES])


def _made(function: Seal, lab: Lab) -> TextSeen:
    try:
        made = function(lab, NOTE)
    except Exception as raised:  # the reader's own
        return TextSeen(f"it raised {type(raised).__name__}: {raised}{_last_refusal(lab)}", False, 0, "")
    lab.crash("paris")
    lab.run("5s")
    try:
        if lab["tokyo"].mode == "secondary":  # unless the function has moved the primary itself
            lab["tokyo"].promote()
        answer = lab["tokyo"].post(DECRYPT, {"ciphertext": made})
    except (TimeoutError, RuntimeError) as error:  # silence, or a promotion that is refused
        return TextSeen(_named(made), False, 0, str(error))
    is_ciphertext = isinstance(made, str) and made.startswith("vault:v")
    status = answer.status if not answer.ok or answer.data["plaintext"] == NOTE else 0
    return TextSeen(_named(made), is_ciphertext, status, "; ".join(answer.errors))


def _named(made: Any) -> str:
    return (
        f"it made {made[:12]!r}" if isinstance(made, str) else f"it made a {type(made).__name__}, which is not a text"
    )


def _last_refusal(lab: Lab) -> str:
    if not len(lab.ledger.failed_asks):
        return ""
    ask = lab.ledger.failed_asks[-1]
    return f"; before that {ask.method} {ask.path} at {ask.asker.removesuffix('-operator')} answered {ask.reason}"


def _answers(seen: TextSeen) -> str:
    return f"answers {seen.status}: {seen.reason}" if seen.status else "opens it, to another text than the plaintext"


def untouched(function: Seal) -> bool:
    """Whether a function is blank, and returns nothing."""
    return is_blank(function) and function(rotated("near"), NOTE) is None


def by_version(lab: Lab, note: str) -> Any:
    """Name the version that both have had for long."""
    return lab["paris"].post("transit/encrypt/letters", {"plaintext": note, "key_version": 1}).data["ciphertext"]


def by_lag(lab: Lab, note: str) -> Any:
    """Wait until nothing is on the line, and then take the newest."""
    while lab.lag("paris", "tokyo").entries:
        lab.run("50ms")
    return lab["paris"].post("transit/encrypt/letters", {"plaintext": note}).data["ciphertext"]


def _encrypt(lab: Lab, note: str) -> Any:
    return lab["paris"].post(ENCRYPT, {"plaintext": note}).data["ciphertext"]


def _rotate_again(lab: Lab, note: str) -> Any:
    lab["paris"].post(f"{KEY}/rotate", {})
    return _encrypt(lab, note)


def _rewrap(lab: Lab, note: str) -> Any:
    return lab["paris"].post("transit/rewrap/letters", {"ciphertext": by_version(lab, note)}).data["ciphertext"]


def _short_sleep(lab: Lab, note: str) -> Any:
    lab.run("50ms")
    return _encrypt(lab, note)


def _fixed_sleep(lab: Lab, note: str) -> Any:
    lab.run("150ms")
    return _encrypt(lab, note)


def _plain(lab: Lab, note: str) -> Any:
    return note


def _another_text(lab: Lab, note: str) -> Any:
    return by_version(lab, note[::-1])


def _at_the_secondary(lab: Lab, note: str) -> Any:
    return lab["tokyo"].post(ENCRYPT, {"plaintext": note}).data["ciphertext"]


OUTLIVED = Exercise(
    name="outlived",
    title="A ciphertext outlives its key",
    goal="a function of the lab and a plaintext in base64 that returns a ciphertext which tokyo can open, if paris is "
    "lost as soon as it has returned; the key was rotated just before.",
    look=look,
    takes=("a function of lab and plaintext",),
    arguments=2,
    untouched=untouched,
    conditions=(
        Condition(
            name="a ciphertext",
            holds=lambda seen: seen.near.is_ciphertext and seen.far.is_ciphertext,
            says=lambda seen: seen.near.text if not seen.near.is_ciphertext else seen.far.text,
            asks="It has to return a ciphertext of the key letters.",
            hints=(
                "Print what your function returns.",
                "A ciphertext names its engine and its version: vault, v1.",
                'the answer to `POST transit/encrypt/letters` has it in `data["ciphertext"]`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="opens",
            holds=lambda seen: seen.near.status == 200,
            says=lambda seen: f"tokyo {_answers(seen.near)}",
            asks="tokyo has to open it with the key letters after the loss of paris.",
            hints=(
                'Look at the version in the ciphertext, and at `lab.lag("paris", "tokyo").entries` at that instant.',
                "A rotation is a write like any other: for a while it is on the line.",
                '`"key_version": 1`, or wait until the lag is 0',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="from afar",
            holds=lambda seen: seen.far.status == 200,
            says=lambda seen: f"over four times the distance tokyo {_answers(seen.far)}",
            asks="It has to hold over another distance too.",
            hints=(
                'Try it in a lab after `lab.slow("paris", "tokyo", factor=4)`.',
                "A time that you choose is right for one distance. What you wait for can be asked.",
                '`lab.lag("paris", "tokyo").entries`',
            ),
        ),
    ),
    ways={"by version": by_version, "by lag": by_lag},
    traps=(
        Trap(name="encrypt at once", act=_encrypt, refused_by="opens"),
        Trap(name="rotate again", act=_rotate_again, refused_by="opens"),
        Trap(name="rewrap", act=_rewrap, refused_by="opens"),
        Trap(name="a short sleep", act=_short_sleep, refused_by="opens"),
        Trap(name="a fixed sleep", act=_fixed_sleep, refused_by="from afar"),
        Trap(name="no encryption", act=_plain, refused_by="a ciphertext"),
        Trap(name="another plaintext", act=_another_text, refused_by="opens"),
        Trap(name="at the secondary", act=_at_the_secondary, refused_by="a ciphertext"),
    ),
)
