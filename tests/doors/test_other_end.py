"""The other end of a connection, as far as it is known."""

from __future__ import annotations

from labkit.doors.other_end import OtherEnd, other_end


def test_what_is_not_known_is_this_machine() -> None:
    assert other_end(("192.0.2.7", 5), ("127.0.0.1", 8200), lambda: True)[:2] == ("192.0.2.7", 8200)
    for client, server in ((None, None), ((), ("unix", None))):
        end = other_end(client, server, lambda: True)
        assert (end.address, end.port, end.is_gone()) == ("127.0.0.1", 0, True)
    assert not OtherEnd().is_gone()
