"""Answer bytes: lines of an answer, the server's date, and a connection that is kept for a client of HTTP/1.0."""

from __future__ import annotations

from labkit.doors.connections.answer_bytes import AnswerBytes
from labkit.doors.http_exchange import Answer
from labkit.service.message import respond

DATED = [(b"date", b"Mon")]


def test_usual_and_other_answers_are_written_alike() -> None:
    answers, usual = AnswerBytes(), respond(200).headers
    first = answers.written(Answer(200, usual, b"{}\n"), DATED)

    assert first == (
        b"HTTP/1.1 200 OK\r\ndate: Mon\r\ncontent-type: application/json\r\ncache-control: no-store\r\n"
        b"content-length: 3\r\n\r\n{}\n"
    )
    assert answers.written(Answer(200, {**usual, "X": "y"}, b"{}\n"), DATED) == first.replace(
        b"content-length", b"x: y\r\ncontent-length"
    )
    assert answers.written(Answer(200, usual, b"{}\n"), DATED, is_old=True) == first.replace(
        b"content-type", b"connection: keep-alive\r\ncontent-type"
    )
    assert answers.written(Answer(204, {}, b""), DATED) == b"HTTP/1.1 204 No Content\r\ndate: Mon\r\n\r\n"
    assert answers.written(Answer(472, {}, b""), DATED).startswith(b"HTTP/1.1 472 \r\n")
    assert answers.written(Answer(200, usual, b""), [(b"date", b"Tue")]).count(b"date: Tue\r\n") == 1
