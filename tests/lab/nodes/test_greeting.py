"""Greeting: the question that waits for a challenge, and what is sent in the meantime."""

from __future__ import annotations

import pytest

from labkit.lab.nodes.greeting import Greeting
from labkit.lab.wire.messages import ConnectionChallenge, ReplicationQuestion
from labkit.vault.replication.trust import admission

QUESTION = ReplicationQuestion("guard_hash", "tokyo", {"serial": 5, "guard": bytes(20)}, {})
BEAT = ReplicationQuestion("echo", "tokyo", {"serial": 1}, {})


@pytest.fixture
def greeting() -> Greeting:
    """One that asked paris-1."""
    made = Greeting()
    made.begin("paris-1", QUESTION)
    return made


@pytest.fixture
def cores(calm):
    """The insides of the primary's and the secondary's active node."""
    return calm.parts.nodes["paris-1"].core, calm.parts.nodes["tokyo-1"].core


def challenge(cores, serial: int = 5) -> ConnectionChallenge:
    return ConnectionChallenge(serial, *admission.challenge(cores[0], "tokyo-1", "tokyo"))


def test_until_the_challenge_is_here_the_question_is_asked_again_in_place_of_a_heartbeat(greeting, cores):
    assert greeting.instead_of(BEAT, "paris-1") == QUESTION
    assert greeting.instead_of(BEAT, "paris-2") == BEAT, "another node was not asked"
    assert greeting.proven("paris-1", challenge(cores), cores[1])

    assert greeting.instead_of(BEAT, "paris-1") == BEAT
    assert Greeting().instead_of(BEAT, "") == BEAT


def test_with_a_challenge_the_same_question_is_asked_with_credentials_once(greeting, cores):
    asked = greeting.proven("paris-1", challenge(cores), cores[1])

    assert asked._replace(credentials={}) == QUESTION
    assert admission.check_connection(cores[0], "tokyo", "tokyo-1", asked.credentials) == ""
    assert greeting.proven("paris-1", challenge(cores), cores[1]) is None


def test_only_the_node_that_was_asked_and_only_this_question(greeting, cores):
    assert greeting.proven("paris-2", challenge(cores), cores[1]) is None
    assert greeting.proven("paris-1", challenge(cores, 6), cores[1]) is None

    assert greeting.proven("paris-1", challenge(cores), cores[1])


def test_a_challenge_of_another_authority_is_an_error_and_ends_the_question(greeting, cores):
    false = ConnectionChallenge(5, "7", bytes(64))
    with pytest.raises(ValueError, match="not made by this authority"):
        greeting.proven("paris-1", false, cores[1])

    assert greeting.question is None


def test_it_goes_on_from_its_state(greeting, cores):
    again = Greeting(greeting.state())

    assert again.state() == greeting.state() == ("paris-1", QUESTION)
    assert again.proven("paris-1", challenge(cores), cores[1])
    assert again.state() is Greeting().state() is None
