"""Rows of a table: in order, and opened by the key they are under."""

from __future__ import annotations

from labkit import Vault
from labkit.lessons.kept_keys.rows import TABLE, base64_of, opened, rows_of, with_rows


def test_each_row_opens_to_its_number():
    vault = with_rows(seed=1, count=3)

    assert [opened(vault, row) for row in rows_of(vault)] == [base64_of(f"row {number}") for number in range(3)]
    assert opened(vault, "vault:v1:AAAA") is None


def test_a_table_that_is_missing_or_no_list_has_no_rows():
    vault = Vault.dev(seed=1)
    assert rows_of(vault) == []
    vault.post(TABLE, {"data": {"rows": "x"}})
    assert rows_of(vault) == []
