"""Shapes: what the messages of replication look like, so that one of another shape is refused before it is read (R25).

1. A shape is judged by types, lengths and ranges only; whether a message is awaited is judged by who receives it.
2. Of a row all columns are judged; a message may have more fields than its shape.
3. No number, text or list of pages is longer than any that an honest sender has a use for.
4. A key that is received is in one of the two trees and is text that can be stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from labkit.service.limits import is_text, is_whole_number
from labkit.vault.replication.tree.merkle import COMPARED_PAGE_BYTES, DIGEST_BYTES, FAN_OUT, OUTSIDE, TREES
from labkit.vault.storage.barrier import KEY_BYTES

Check = Callable[[Any], bool]
Shape = Mapping[str, Check]

MAX_VERSION_CHARACTERS = 64
MAX_COUNT = 1 << 63
MAX_ADDRESSES = 64
MAX_TEXT_CHARACTERS = 65_536
MAX_ID_CHARACTERS = 256
"""The longest id that a primary issues an activation for."""

MAX_REASON_CHARACTERS = 4_096
MAX_KEYS = 1024
"""How many keys one question may ask for."""

MAX_PAGES = FAN_OUT * len(TREES)
ROWS = (tuple, list)


def malformed_question(rpc: Any, message: Any) -> str:
    """Return what is wrong with a question, an empty text when nothing is."""
    return _malformed("question", QUESTION_SHAPES, rpc, message)


def malformed_answer(rpc: Any, message: Any) -> str:
    """Return what is wrong with an answer, an empty text when nothing is."""
    shapes = ANSWER_SHAPES
    if type(message) is dict and message.get("gone") is True and _is_text(rpc) and rpc in shapes:
        return _unfit("answer", rpc, SERIAL, message)
    if rpc == "guard_hash" and type(message) is dict and message.get("found") is True:
        return _unfit("answer", rpc, GUARD_FOUND, message)
    return _malformed("answer", shapes, rpc, message)


def malformed_push(message: Any) -> str:
    """Return what is wrong with pushed entries, an empty text when nothing is."""
    if type(message) is dict:
        serial = message.get("serial")
        if type(serial) is int and 0 <= serial < MAX_COUNT and _are_entries(message.get("entries")):
            return ""  # as nearly every one
    gone = type(message) is dict and message.get("gone") is True
    return _unfit("message", "stream", SERIAL if gone else PUSH, message)


def malformed_announcement(message: Any) -> str:
    """Return what is wrong with the announcement of a primary's active node, an empty text when nothing is."""
    return _unfit("message", "announcement", ANNOUNCEMENT, message)


def malformed_credentials(shown: Any) -> str:
    """Return what is wrong with the credentials of a connection: either none are shown, or all."""
    return _unfit("message", "credentials", CREDENTIALS, shown) if shown != {} else ""


def malformed_bootstrap_request(operation: Any, body: Any) -> str:
    """Return what is wrong with what is asked before a connection, an empty text when nothing is."""
    if operation == "certificate":
        return _unfit("request", operation, PRESENTED, body)
    if operation == "challenge":
        return _unfit("request", operation, CHALLENGED, body)
    return malformed_credentials(body) if operation == "bootstrap" else "a bootstrap request of an unknown kind"


def _malformed(what: str, shapes: Mapping[str, Shape], rpc: Any, message: Any) -> str:
    if not _is_text(rpc) or rpc not in shapes:
        return f"a replication {what} of an unknown kind"
    return _unfit(what, rpc, shapes[rpc], message)


def _unfit(what: str, rpc: str, shape: Shape, message: Any) -> str:
    if type(message) is not dict:
        return f"a {rpc} {what} that has no fields"
    for name, fits in shape.items():
        if name not in message:
            return f"a {rpc} {what} without {name}"
        value = message[name]
        if fits is is_whole_number and type(value) is int and 0 <= value < MAX_COUNT:
            continue  # most fields of heartbeats and pushes: not worth a call
        if not fits(value):
            return f"a {rpc} {what} with a malformed {name}"
    return ""


# ---- one value


def _is_text(value: Any) -> bool:
    return type(value) is str and len(value) <= MAX_TEXT_CHARACTERS and (value.isascii() or is_text(value))


def is_id(value: Any) -> bool:
    """Whether a value may be a secondary's id."""
    return is_text(value) and len(value) <= MAX_ID_CHARACTERS


def is_short(value: Any) -> bool:
    """Whether a value may be the reason of a refusal, or an address in one."""
    return is_text(value) and len(value) <= MAX_REASON_CHARACTERS


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < MAX_COUNT


def _is_bytes(value: Any) -> bool:
    return type(value) is bytes


def _is_root_key(value: Any) -> bool:
    return type(value) is bytes and len(value) == KEY_BYTES


def _is_stored(value: Any) -> bool:
    return value is None or type(value) is bytes


def _is_fetched(value: Any) -> bool:
    return value is False or _is_stored(value)


def _is_digest(value: Any) -> bool:
    return type(value) is bytes and len(value) == DIGEST_BYTES


def _is_guard_or_none(value: Any) -> bool:
    return type(value) is bytes and len(value) in (0, DIGEST_BYTES)


def _is_page_of_digests(value: Any) -> bool:
    return type(value) is bytes and len(value) == COMPARED_PAGE_BYTES


def _is_page_or_empty(value: Any) -> bool:
    return type(value) is bytes and len(value) in (0, COMPARED_PAGE_BYTES)


def _is_tree(value: Any) -> bool:
    return type(value) is int and value in TREES


def _is_page(value: Any) -> bool:
    return type(value) is int and 0 <= value < FAN_OUT


def _is_bucket(value: Any) -> bool:
    return type(value) is int and 0 <= value < FAN_OUT * FAN_OUT


def _is_key(value: Any) -> bool:
    return is_text(value) and value != "" and not value.startswith(OUTSIDE)


def _are_entries(value: Any) -> bool:
    """Pushed entries, in one loop: every committed write is pushed to every secondary, and each push is judged."""
    if type(value) not in ROWS:
        return False
    for entry in value:
        if type(entry) not in ROWS or len(entry) != 2:
            return False
        number, changes = entry
        if not _is_count(number) or type(changes) not in ROWS:
            return False
        for change in changes:
            if type(change) not in ROWS or len(change) != 2:
                return False
            key, after = change
            if after is not None and type(after) is not bytes:
                return False
            if type(key) is not str or not key or not (key.isascii() or is_text(key)) or key.startswith(OUTSIDE):
                return False
    return True


def _is_version(value: Any) -> bool:
    return _is_text(value) and value.isascii() and len(value) <= MAX_VERSION_CHARACTERS


def _is_flag(value: Any) -> bool:
    return type(value) is bool


def _is_false(value: Any) -> bool:
    return value is False


# ---- many values


def _list_of(check: Check) -> Check:
    return lambda value: type(value) in ROWS and all(map(check, value))


def _rows_of(*columns: Check) -> Check:
    def fits(value: Any) -> bool:
        if type(value) not in ROWS:
            return False
        for row in value:
            if type(row) not in ROWS or len(row) != len(columns):
                return False
            for check, part in zip(columns, row, strict=True):
                if not check(part):
                    return False
        return True

    return fits


def _no_more(limit: int, check: Check) -> Check:
    """A list whose parts fit, ``limit`` at most: its length is judged first."""
    return lambda value: type(value) in ROWS and len(value) <= limit and check(value)


def _are_digests(value: Any) -> bool:
    """Digests, in one loop: the roots of a heartbeat's answer."""
    if type(value) not in ROWS:
        return False
    for digest in value:
        if type(digest) is not bytes:
            return False
        if len(digest) != DIGEST_BYTES:
            return False
    return True


def _are_addresses(value: Any) -> bool:
    """Addresses, in one loop: those in a heartbeat's answer."""
    if type(value) not in ROWS or len(value) > MAX_ADDRESSES:
        return False
    for text in value:
        if type(text) is not str or len(text) > MAX_TEXT_CHARACTERS or not (text.isascii() or is_text(text)):
            return False
    return True


def _two_digests(value: Any) -> bool:
    return _are_digests(value) and len(value) == len(TREES)


def _no_or_three_digests(value: Any) -> bool:
    return _are_digests(value) and len(value) in (0, 1 + len(TREES))


SERIAL: Shape = {"serial": is_whole_number}
_GENERATION: Shape = {**SERIAL, "generation": is_whole_number}

QUESTION_SHAPES: Mapping[str, Shape] = {
    "guard_hash": {
        **SERIAL,
        "guard": _is_digest,
        "compare": _is_flag,
        "addresses": _no_more(MAX_ADDRESSES, _list_of(is_text)),
    },
    "conflicting_pages": {**_GENERATION, "pages": _no_more(len(TREES), _rows_of(_is_tree, _is_page_of_digests))},
    "sub_page_hashes": {
        **_GENERATION,
        "subpages": _no_more(MAX_PAGES, _rows_of(_is_tree, _is_page, _is_page_or_empty)),
    },
    "fetch_keys": {**_GENERATION, "keys": _no_more(MAX_KEYS, _list_of(_is_key)), "limit_bytes": is_whole_number},
    "stream_wals": {**SERIAL, "from": is_whole_number},
    "root_key": SERIAL,
    "echo": {
        **SERIAL,
        "sent_ns": is_whole_number,
        "asked": is_whole_number,
        "aside": _is_flag,
        "position": is_whole_number,
        "last_heartbeat_duration_ms": is_whole_number,
        "clock_skew_ms": is_whole_number,
        "replication_primary_canary_age_ms": is_whole_number,
    },
}

GUARD_FOUND: Shape = {
    **SERIAL,
    "index": _is_count,
    "last": _is_count,
    "cluster_addrs": _are_addresses,
    "term": _is_count,
}

ANSWER_SHAPES: Mapping[str, Shape] = {
    "guard_hash": {
        **SERIAL,
        "found": _is_false,
        "generation": _is_count,
        "roots": _two_digests,
        "cluster_addrs": _are_addresses,
        "term": _is_count,
    },
    "conflicting_pages": {**SERIAL, "pages": _no_more(MAX_PAGES, _rows_of(_is_tree, _is_page))},
    "sub_page_hashes": {
        **SERIAL,
        "done": _is_count,
        "buckets": _rows_of(_is_tree, _is_bucket),
        "leaves": _rows_of(_is_key, _is_digest),
    },
    "fetch_keys": {**SERIAL, "values": _rows_of(_is_key, _is_fetched)},
    "stream_wals": {**SERIAL, "from": _is_count, "last": _is_count},
    "root_key": {**SERIAL, "root_key": _is_root_key, "keyring": _is_bytes, "seal_config": _is_bytes},
    "echo": {
        **SERIAL,
        "sent_ns": is_whole_number,
        "asked": is_whole_number,
        "aside": _is_flag,
        "wall_ns": is_whole_number,
        "api_addr": _is_text,
        "cluster_addr": _is_text,
        "cluster_addrs": _are_addresses,
        "term": _is_count,
        "last_wal": _is_count,
        "stream": is_whole_number,
        "sent": _is_count,
        "guard": _is_guard_or_none,
        "roots": _no_or_three_digests,
    },
}

PUSH: Shape = {**SERIAL, "entries": _are_entries}

ANNOUNCEMENT: Shape = {
    "cluster_id": is_text,
    "secondary_id": is_id,
    "term": _is_count,
    "address": is_text,
    "signature": _is_bytes,
}
PRESENTED: Shape = {"nonce": is_id}
CHALLENGED: Shape = {"cluster_id": _is_text, "secondary_id": is_id}

CREDENTIALS: Shape = {
    "cluster_id": _is_text,
    "secondary_id": is_id,
    "certificate": _is_text,
    "challenge": is_text,
    "seal": _is_bytes,
    "signature": _is_bytes,
    "version": _is_version,
}
