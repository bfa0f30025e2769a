"""The physical store: get, list and atomic apply of ciphertexts; everything else is a view around it.

1. ``apply`` is one transaction: all of its writes are there afterwards, or none.
2. A commit carries the leadership term; one that is older than the newest term claimed is refused
   (``check_term``): so a stale leader is stopped at the store.
3. A store that cannot be opened, read or written raises StoreError; a commit that raises it changed nothing.
4. The bytes object that ``get`` returns is the same object until the key is written again: caches of decoded records
   depend on that identity, so neither replication nor rollback needs an invalidation.
5. Beside the values it keeps leaf digests as they are passed (D19): it computes none, and a value that is written or
   deleted leaves that of its key as it was.
6. It counts the writes that may decide about requests: those of all keys but ``UNDECIDING`` ones, and a token's first
   where it is seen to be that.  Who remembers a decision looks at that count alone (``clearances``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from labkit.service.errors import Internal

Writes = Mapping[str, bytes | None]
Leaves = Mapping[str, bytes | None]
Names = list[str]

UNDECIDING = (
    *("logical/", "cubbyhole/", "token/accessor/", "token/child/"),
    *("node/wal", "node/index/", "node/lease"),
)
"""How the keys begin that decide about no request: the mounts' and cubbyholes' data, by what earlier versions found
tokens, and what journal and election keep."""

TOKENS = "token/id/"
"""How the keys of tokens begin.  One that is new decides about no request either: none is remembered as missing."""


class StoreError(Internal):
    """The store cannot be opened, read or written (C10, C12); the text names its file and says what to do."""


class StaleTerm(RuntimeError):
    """A node that has lost the leadership tried to commit; ``newest`` is the newest term claimed."""

    def __init__(self, term: int, newest: int) -> None:
        super().__init__(term, newest)  # what it is made of again, in another process
        self.newest = newest

    def __str__(self) -> str:
        return "term {} is over: a newer leader claimed term {}".format(*self.args)


def check_term(term: int, newest: int) -> None:
    """Raise StaleTerm for a term below the newest one claimed."""
    if term < newest:
        raise StaleTerm(term, newest)


class Storage(Protocol):
    """What a store offers; keys are ``/``-separated text, values ciphertexts."""

    flush_entries: int
    """After how many journal entries the index of its contents is stored."""

    deciding_writes: int
    """How often this store wrote or deleted a key that may decide about requests (rule 6)."""

    def get(self, key: str) -> bytes | None:
        """Return the value of a key, or None."""

    def list(self, prefix: str) -> Names:
        """Return the names directly under a prefix (empty, or ending in ``/``), sorted; folders end in ``/``."""

    def keys(self, least_bytes: int = 0) -> Names:
        """Return all keys, or those of values of so many bytes and more, sorted."""

    def values_below(self, prefix: str) -> Mapping[str, bytes]:
        """Return the values of a folder without sub-folders (a prefix that ends in ``/``) by key, sorted.

        It is for whoever reads all of a large one at once (``token_index``): one by one takes twice as long on SQLite.
        """

    def leaf(self, key: str) -> bytes | None:
        """Return the kept leaf digest of a key, or None."""

    def leaves(self) -> Mapping[str, bytes]:
        """Return all kept leaf digests by key, in any order, to be read and not changed."""

    def apply(self, writes: Writes, term: int, leaves: Leaves | None = None) -> None:
        """Carry out all writes, and keep leaf digests, in one transaction; None deletes; StaleTerm for an old term."""

    def belongs_to(self, term: int) -> bool:
        """Whether only the leader of this term writes here: then what it wrote is all that changed."""

    def claim(self, term: int) -> None:
        """Make a leadership term the newest one; raise StaleTerm when a newer one was claimed."""
