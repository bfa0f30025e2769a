"""The door for `requests`: a session's URLs below ``http://labkit`` are answered in process.

session = requests.Session()
session.mount("http://labkit", Adapter(vault))
session.get("http://labkit/v1/sys/health")
"""

from __future__ import annotations

from collections.abc import Mapping
from http.client import responses
from io import BytesIO
from typing import Any

from labkit.doors.missing_client import missing_client

try:
    from requests import PreparedRequest, Response
    from requests.adapters import BaseAdapter
    from requests.exceptions import ConnectionError, ReadTimeout  # noqa: A004  # the library's name for it
    from requests.structures import CaseInsensitiveDict
    from urllib3 import HTTPResponse, Timeout
except ModuleNotFoundError as error:
    raise missing_client("requests", error) from None

from labkit.doors.http_exchange import Answer, HttpExchange, Service
from labkit.service.limits import MAX_REQUEST_BYTES
from labkit.service.silence import Dropped

HTTP_1_1 = 11


class Adapter(BaseAdapter):
    """Answers the requests of a session by a vault, or by a cluster of a lab, whose clock moves meanwhile."""

    def __init__(self, service: Service, max_request_bytes: int = MAX_REQUEST_BYTES) -> None:
        super().__init__()
        self.exchange = HttpExchange(service, max_request_bytes)

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,
        timeout: float | tuple[float, float] | tuple[float, None] | None = None,
        verify: bool | str = True,
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> Response:
        """Answer a prepared request; raise ReadTimeout for silence within its timeout, ConnectionError for a drop."""
        headers = [(text_of(name), text_of(value)) for name, value in request.headers.items()]
        try:
            answer = self.exchange.answer(
                request.method or "GET", request.path_url, headers, content_of(request.body), read_timeout_s(timeout)
            )
        except Dropped as error:
            raise ConnectionError(error, request=request) from error
        except TimeoutError as error:
            raise ReadTimeout(error, request=request) from error
        return response_of(answer, request)

    def close(self) -> None:
        """Do nothing, as nothing is connected."""


def response_of(answer: Answer, request: PreparedRequest | None = None) -> Response:
    """Return an answer as `requests` shows it."""
    response = Response()
    response.status_code = answer.status
    response.headers = CaseInsensitiveDict(answer.headers)
    response.encoding, response.reason = "utf-8", responses.get(answer.status, "")
    content = b"" if request is not None and request.method == "HEAD" else answer.content
    response.raw = HTTPResponse(
        BytesIO(content), answer.headers, answer.status, version=HTTP_1_1, reason=response.reason, preload_content=False
    )
    if request is not None:
        response.request, response.url = request, request.url or ""
    return response


def read_timeout_s(timeout: Any) -> float | None:
    """Return how long a session waits for an answer: a number of seconds, the second of two, or urllib3's own."""
    if isinstance(timeout, Timeout):
        begun = timeout.clone()
        begun.start_connect()
        timeout = begun.read_timeout
    seconds = timeout[1] if isinstance(timeout, tuple) else timeout
    return seconds if isinstance(seconds, int | float) else None


def text_of(value: str | bytes) -> str:
    """Return a header's name or value, which a session may hold as bytes."""
    return value.decode("latin-1") if isinstance(value, bytes) else value


def content_of(body: Any) -> bytes:
    """Return a body in bytes, whatever a session holds it as: nothing, text, bytes, a file, or pieces."""
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytes):
        return body
    if hasattr(body, "read"):
        return content_of(body.read())
    return b"".join(map(content_of, body))
