"""The doors for httpx: a client's URLs below ``http://labkit`` are answered in process.

    client = httpx.Client(transport=Transport(vault), base_url="http://labkit")
    client.get("/v1/sys/health")

``AsyncTransport`` is the same for an ``httpx.AsyncClient``; an answer is made at once, without waiting.
"""

from __future__ import annotations

from labkit.doors.missing_client import missing_client

try:
    import httpx
except ModuleNotFoundError as error:
    raise missing_client("httpx", error) from None

from labkit.doors.http_exchange import HttpExchange, Service
from labkit.service.limits import MAX_REQUEST_BYTES
from labkit.service.silence import Dropped


class Transport(httpx.BaseTransport):
    """Answers the requests of a client by a vault, or by a cluster of a lab, whose clock moves meanwhile."""

    def __init__(self, service: Service, max_request_bytes: int = MAX_REQUEST_BYTES) -> None:
        self.exchange = HttpExchange(service, max_request_bytes)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request; ReadTimeout is raised for silence within its timeout."""
        return answered(self.exchange, request, request.read())


class AsyncTransport(httpx.AsyncBaseTransport):
    """Answers the requests of an asynchronous client, as ``Transport`` does."""

    def __init__(self, service: Service, max_request_bytes: int = MAX_REQUEST_BYTES) -> None:
        self.exchange = HttpExchange(service, max_request_bytes)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request; ReadTimeout is raised for silence within its timeout."""
        return answered(self.exchange, request, await request.aread())


def answered(exchange: HttpExchange, request: httpx.Request, content: bytes) -> httpx.Response:
    """Answer a request whose body was read."""
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
    target = request.url.raw_path.decode("ascii")
    timeout_s = request.extensions.get("timeout", {}).get("read")
    try:
        answer = exchange.answer(request.method, target, headers, content, timeout_s)
    except Dropped as error:
        raise httpx.RemoteProtocolError(str(error), request=request) from error
    except TimeoutError as error:
        raise httpx.ReadTimeout(str(error), request=request) from error
    sent = b"" if request.method == "HEAD" else answer.content
    return httpx.Response(answer.status, headers=answer.headers, content=sent, request=request)
