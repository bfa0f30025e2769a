"""Runbook effects: plain records that show neither a body nor a token."""

from __future__ import annotations

from labkit.lab.operations.runbook_effects import Ask, Credentials


def test_no_effect_shows_a_secret():
    asked = Ask("paris", "POST", "sys/unseal", {"key": "6b6579"}, token="hvs.root")

    assert repr(asked) == "Ask(paris, POST sys/unseal)"
    assert repr(Credentials("hvs.root", ("6b6579", "6b6580"))) == "Credentials(2 shares)"
