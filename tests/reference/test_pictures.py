"""The page about pictures: it names every tone, every sign and every key that pictures and player have."""

from __future__ import annotations

import re
from pathlib import Path

from labkit.reference import page
from labkit.views import colours
from labkit.views.layout.map_layout import ARROW, BROKEN_ARROW, CROSS, DOTTED, LETTERS, RED
from labkit.views.layout.timeline_layout import NODE_WORDS, OUTCOME_WORDS, SIGN_WORDS, SIGNS
from labkit.views.player.pace import FLIGHT_MS
from labkit.views.player.recorded.carried_messages import MAX_MESSAGES
from labkit.views.player.recorded.interest import ONLY
from labkit.views.player.style import STATIC

TEXT = " ".join((Path(colours.__file__).parents[1] / "reference" / "pictures.md").read_text(encoding="utf-8").split())


def test_every_tone_is_named() -> None:
    named = set(re.findall(r"`(\w+)`", TEXT))

    assert set(colours.LIGHT) - {"on"} <= named


def test_every_sign_is_named() -> None:
    for state, letter in LETTERS.items():
        assert f"{letter} {state}" in TEXT
    for words in (ARROW, BROKEN_ARROW, CROSS, DOTTED, RED):
        assert words in TEXT
    for what, sign in SIGNS.items():
        assert f"{sign} {SIGN_WORDS[what]}" in TEXT
    for words in (*NODE_WORDS.values(), *OUTCOME_WORDS.values(), "† acknowledged write lost"):
        assert words in TEXT


def test_every_key_and_choice_is_named() -> None:
    script = (STATIC / "player.js").read_text(encoding="utf-8")
    acts = re.search(r"const acts = \{(.*?)\n  \};", script, re.DOTALL)
    assert acts
    keys = set(re.findall(r"^    \"?([\w+ -]+?)\"?: ", acts[1], re.MULTILINE))
    names = {" ": "space", "ArrowRight": "right", "ArrowLeft": "left", "PageDown": "Page Down", "PageUp": "Page Up"}

    assert len(keys) == 14
    for key in keys:
        assert f" {names.get(key, key)} |" in TEXT or f" {names.get(key, key)}," in TEXT, key
    assert all(f'only="{name}"' in TEXT for name in ONLY)
    assert f"{FLIGHT_MS} ms" in TEXT
    assert f"{MAX_MESSAGES:,} messages" in TEXT


def test_it_is_a_page_of_help() -> None:
    assert "Pictures: tones, signs, sizes and keys" in page("pictures")
