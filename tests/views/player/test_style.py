"""Style: the colours of both themes, and the rules of the player's page without their comments."""

from __future__ import annotations

from labkit.views.player.style import STATIC, shortened, style


def test_it_has_colours_and_rules_and_no_comment() -> None:
    assert "--labkit-paper:#ffffff" in style()
    assert "prefers-color-scheme:dark" in style()
    assert "#controls{display:flex" in style()
    assert "/*" not in style()
    assert (STATIC / "player.js").exists()


def test_what_says_nothing_is_left_out() -> None:
    assert (
        shortened("a > b, c:hover { margin: 0 auto; color: var(--x); }\nd { }\n")
        == "a>b,c:hover{margin:0 auto;color:var(--x)}d{}"
    )
