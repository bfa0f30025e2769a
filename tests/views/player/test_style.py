"""Style: the colours of both themes, and the rules of the player's page without their comments."""

from __future__ import annotations

from labkit.views.player.style import STATIC, style


def test_it_has_colours_and_rules_and_no_comment() -> None:
    assert "--labkit-paper:#ffffff" in style()
    assert "prefers-color-scheme:dark" in style()
    assert "#controls{display:flex;" in style()
    assert "/*" not in style()
    assert (STATIC / "player.js").exists()
