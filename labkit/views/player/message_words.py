"""Message words: what one message of each kind is called to people; several of them with an s."""

from __future__ import annotations

WORDS = {
    "response": "answer",
    "forwarded_request": "forwarded request",
    "forwarded_answer": "forwarded answer",
    "stream": "stream message",
    "stream_wals": "stream agreement",
    "echo": "heartbeat",
    "guard_hash": "guard message",
    "conflicting_pages": "page comparison",
    "sub_page_hashes": "subpage comparison",
    "fetch_keys": "key fetch message",
    "disconnect": "disconnection",
    "root_key": "root key message",
    "forged": "forged message",
}
"""{what the trace calls a message: what it is called}; any other as in the trace."""


def words_of(what: str) -> str:
    """Return what one message of a kind is called."""
    return WORDS.get(what, what.replace("_", " "))
