"""Both predictions of lesson 01: what is measured, what is missing before, and what the explanations claim."""

from __future__ import annotations

import pytest

from labkit import Vault
from labkit.lessons.secret_versions.questions import CAS, DESTROYED, UNDELETE, WRITTEN
from labkit.lessons.secret_versions.undo import start


@pytest.fixture
def vault() -> Vault:
    made = Vault.dev(seed=1)
    made.post(WRITTEN, {"data": {"user": "ada"}})
    made.post(DESTROYED, {"data": {"user": "ada"}})
    return made


def test_the_version_that_was_deleted_is_the_one_to_name(vault):
    assert "not written and deleted yet" in CAS.needs(vault)
    assert "not written and deleted yet" in CAS.needs(Vault.dev(seed=1))
    vault.delete(WRITTEN)

    assert CAS.needs(vault) == ""
    assert CAS.measure(vault) == 1
    assert "cas=0 answers 400, cas=1 answers 200, cas=2 answers 400" in CAS.why(vault)
    assert "still number 1" in CAS.why(vault)
    assert vault.get("secret/metadata/app").data["current_version"] == 1, "only branches were written"


def test_a_secret_that_was_written_more_than_once_is_not_judged():
    """As that of exercise 2, under the same name."""
    assert CAS.needs(start()) == "In this vault secret/data/app was written 3 times, not once: run the cell above."


def test_an_undelete_of_what_is_destroyed_answers_and_brings_nothing_back(vault):
    assert "not destroyed yet" in UNDELETE.needs(vault)
    vault.put("secret/destroy/old", {"versions": [1]})

    assert UNDELETE.needs(vault) == ""
    assert UNDELETE.measure(vault) == "no data"
    assert "The undelete answers 204, and a read after it answers 404" in UNDELETE.why(vault)


def test_of_a_deleted_version_an_undelete_brings_the_data_back(vault):
    vault.post("secret/delete/old", {"versions": [1]})

    assert UNDELETE.measure(vault) == "its data"
