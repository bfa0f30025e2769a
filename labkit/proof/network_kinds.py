"""Networks: the kinds of network that a search knows, by what one fault does."""

from __future__ import annotations

from typing import NamedTuple


class NetworkKind(NamedTuple):
    """What one fault of the network does: to everything on its way, or to one message, the next of some lane."""

    about: str
    loses_all: bool = False
    holds_all: bool = False
    loses_one: bool = False
    repeats_one: bool = False


NETWORKS = {
    "ordered": NetworkKind("a fault loses nothing: it only makes the secondary believe that the connection is lost"),
    "destroying": NetworkKind("a fault loses everything on its way", loses_all=True),
    "late": NetworkKind("a fault holds everything back that is on its way: it arrives later, or never", holds_all=True),
    "losing": NetworkKind("a fault loses one message", loses_one=True),
    "duplicating": NetworkKind("a fault makes one message arrive twice, later or never again", repeats_one=True),
}
