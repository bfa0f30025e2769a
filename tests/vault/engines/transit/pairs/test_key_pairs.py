"""What key pairs share: the text form of what is public."""

from __future__ import annotations

from labkit.vault.engines.transit.pairs.key_pairs import AUTO_SALT, HASH_SALT, Scheme, to_pem


def test_pem_has_lines_of_64_characters_and_a_last_line_end() -> None:
    assert to_pem("THING", bytes(49)) == f"-----BEGIN THING-----\n{'A' * 64}\nAA==\n-----END THING-----\n"
    assert to_pem("THING", bytes(48)) == f"-----BEGIN THING-----\n{'A' * 64}\n-----END THING-----\n"


def test_a_scheme_of_which_nothing_was_said() -> None:
    assert Scheme() == ("sha2-256", False, "", 0, False)
    assert (AUTO_SALT, HASH_SALT) == (0, -1)
