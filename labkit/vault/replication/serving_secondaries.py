"""An upstream's side of replication: it answers five questions and the heartbeat, and pushes the stream.

1. Questions and answers are plain dicts of text, numbers, bytes and lists; an answer repeats the ``serial``.
2. Both round trips of a comparison, and every key fetched after it, belong to one generation: the newest when
   the guard was missing.  Later writes are undone for the answer.
3. When the backlog does not reach that generation the answer is ``gone: true``; the secondary starts again.
4. The secondary sends its hashes, the first 16 bytes of each, and the upstream compares; a page without leaves is sent
   as empty bytes.
5. A question changes nothing in the upstream but its caches.

Questions and answers:

- guard_hash: guard, compare (do not look for it), the secondary's node addresses → found true, index, last; or found
  false, generation, roots [replicated, local]; with either the answering cluster's addresses and leadership term
- conflicting_pages: generation, pages [[tree, 256 page hashes]] → pages [[tree, page]]
- sub_page_hashes: generation, subpages [[tree, page, 256 subpages]] → done (how many of them were compared),
  buckets [[tree, bucket]] that differ, leaves [[key, digest]] of those buckets
- fetch_keys: generation, keys, limit_bytes → values [[key, ciphertext or None]] of as many keys as fit; false in place
  of a ciphertext that is not what its leaf stands for: damage is named, and not shipped
- stream_wals: from → from, last; pushes follow: entries ((number, ((key, ciphertext or None), ...)), ...)
- echo: what ``sync`` puts into a heartbeat → this side's clock, addresses, positions and guard, and, when nothing is on
  its way, roots [composite, replicated, local]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from labkit.vault.replication.events import Changes
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.replication.tree.merkle import COMPARED_PAGE_BYTES, FAN_OUT, TREES, compared, differing_parts

Message = dict[str, Any]

DIFF_BYTES = 1 << 20
"""About how many bytes of leaves one answer to ``sub_page_hashes`` holds; the rest is asked for again."""

PUSH_BYTES = 1 << 18
"""About how many bytes one push holds."""


class SecondaryStream(NamedTuple):
    """What an upstream remembers of one secondary's stream: the serial of its request, and the last entry pushed."""

    serial: int
    sent: int
    broken: bool = False


class Shipment(NamedTuple):
    """Entries as they are pushed, (number, ((key, ciphertext or None), ...)), and what a push of them weighs."""

    entries: tuple[tuple[int, Changes], ...]
    size_bytes: int

    def __repr__(self) -> str:
        return f"Shipment({len(self.entries)} entries)"


class Here(NamedTuple):
    """What a heartbeat's answer reports of this node: wall clock, addresses, term, and the secondary's stream."""

    wall_ns: int
    term: int = 0
    api_addr: str = ""
    cluster_addr: str = ""
    cluster_addrs: tuple[str, ...] = ()
    stream: SecondaryStream | None = None


def guard_hash(journal: Journal, question: Mapping[str, Any]) -> Message:
    """Return which generation has the secondary's guard, or the newest one's subtree roots."""
    generation = None if question["compare"] else journal.find(question["guard"])
    if generation is not None:
        return _answer(question, found=True, index=generation, last=journal.last)
    tree = journal.tree
    assert tree is not None, "replication is off: refuse the question before it gets here"
    return _answer(question, found=False, generation=journal.last, roots=tree.roots()[1:])


def conflicting_pages(journal: Journal, question: Mapping[str, Any]) -> Message:
    """Return which pages' hashes differ from the secondary's."""
    generation = journal.as_of(question["generation"])
    if generation is None:
        return _gone(question)
    pages: list[list[int]] = []
    for tree, theirs in question["pages"]:
        pages += [[tree, page] for page in differing_parts(compared(generation.pages(tree)), theirs)]
    return _answer(question, pages=pages)


def sub_page_hashes(journal: Journal, question: Mapping[str, Any]) -> Message:
    """Compare subpages, page by page, and list the leaves of those that differ."""
    generation = journal.as_of(question["generation"])
    if generation is None:
        return _gone(question)
    differing: list[tuple[int, set[int]]] = []
    for tree, page, theirs in question["subpages"]:
        ours = compared(generation.subpages(tree, page))
        numbers = differing_parts(ours, theirs or bytes(COMPARED_PAGE_BYTES))
        differing.append((tree, {page * FAN_OUT + number for number in numbers}))
    for tree in TREES:  # one pass over a tree for all of its pages
        generation.leaves(tree, {number for other, numbers in differing if other == tree for number in numbers})
    done = 0
    buckets: list[list[int]] = []
    leaves: list[list[Any]] = []
    size_bytes = 0
    for tree, page_buckets in differing:
        if size_bytes > DIFF_BYTES:
            break
        listed = [[key, leaf] for key, leaf in generation.leaves(tree, page_buckets).items()]
        buckets += [[tree, number] for number in sorted(page_buckets)]
        leaves += listed
        size_bytes += sum(len(key) + len(leaf) for key, leaf in listed)
        done += 1
    return _answer(question, done=done, buckets=buckets, leaves=leaves)


def fetch_keys(journal: Journal, question: Mapping[str, Any]) -> Message:
    """Give the ciphertexts of keys, in their order, until ``limit_bytes`` is passed; of one key at least."""
    generation = journal.as_of(question["generation"])
    if generation is None:
        return _gone(question)
    values: list[list[Any]] = []
    size_bytes = 0
    for key in question["keys"]:
        if size_bytes > question["limit_bytes"]:
            break
        value = generation.value(key)
        values.append([key, False if generation.is_damaged(key, value) else value])
        size_bytes += len(key) + len(value or b"")
    return _answer(question, values=values)


def stream_wals(journal: Journal, question: Mapping[str, Any]) -> Message:
    """Agree to push all entries after a number, or say that they are gone."""
    if journal.since(question["from"]) is None:
        return _gone(question)
    return _answer(question, **{"from": question["from"], "last": journal.last})


def echo(journal: Journal, question: Mapping[str, Any], here: Here) -> Message:
    """Answer a heartbeat: clock, addresses, positions, and the guard when everything was pushed.

    Clock and ``last_wal`` together are the canary: a secondary that applied that entry has seen this instant.
    """
    stream = here.stream or SecondaryStream(0, 0)
    tree = journal.tree
    all_pushed = tree is not None and not stream.broken and stream.sent == journal.last
    at_rest = all_pushed and question["position"] == journal.last
    return _answer(
        question,
        sent_ns=question["sent_ns"],
        asked=question["asked"],
        aside=question["aside"],
        wall_ns=here.wall_ns,
        api_addr=here.api_addr,
        cluster_addr=here.cluster_addr,
        cluster_addrs=list(here.cluster_addrs),
        term=here.term,
        last_wal=journal.last,
        stream=0 if stream.broken else stream.serial,
        sent=stream.sent,
        guard=tree.guard() if tree is not None and all_pushed else b"",
        roots=tree.roots() if tree is not None and at_rest else [],
    )


QUESTIONS: dict[str, Callable[[Journal, Mapping[str, Any]], Message]] = {
    "guard_hash": guard_hash,
    "conflicting_pages": conflicting_pages,
    "sub_page_hashes": sub_page_hashes,
    "fetch_keys": fetch_keys,
    "stream_wals": stream_wals,
}
"""Every question that is answered from the journal only; ``echo`` needs facts about the answering node too."""


def opened(answer: Mapping[str, Any]) -> SecondaryStream | None:
    """Return the record of the stream that an answer of ``stream_wals`` agreed to, None when it did not."""
    return None if answer.get("gone") else SecondaryStream(answer["serial"], answer["from"])


def shipment(journal: Journal, after: int, limit_bytes: int = PUSH_BYTES) -> Shipment | None:
    """Return what a push holds for every stream that stands at an entry; None when the backlog dropped the next one."""
    entries = journal.since(after)
    if entries is None:
        return None
    shipped: list[tuple[int, Changes]] = []
    size_bytes = 0
    for entry in entries:
        if shipped and size_bytes > limit_bytes:
            break
        shipped.append((entry.number, tuple([(key, after) for key, _, after in entry.changes])))
        size_bytes += entry.size_bytes
    return Shipment(tuple(shipped), push_bytes(shipped))


def push(stream: SecondaryStream, shipped: Shipment | None) -> tuple[SecondaryStream, Message, int]:
    """Return a stream after its next push, the push, and what it weighs; call it until all is sent.

    Where nothing can be shipped any more, the last push is {serial, gone: true}.
    """
    serial = stream.serial
    if shipped is None:
        gone = {"serial": serial, "gone": True}
        return SecondaryStream(serial, stream.sent, broken=True), gone, size_bytes(gone)
    entries = shipped.entries
    following = SecondaryStream(serial, entries[-1][0])
    return following, {"serial": serial, "entries": entries}, shipped.size_bytes


def size_bytes(message: Any) -> int:
    """Return about how many bytes a message takes on the wire: contents, and a few for each part's framing."""
    kind = type(message)
    if kind is dict:
        size = 2 + len("".join(message))  # of the names
        for part in message.values():
            kind = type(part)
            if kind is str or kind is bytes:
                size += 3 + len(part)
            elif kind is list or kind is tuple:
                size += 3
                for item in part:
                    kind = type(item)
                    size += 2 + len(item) if kind is str or kind is bytes else size_bytes(item)
            elif kind is dict:
                size += 1 + size_bytes(part)
            else:
                size += 5
        return size
    if kind is list or kind is tuple:
        size = 2
        for part in message:
            kind = type(part)
            size += 2 + len(part) if kind is str or kind is bytes else size_bytes(part)
        return size
    return 2 + len(message) if kind is str or kind is bytes else 4


def push_bytes(entries: Iterable[tuple[int, Changes]]) -> int:
    """Return what ``size_bytes`` returns of a push of these entries, in a loop: there is one push per write."""
    size = EMPTY_PUSH_BYTES
    for _, changes in entries:
        size += 8 + sum([len(key) + (8 if after is None else 6 + len(after)) for key, after in changes])
    return size


EMPTY_PUSH_BYTES = size_bytes({"serial": 0, "entries": ()})


def _answer(question: Mapping[str, Any], **parts: Any) -> Message:
    return {"serial": question["serial"], **parts}


def _gone(question: Mapping[str, Any]) -> Message:
    return {"serial": question["serial"], "gone": True}
