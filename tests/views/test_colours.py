"""Colours: every text can be read, and no two states look alike to normal and three kinds of colour-blind eyes."""

from __future__ import annotations

from itertools import combinations

import pytest

from labkit.views.colours import DARK, LIGHT, STATES, STYLE, both, fill, stroke
from labkit.views.looks import LOOKS

THEMES = {"light": LIGHT, "dark": DARK}
LEAST_CONTRAST = 4.5  # WCAG 2.2, 1.4.3
LEAST_DISTANCE = 25  # CIE76
LEAST_LIGHTER = 20  # L* of CIE 1976

# Machado, Oliveira and Fernandes 2009, severity 1.0, for linear RGB.
SIGHTS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
# Linear sRGB to XYZ (IEC 61966-2-1), and the white that belongs to it.
TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
WHITE = (0.95047, 1.0, 1.08883)


def linear(colour: str) -> list[float]:
    """The three parts of a colour, linear in light."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(a: str, b: str) -> float:
    """The ratio of two colours' luminances (WCAG 2.2)."""
    lights = sorted(sum(x * y for x, y in zip(TO_XYZ[1], linear(one), strict=True)) + 0.05 for one in (a, b))
    return lights[1] / lights[0]


def times(matrix, values):
    """A matrix times a vector."""
    return [sum(factor * value for factor, value in zip(row, values, strict=True)) for row in matrix]


def lab_of(colour: str, sight: str) -> tuple[float, float, float]:
    """A colour as seen, in CIE L*a*b*."""
    seen = [min(1.0, max(0.0, part)) for part in times(SIGHTS[sight], linear(colour))]
    x, y, z = (
        part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116
        for part in (value / white for value, white in zip(times(TO_XYZ, seen), WHITE, strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(a: str, b: str, sight: str) -> float:
    """How far apart two colours are as seen (CIE76)."""
    return sum((p - q) ** 2 for p, q in zip(lab_of(a, sight), lab_of(b, sight), strict=True)) ** 0.5


def test_the_measures_measure():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert distance("#ffffff", "#000000", "normal") == pytest.approx(100, abs=0.01)
    assert distance("#1d6fa5", "#2f855a", "tritan") < LEAST_DISTANCE, "blue and green, once in use here"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", [*STATES, "ink", "faint"])
def test_every_colour_can_be_read_on_the_page_and_on_a_panel(theme, name):
    table = THEMES[theme]

    assert contrast(table[name], table["paper"]) >= LEAST_CONTRAST
    assert contrast(table[name], table["panel"]) >= LEAST_CONTRAST


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", STATES)
def test_every_state_bears_text(theme, name):
    assert contrast(THEMES[theme][name], THEMES[theme]["on"]) >= LEAST_CONTRAST


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("sight", SIGHTS)
def test_no_two_states_look_alike(theme, sight):
    close = {
        pair: round(distance(THEMES[theme][pair[0]], THEMES[theme][pair[1]], sight), 1)
        for pair in combinations(STATES, 2)
        if distance(THEMES[theme][pair[0]], THEMES[theme][pair[1]], sight) < LEAST_DISTANCE
    }

    assert close == {}


@pytest.mark.parametrize("theme", THEMES)
def test_in_grey_no_two_states_look_alike(theme):
    grey = {name: lab_of(THEMES[theme][name], "normal")[0] for name in STATES}
    close = [
        pair
        for pair in combinations(STATES, 2)
        if LOOKS[pair[0]].pattern == LOOKS[pair[1]].pattern and abs(grey[pair[0]] - grey[pair[1]]) < LEAST_LIGHTER
    ]

    assert close == []


def test_both_themes_have_the_same_names():
    assert list(LIGHT) == list(DARK)


def test_the_style_follows_the_system_and_a_notebooks_own_theme():
    system, own = STYLE.index("@media (prefers-color-scheme:dark)"), STYLE.index('[data-jp-theme-light="true"]')

    assert STYLE.index("svg.labkit{") < system < own < STYLE.index('[data-jp-theme-light="false"]')
    assert all(f".fill-{name}" in STYLE and f".line-{name}" in STYLE for name in LIGHT)
    assert all(value in STYLE for theme in THEMES.values() for value in theme.values())


def test_where_styles_do_not_reach_the_light_values_serve():
    assert fill("down") == f'class="fill-down" fill="{LIGHT["down"]}"'
    assert stroke("ink") == f'class="line-ink" fill="none" stroke="{LIGHT["ink"]}"'
    assert both("panel", "ink") == f'class="fill-panel line-ink" fill="{LIGHT["panel"]}" stroke="{LIGHT["ink"]}"'
