"""prove: searches a state machine and its surroundings to the end, within bounds, and prints what was shown."""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import TYPE_CHECKING

from labkit.commands.exit_codes import AS_EXPECTED, NOT_AS_EXPECTED, UNKNOWN

if TYPE_CHECKING:
    from labkit.proof.proving import Proof
    from labkit.proof.search import Found

MAX_BOUND = 9

SHOWN = (
    "in every state: while it streams, its contents are those of its entry; while they count as complete, or while",
    "a promotion is accepted, they are those of some entry; what is stored is what a start reads; no step raises",
)


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
    made.add_argument("--planted", type=planted, metavar="BUG", help="search the code with a mistake in it, by name")
    made.add_argument("--leads-on", action="store_true", help="check too that every state leads to a level stream")
    made.add_argument(
        "--max-states", type=at_least_one, metavar="N", help="stop after so many states; 5,000,000 unless given"
    )
    made.set_defaults(prove=replication)


def _add_networks(parser: argparse.ArgumentParser) -> None:
    from labkit.proof.networks import NETWORKS

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
    from labkit.proof.networks import NETWORKS
    from labkit.proof.planted_bugs import PLANTED_BUGS, SOUND
    from labkit.proof.proving import prove
    from labkit.proof.search import MAX_STATES

    network = given.network or "destroying"
    bounds = Bounds(given.writes, given.cuts, given.restarts, given.takeovers, network, given.backlog)
    bug = PLANTED_BUGS[given.planted] if given.planted else SOUND
    print(f"bounds: {bounds}: {NETWORKS[network].about}")
    if given.planted:
        print(f"planted: {bug.about}")
    began = perf_counter()
    proof = prove(bounds, bug, leads_on=given.leads_on, max_states=given.max_states or MAX_STATES)
    count(proof.found, perf_counter() - began)
    return _verdict(proof)


def count(found: Found, took_s: float) -> None:
    """Print what a search saw."""
    speed = f"{took_s:.1f} s, {found.states / took_s:,.0f} states/s" if took_s else "no time"
    print(f"{found.states:,} states, {found.transitions:,} transitions, depth {found.depth} ({speed})")
    print("compared whole: the chance that two states were taken for one is 0")
    print("exhausted: " + ("yes" if found.exhausted else "no"))


def _verdict(proof: Proof) -> int:
    if proof.broken:
        return broken(proof.broken, proof.way)
    if not proof.found.exhausted:
        print("unknown: no property was broken up to here, but not all states were visited")
        return UNKNOWN
    print(*SHOWN, sep="\n")
    if proof.dropped:
        print(f"{proof.dropped} messages about what was over were dropped; each is ignored in every state")
    if proof.leads_on:
        print("from every state, without any further fault, the contents of the newest entry are reached")
    return AS_EXPECTED


def broken(why: str, way: tuple[str, ...]) -> int:
    """Print which property is broken, and the way there."""
    print(f"broken: {why}")
    if way:
        print(f"the shortest way, {len(way)} events:")
        print(*(f"{number:4}. {sentence}" for number, sentence in enumerate(way, 1)), sep="\n")
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


def planted(text: str) -> str:
    """Read the name of a planted bug; ArgumentTypeError lists them."""
    from labkit.proof.planted_bugs import PLANTED_BUGS

    if text not in PLANTED_BUGS:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(PLANTED_BUGS)}, got {text!r}")
    return text
