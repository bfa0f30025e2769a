"""prove: searches a state machine and its surroundings to the end, within bounds, and prints what was shown."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from labkit.commands.exit_codes import AS_EXPECTED, NOT_AS_EXPECTED, UNKNOWN, refuse
from labkit.commands.terminal import say

if TYPE_CHECKING:
    from labkit.proof.bounds import Bounds
    from labkit.proof.proving import Proof
    from labkit.proof.search import Found

Machines = Any
"""What argparse returns for subcommands; its type is private."""

MAX_BOUND = 9

REPLICATION_SHOWN = """\
in every state: while it streams, its contents are those of its entry; while they count as complete, or while
a promotion is accepted, they are those of some entry; what is stored is what a start reads; a guard that the backlog
has is found, a connection that is dead is given up; no step raises"""
ELECTION_SHOWN = """\
in every state: a term is taken once and is higher than those before, no commit under an earlier one is accepted,
none takes a lease whose time is not over, or renews another's; no step raises"""
CLIENT_SHOWN = """\
in every state: an operation ends once, as refused only without effect, as answered only by an answer of its effect;
it is attempted as often as its plan says; no step raises"""
TOKEN_SHOWN = """\
in every state: a token is issued by the share that makes up the threshold and by none other, only the newest one that
was not deleted is accepted, a refused request changes nothing, no request is a fault of the server"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what each machine takes."""
    machines = parser.add_subparsers(title="state machines", metavar="MACHINE", required=True, dest="machine")
    made = machines.add_parser(
        "replication",
        help="a primary, its secondary, and the network between them",
        description="Search what a primary, its secondary and the network between them can do.",
    )
    for name, default, what in (
        ("writes", 2, "writes at the primary"),
        ("cuts", 1, "faults of the network"),
        ("restarts", 0, "changes of the secondary's active node"),
        ("takeovers", 0, "changes of the primary's active node"),
    ):
        about = f"{what}; {default} unless given"
        made.add_argument(f"--{name}", type=bound, default=default, metavar="N", help=about)
    made.add_argument(
        "--backlog", type=at_least_one, default=1, metavar="N", help="entries in the backlog; 1 unless given"
    )
    _add_networks(made)
    _add_planted(made, "replication")
    about = "check too that every state leads to a level stream; so unless --no-leads-on is given"
    made.add_argument("--leads-on", action=argparse.BooleanOptionalAction, default=True, help=about)
    about = "write the way to a broken property as a scenario file, where the lab can play it"
    made.add_argument("--scenario", metavar="FILE", help=about)
    _add_limit(made)
    made.set_defaults(prove=replication)
    _add_election(machines)
    _add_client(machines)
    _add_token(machines)


def _add_election(machines: Machines) -> None:
    made = machines.add_parser(
        "election",
        help="the nodes of a cluster, their lease, and the store's fencing",
        description="Search what nodes can do with their lease, and what their store accepts.",
    )
    _add_nodes(made, range(2, 5), 3, "nodes, 2 to 4; 3 unless given")
    made.add_argument("--terms", type=bound, default=3, metavar="N", help="terms that are taken; 3 unless given")
    for name, what in (
        ("resignations", "leaders that give their lease up"),
        ("restarts", "leaders that restart"),
        ("damages", "times that the stored lease is damaged"),
    ):
        made.add_argument(f"--{name}", type=bound, default=1, metavar="N", help=f"{what}; 1 unless given")
    made.add_argument("--unfenced", action="store_true", help="a store that takes commits under any term")
    _add_planted(made, "election")
    _add_limit(made)
    made.set_defaults(prove=election)


def _add_client(machines: Machines) -> None:
    made = machines.add_parser(
        "client",
        help="a client's operation, the nodes that it asks, and late answers",
        description="Search what becomes of a client's operation, whatever the nodes that it asks do.",
    )
    _add_nodes(made, range(1, 4), 2, "nodes of each of 2 clusters, 1 to 3; 2 unless given")
    made.add_argument("--retries", type=bound, default=1, metavar="N", help="further attempts; 1 unless given")
    made.add_argument("--forgetful", action="store_true", help="a client that forgets which attempts had no answer")
    _add_limit(made)
    made.set_defaults(prove=client)


def _add_token(machines: Machines) -> None:
    made = machines.add_parser(
        "operation-token",
        help="the attempt at an operation token, key holders, and who uses the token",
        description="Search what becomes of attempts at an operation token, whatever is asked for, and in any order.",
    )
    made.add_argument("--attempts", type=bound, default=2, metavar="N", help="attempts; 2 unless given")
    about = "wrong shares, cancelled attempts and deleted tokens; 2 unless given"
    made.add_argument("--mistakes", type=bound, default=2, metavar="N", help=about)
    _add_limit(made)
    made.set_defaults(prove=operation_token)


def _add_nodes(parser: argparse.ArgumentParser, counts: range, default: int, about: str) -> None:
    parser.add_argument("--nodes", type=bound, default=default, choices=counts, metavar="N", help=about)


def _add_planted(parser: argparse.ArgumentParser, machine: str) -> None:
    about = "search the code with a mistake in it, by name"
    parser.add_argument("--planted", type=partial(planted, machine), metavar="BUG", help=about)


def _add_limit(parser: argparse.ArgumentParser) -> None:
    about = "stop after N states; 5,000,000 unless given"
    parser.add_argument("--max-states", type=at_least_one, metavar="N", help=about)


def _add_networks(parser: argparse.ArgumentParser) -> None:
    from labkit.proof.network_kinds import NETWORKS

    kinds = parser.add_mutually_exclusive_group()
    for name, kind in NETWORKS.items():
        default = "; so unless another is given" if name == "destroying" else ""
        kinds.add_argument(f"--{name}", dest="network", action="store_const", const=name, help=f"{kind.about}{default}")


def prove(given: argparse.Namespace) -> int:
    """Search the machine that was named."""
    code: int = given.prove(given)
    return code


def replication(given: argparse.Namespace) -> int:
    """Search replication, and print counts, and the shortest way to what must not be."""
    from labkit.proof.bounds import Bounds
    from labkit.proof.network_kinds import NETWORKS
    from labkit.proof.planted_bugs import PLANTED_BUGS, SOUND
    from labkit.proof.proving import prove
    from labkit.proof.search import MAX_STATES

    if given.scenario and os.path.lexists(given.scenario):
        return refuse(f"{given.scenario}: exists already and is left as it is; choose another name")
    network = given.network or "destroying"
    bounds = Bounds(given.writes, given.cuts, given.restarts, given.takeovers, network, given.backlog)
    bug = PLANTED_BUGS[given.planted] if given.planted else SOUND
    say(f"bounds: {bounds}: {NETWORKS[network].about}")
    if given.planted:
        say(f"planted: {bug.about}")
    began = perf_counter()
    proof = prove(bounds, bug, leads_on=given.leads_on, max_states=given.max_states or MAX_STATES)
    count(proof.found, perf_counter() - began)
    code = _verdict(proof, REPLICATION_SHOWN)
    return _written(given.scenario, proof, bounds) or code if given.scenario and proof.found.way else code


def _written(name: str, proof: Proof, bounds: Bounds) -> int:
    """Write the way as a scenario file; return the exit code of a refusal, else 0."""
    from labkit.proof.drill import CANNOT, drill

    text = drill(proof.found.way, bounds, proof.broken)
    if not text:
        say(f"no scenario file is written: {CANNOT}")
        return AS_EXPECTED
    try:
        with open(name, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        return refuse(f"{name}: cannot be written: {getattr(error, 'strerror', None) or error}")
    say(f"wrote {name}: its faults in the order of the way; which messages they meet is the lab's business")
    return AS_EXPECTED


def election(given: argparse.Namespace) -> int:
    """Search an election."""
    from labkit.proof.election import Election, ElectionBounds, described
    from labkit.proof.planted_bugs import PLANTED_BUGS, SOUND

    counts = given.nodes, given.terms, given.resignations, given.restarts, given.damages
    bounds = ElectionBounds(*counts, fenced=not given.unfenced)
    bug = PLANTED_BUGS[given.planted] if given.planted else SOUND
    if given.planted:
        say(f"planted: {bug.about}")
    return _small(Election(bounds, bug), described, (bounds, given.max_states), ELECTION_SHOWN)


def client(given: argparse.Namespace) -> int:
    """Search what becomes of a client's operation."""
    from labkit.proof.client_failover import ClientBounds, ClientFailover, described

    bounds = ClientBounds(given.nodes, given.retries, given.forgetful)
    return _small(ClientFailover(bounds), described, (bounds, given.max_states), CLIENT_SHOWN)


def operation_token(given: argparse.Namespace) -> int:
    """Search what becomes of attempts at an operation token."""
    from labkit.proof.token_generation import TokenBounds, TokenGeneration, described

    bounds = TokenBounds(given.attempts, given.mistakes)
    return _small(TokenGeneration(bounds), described, (bounds, given.max_states), TOKEN_SHOWN)


def _small(model: Any, described: Callable[[Any], str], within: tuple[Any, int | None], shown: str) -> int:
    from labkit.proof.proving import prove_small
    from labkit.proof.search import MAX_STATES

    bounds, max_states = within
    say(f"bounds: {bounds}")
    began = perf_counter()
    proof = prove_small(model, described, max_states or MAX_STATES)
    count(proof.found, perf_counter() - began)
    return _verdict(proof, shown)


def count(found: Found, took_s: float) -> None:
    """Print what a search saw."""
    speed = f"{took_s:.1f} s, {found.states / took_s:,.0f} states/s" if took_s else "no time"
    say(f"{found.states:,} states, {found.transitions:,} transitions, depth {found.depth} ({speed})")
    say("compared whole: the chance that two states were taken for one is 0")
    say("exhausted: " + ("yes" if found.exhausted else "no"))


def _verdict(proof: Proof, shown: str) -> int:
    if proof.broken:
        return broken(proof.broken, proof.way)
    if not proof.found.exhausted:
        say("unknown: no property was broken up to here, but not all states were visited")
        return UNKNOWN
    say(shown)
    if proof.dropped:
        say(f"{proof.dropped} messages about what was over were dropped; each is ignored in every state")
    if proof.leads_on:
        say("every state leads on, without any further fault, to what is to be reached")
    return AS_EXPECTED


def broken(why: str, way: tuple[str, ...]) -> int:
    """Print which property is broken, and the way there."""
    say(f"broken: {why}")
    if way:
        say(f"the shortest way, {len(way)} events:")
        say(*(f"{number:4}. {sentence}" for number, sentence in enumerate(way, 1)))
    return NOT_AS_EXPECTED


def bound(text: str) -> int:
    """Read how often something happens; ArgumentTypeError says what is wanted."""
    if not (text.isascii() and text.isdigit() and len(text) == 1):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to {MAX_BOUND}, got {text!r}")
    return int(text)


def at_least_one(text: str) -> int:
    """Read a number from 1 up; ArgumentTypeError says what is wanted."""
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 up, of at most 9 digits, got {text!r}")
    return int(text)


def planted(machine: str, text: str) -> str:
    """Read the name of a bug that is planted in a machine; ArgumentTypeError lists them."""
    from labkit.proof.planted_bugs import PLANTED_BUGS

    known = [name for name, bug in PLANTED_BUGS.items() if bug.machine == machine]
    if text not in known:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(known)}, got {text!r}")
    return text
