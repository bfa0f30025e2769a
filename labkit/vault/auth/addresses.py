"""Addresses that logins are bound to: blocks with a mask, and the addresses and blocks that tokens are bound to.

1. A block is an address and the length of its mask (RFC 4632): ``10.0.0.0/8``.  Where blocks are asked for, an address
   without one is refused.
2. A token may be bound to plain addresses too; a block of one address is shown without its mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from labkit.service.errors import BadRequest

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network

    Network: TypeAlias = IPv4Network | IPv6Network

MAX_SHOWN = 128


def check_masked(blocks: tuple[str, ...], problem: str) -> None:
    """Raise BadRequest, which begins with ``problem``, for a text that is not an address with a mask (rule 1)."""
    for block in blocks:
        if _network(block) is None:
            raise BadRequest(f"{problem}: invalid CIDR address: {block[:MAX_SHOWN]}")


def check_subset(inner: tuple[str, ...], outer: tuple[str, ...]) -> None:
    """Raise BadRequest when a secret id's blocks are not within its role's; no blocks are all addresses."""
    if inner and outer and not is_subset(inner, outer):
        raise BadRequest(
            f"failed to verify subset relationship between CIDR blocks on the role [{_quoted(outer)}] and CIDR blocks "
            f"on the secret ID [{_quoted(inner)}]"
        )


def is_subset(inner: tuple[str, ...], outer: tuple[str, ...]) -> bool:
    """Whether each block lies within one of the outer ones; plain addresses are blocks of one."""
    around = [network for block in outer if (network := _network(with_mask(block))) is not None]
    return all(_is_within(_network(with_mask(block)), around) for block in inner)


def _is_within(block: Network | None, around: list[Network]) -> bool:
    if block is None:
        return False
    first, last = int(block.network_address), int(block.broadcast_address)
    return any(
        other.version == block.version and int(other.network_address) <= first and last <= int(other.broadcast_address)
        for other in around
    )


def bound_addresses(blocks: tuple[str, ...]) -> tuple[str, ...]:
    """Return addresses and blocks as tokens are bound to them (rule 2); raise BadRequest for any other text."""
    return tuple([_bound(block) for block in blocks])


def _bound(block: str) -> str:
    masked = with_mask(block)
    network = _network(masked)
    if network is None:
        shown = block[:MAX_SHOWN]
        raise BadRequest(
            f'error parsing address "{shown}": Unable to convert "{shown}" to an IPv4 or IPv6 address, or a UNIX Socket'
        )
    return masked.partition("/")[0] if network.num_addresses == 1 else masked


def with_mask(block: str) -> str:
    """Return an address as a block of one, and a block as it is."""
    if "/" in block:
        return block
    return f"{block}/128" if ":" in block else f"{block}/32"


def _network(block: str) -> Network | None:
    """Read a block; None for any other text, such as one whose mask has no length, or with a zone."""
    from ipaddress import ip_network

    address, slash, length = block.partition("/")
    if (
        not slash
        or not (length.isascii() and length.isdigit())
        or "%" in address
        or (length[0] == "0" and length != "0")
    ):
        return None
    try:
        return ip_network(block, strict=False)
    except ValueError:
        return None


def _quoted(blocks: tuple[str, ...]) -> str:
    return " ".join([f'"{block}"' for block in blocks])
