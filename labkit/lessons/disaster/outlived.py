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
from labkit.lessons.said import raised
from labkit.lessons.worlds import mode_said
from labkit.service.durations import SECOND_NS

Seal = Callable[[Lab, str], Any]

KEY = "transit/keys/letters"
ENCRYPT, DECRYPT = "transit/encrypt/letters", "transit/decrypt/letters"
NOTE = b64encode(b"meet me at noon").decode()
DISTANCES = {"near": 1, "far": 40}
MAX_NEAR_S = 2
"""How long a function may take where one crossing takes 80 ms; over the far line one takes longer than this."""


class TextSeen(NamedTuple):
    """What a program made in one lab: a ciphertext or not, and what the survivor answers when it is to be opened.

    ``took_s`` is how long the program took, ``moved`` what the clusters are if it has moved the primary.
    """

    text: str
    is_ciphertext: bool
    status: int
    reason: str
    took_s: float = 0
    moved: str = ""


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
    began_ns = lab.now
    try:
        made = function(lab, NOTE)
    except Exception as failure:  # the reader's own
        return TextSeen(f"it raised {raised(failure)}{_last_refusal(lab)}", False, 0, "")
    took_s, moved = (lab.now - began_ns) / SECOND_NS, _moved(lab)
    lab.crash("paris")
    lab.run("5s")
    try:
        if lab["tokyo"].mode == "secondary":  # unless the function has moved the primary itself
            lab["tokyo"].promote()
        answer = lab["tokyo"].post(DECRYPT, {"ciphertext": made})
    except (TimeoutError, RuntimeError) as error:  # silence, or a promotion that is refused
        return TextSeen(_named(made), False, 0, str(error), took_s, moved)
    is_ciphertext = isinstance(made, str) and made.startswith("vault:v")
    status = answer.status if not answer.ok or answer.data["plaintext"] == NOTE else 0
    return TextSeen(_named(made), is_ciphertext, status, "; ".join(answer.errors), took_s, moved)


def _moved(lab: Lab) -> str:
    if lab["tokyo"].mode == "secondary":
        return ""
    return " and ".join(f"{name} is {mode_said(lab[name].mode)}" for name in ("paris", "tokyo"))


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


def _one_second(lab: Lab, note: str) -> Any:
    lab.run("1s")
    return _encrypt(lab, note)


def _long_sleep(lab: Lab, note: str) -> Any:
    lab.run("10s")
    return _encrypt(lab, note)


def _promotes_itself(lab: Lab, note: str) -> Any:
    lab["tokyo"].promote()
    return lab["tokyo"].post(ENCRYPT, {"plaintext": note}).data["ciphertext"]


def _moves_first(lab: Lab, note: str) -> Any:
    lab.failover("paris", "tokyo")
    return lab["tokyo"].post(ENCRYPT, {"plaintext": note}).data["ciphertext"]


def remark(seen: OutlivedSeen) -> str:
    """Say what made the text outlive its key, by how long the function took."""
    if seen.far.took_s < MAX_NEAR_S:
        return (
            "It did not wait for the new version: tokyo has had the one in your ciphertext since before the rotation."
        )
    return (
        f"It took {seen.near.took_s:.1f} s over the near line and {seen.far.took_s:.1f} s over the far one, as long as "
        "the new version was on its way. The older one needs no wait: tokyo has it."
    )


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
    f"lost as soon as it has returned; the key was rotated just before. It may take {MAX_NEAR_S} s; another line is "
    "tried too, over which a copy takes longer than that, and so may the function.",
    look=look,
    takes=("a function of lab and plaintext",),
    arguments=2,
    untouched=untouched,
    remark=remark,
    conditions=(
        Condition(
            name="at paris",
            holds=lambda seen: not seen.near.moved and not seen.far.moved,
            says=lambda seen: f"when your function returned, {seen.near.moved or seen.far.moved}",
            asks="Your program encrypts at paris, the primary, and leaves the clusters what they are.",
            hints=(
                'Look at `lab["tokyo"].mode` after your function.',
                "Who moves the primary for one ciphertext has moved it for everybody. paris still serves here.",
                '`lab["paris"].post("transit/encrypt/letters", …)`, and no `promote` or `failover`',
            ),
        ),
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
            says=lambda seen: f"over {DISTANCES['far']} times the distance tokyo {_answers(seen.far)}",
            asks="It has to hold over another distance too.",
            hints=(
                f'Try it in a lab after `lab.slow("paris", "tokyo", factor={DISTANCES["far"]})`.',
                "A time that you choose is right for one distance. What you wait for can be asked.",
                '`lab.lag("paris", "tokyo").entries`',
            ),
        ),
        Condition(
            name="in time",
            holds=lambda seen: seen.near.took_s <= MAX_NEAR_S,
            says=lambda seen: f"it took {seen.near.took_s:.1f} s over the near line",
            asks=f"Over the near line it may take {MAX_NEAR_S} s at most.",
            hints=(
                "Print `lab.now` before and after the call of your function.",
                "A time that suits the longest line is waited for on every line. What you wait for can be asked.",
                '`while lab.lag("paris", "tokyo").entries: lab.run("50ms")`',
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
        Trap(name="a longer sleep", act=_one_second, refused_by="from afar"),
        Trap(name="a sleep for the longest line", act=_long_sleep, refused_by="in time"),
        Trap(name="promotes tokyo for it", act=_promotes_itself, refused_by="at paris"),
        Trap(name="moves the primary for it", act=_moves_first, refused_by="at paris"),
        Trap(name="no encryption", act=_plain, refused_by="a ciphertext"),
        Trap(name="another plaintext", act=_another_text, refused_by="opens"),
        Trap(name="at the secondary", act=_at_the_secondary, refused_by="a ciphertext"),
    ),
)
