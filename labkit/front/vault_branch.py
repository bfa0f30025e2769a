"""Vault branch: a vault that goes on from where another is, with all that stands beside it.

1. What it draws is drawn under a label of its own, the count of its parent's branches and its name: no two branches,
   and no branch and its parent, share a nonce (R7).  What its world has drawn once for all is not drawn again.
2. It shares no object that changes with its parent: neither notices what the other does.
3. Its clock stands where its parent's does, and each is moved by itself; of real time both read the same clock.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from labkit.front.kept_beside import KeptBeside, copy_of_cloud, copy_of_key_store
from labkit.front.outside_lab import KeyStoreLink, ResetPoint, ShiftedClock
from labkit.vault.storage import Storage
from labkit.vault.storage.memory import MemoryStorage

if TYPE_CHECKING:
    from labkit.seeded import DrawnOnce

Entropy = Callable[[int], bytes]


class BranchLabel:
    """The label that a branch draws under, and what worlds have drawn once for all, copied once for each."""

    __slots__ = ("_drawn", "label")

    def __init__(self, number: int, name: str) -> None:
        self.label = f"{number}:{json.dumps(name)}"
        self._drawn: dict[int, DrawnOnce] = {}

    def entropy(self, of_parent: Any) -> Entropy:
        """Return the branch's own stream where the parent's comes from a seed; else that of the system."""
        stream: Entropy = of_parent
        if getattr(of_parent, "is_seeded", False):
            drawn = of_parent.drawn_once
            copied = self._drawn.setdefault(id(drawn), type(drawn)(drawn.state()))
            stream = of_parent.branched(self.label, copied)
        return stream


def branch_of(vault: Any, number: int, name: str) -> Any:
    """Return a vault that goes on from where this one is."""
    clock = vault.environment.now
    if not isinstance(clock, ShiftedClock):
        raise ValueError("this vault's clock is its lab's: branch the lab with lab.branch(name)")
    label = BranchLabel(number, name)
    now = ShiftedClock(clock.base)
    now.shift_ns = clock.shift_ns
    environment = vault.environment._replace(now=now, entropy=label.entropy(vault.environment.entropy))
    branch = type(vault)(_storage_of(vault), environment, vault.core.settings, vault.state())
    branch._use_own_files(vault.files.copied())
    branch.root_token, branch.unseal_keys = vault.root_token, vault.unseal_keys
    _copy_cloud(vault, branch, label)
    _copy_key_store(vault, branch, label)
    branch._born, branch._beside = ResetPoint(branch.core.storage, environment, branch.state()), KeptBeside(branch)
    return branch


def _storage_of(vault: Any) -> Storage:
    """Return a store in memory with what a vault's holds: a file is read once, memory is shared until it changes."""
    storage: Storage = vault.core.storage
    if isinstance(storage, MemoryStorage):
        return MemoryStorage.from_state(storage.state())
    found = {key: storage.get(key) for key in storage.keys()}  # noqa: SIM118  # a store has no other way
    copy = MemoryStorage({key: value for key, value in found.items() if value is not None}, vault.core.leadership.term)
    if storage.leaves():
        copy.apply({}, vault.core.leadership.term, dict(storage.leaves()))
    return copy


def _copy_cloud(vault: Any, branch: Any, label: BranchLabel) -> None:
    """Put a copy of a vault's cloud beside its branch; one that nobody asked for yet is made when it is asked for."""
    branch._make_link = vault._make_link
    link = vault._link
    if link is None or branch._make_link is None:
        return
    cloud, copy = link.made, None
    if cloud is not None:
        clock = branch.core.now if cloud.clock is vault.core.now else cloud.clock
        copy = copy_of_cloud(cloud, clock, label.entropy(cloud.parts.entropy))
    branch._link = branch._make_link(branch.core)
    branch._link.take_over(copy, link)


def _copy_key_store(vault: Any, branch: Any, label: BranchLabel) -> None:
    """Put a copy of a vault's key store beside its branch."""
    if vault._keystore is None:
        return
    store = vault.keystore
    copy = copy_of_key_store(store, label.entropy(store._entropy))
    branch._keystore = KeyStoreLink(lambda: copy)
    assert branch.keystore is copy  # which it has from now on
