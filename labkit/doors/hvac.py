"""The door for hvac: a client whose requests are answered in process.

    client = hvac.Client(token=vault.root_token, adapter=Adapter(vault))
    client.secrets.kv.v2.read_secret_version("app")

All of hvac is at work, and the classes of `requests`, but no socket; an answer is turned into bytes only for whom asks
for bytes.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode, urlsplit

from labkit.doors.missing_client import missing_client

try:
    from hvac.adapters import JSONAdapter
    from hvac.constants.client import DEFAULT_URL
    from requests import Request, Response, Session
    from requests.exceptions import ConnectionError, ReadTimeout  # noqa: A004  # the library's name for it
    from requests.structures import CaseInsensitiveDict
except ModuleNotFoundError as error:
    raise missing_client("hvac", error) from None

from labkit.doors import requests as requests_door
from labkit.doors.http_exchange import API, BODY_METHODS, Service, moves_clock, timeout_text, written
from labkit.service import message
from labkit.service.silence import Dropped

ADDRESS = "http://labkit"
PLAIN = frozenset(("params", "json", "timeout", "allow_redirects", "verify", "cert", "proxies"))


def Adapter(service: Service) -> type[JSONAdapter]:  # noqa: N802  # it stands where hvac wants a class
    """Return the class of adapters that a client is given: bound to a vault or to a cluster of a lab."""

    class Bound(JSONAdapter):
        """The adapter of one client."""

        def __init__(self, **settings: Any) -> None:
            if settings.get("base_uri") == DEFAULT_URL:
                settings["base_uri"] = ADDRESS  # errors name no server that is not asked
            super().__init__(**{**settings, "session": InProcessSession(service)})

    return Bound


class InProcessSession(Session):
    """A session whose requests are answered by a vault or a cluster, whatever host their URL names."""

    def __init__(self, service: Service) -> None:
        super().__init__()
        self.trust_env = False
        self._service, self._timed = service, moves_clock(service)
        for scheme in ("http://", "https://"):
            self.mount(scheme, requests_door.Adapter(service))

    def request(  # type: ignore[override]  # what else a session takes is passed on to it
        self, method: str, url: str, headers: Any = None, **how: Any
    ) -> Response:
        """Answer one request; one with files, forms or the like goes the longer way through ``requests``."""
        parts, method = urlsplit(url), method.upper()
        if not (PLAIN.issuperset(how) and parts.path.startswith(API)):
            return super().request(method, url, headers=headers, **how)
        sent = {name: value for name, value in (how.get("params") or {}).items() if value is not None}
        query = "&".join(part for part in (parts.query, urlencode(sent, doseq=True)) if part)
        body = how.get("json") if method in BODY_METHODS else None
        timeout_s = requests_door.read_timeout_s(how.get("timeout"))
        timeout = {"timeout": timeout_text(timeout_s)} if self._timed and timeout_s else {}
        target = f"{parts.path}?{query}" if query else parts.path
        try:
            answer = self._service.request(method, target, body, dict(headers or {}), **timeout)
        except Dropped as error:
            raise ConnectionError(error) from error
        except TimeoutError as error:
            raise ReadTimeout(error) from error
        if "Location" in answer.headers and how.get("allow_redirects", True):
            asked = self.prepare_request(Request(method, url, headers, params=sent, json=body))
            led: list[Response] = [requests_door.response_of(written(answer), asked)]
            led.extend(self.resolve_redirects(led[0], asked, timeout=how.get("timeout")))
            return led[-1]
        return InProcessResponse(answer._replace(body=None) if method == "HEAD" else answer, url)


class InProcessResponse(Response):
    """An answer that is already a dict; bytes and text are made when they are asked for."""

    def __init__(self, answer: message.Response, url: str) -> None:
        super().__init__()
        self.status_code, self.url, self.encoding = answer.status, url, "utf-8"
        self.headers = CaseInsensitiveDict(answer.headers)
        self._answer = answer

    @property
    def content(self) -> bytes:
        """The body in bytes."""
        return written(self._answer).content

    def json(self, **how: Any) -> Any:
        """The body; like ``requests``, raise a ValueError where there is none."""
        return super().json(**how) if how or self._answer.body is None else self._answer.body
