"""The shared parameters: what each takes."""

from __future__ import annotations

import pytest

from labkit.service.fields import Field
from labkit.vault.engines.transit import parameters
from labkit.vault.engines.transit.parameters import BATCH_INPUT, KEY_VERSION, PARTIAL_FAILURE, PLAINTEXT


def test_every_parameter_is_described() -> None:
    fields = [value for value in vars(parameters).values() if isinstance(value, Field)]

    assert len(fields) >= 10
    assert all(field.help for field in fields)
    assert len({field.name for field in fields}) == len(fields)


@pytest.mark.parametrize("sent", ["x", {}, [], None, 5])
def test_a_batch_is_taken_as_sent(sent: object) -> None:
    assert BATCH_INPUT.convert(sent) is sent
    assert BATCH_INPUT.kind == "list of objects"


def test_what_was_not_sent_has_its_default() -> None:
    assert (PLAINTEXT.default, KEY_VERSION.default, PARTIAL_FAILURE.default) == (None, 0, 400)
