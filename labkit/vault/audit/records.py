"""Audit records: what is written of a request and of its response.

1. ``Facts`` is what a request's records say, the same for every device; ``lay_out`` makes the record of one device of
   it, which hides values under its own salt.  Members that are empty are left out.
2. A record is JSON, put together of the texts of its parts.  What a request's two records say alike (who asks for what)
   is made for the first, and the second repeats it.
3. Members are written with a comma in front; the one of an object's first member is cut off.
4. What a record says of a namespace and of a mount is a function of them: made once for each, as they are few and the
   same for nearly every request (a tenth of what the records of an encryption take).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS, format_instant
from labkit.vault.audit.callers import ShownCaller, policy_results, shown_caller
from labkit.vault.audit.devices import Device
from labkit.vault.audit.headers import HEADERS, read_headers
from labkit.vault.audit.hiding import hide, hide_credentials, hide_echoes, hide_token
from labkit.vault.storage.records import encode_text, to_json

if TYPE_CHECKING:
    from labkit.service.message import Response
    from labkit.vault.context import Context
    from labkit.vault.mounts import Mount, Namespace


class Facts:
    """What a request's records say before anything is hidden, made once for all devices; ``begin`` begins each."""

    __slots__ = ("asked", "both", "error", "kind", "mount", "now", "operation", "place", "response", "time")

    def __init__(self, ctx: Context) -> None:
        namespace = ctx.namespace
        write = "create" if ctx.is_create else "update"
        self.operation = write if ctx.operation == "write" else ctx.operation
        self.mount = None if ctx.resolved is None else ctx.resolved.mount
        self.place = "" if self.mount is None else _place(namespace, self.mount)
        self.asked = (
            f',"id":"{ctx.request_id}","operation":"{self.operation}","namespace":{_namespace(namespace)},'
            f'"path":{encode_text(ctx.path)},"remote_address":{_address(ctx.request.remote_address)}'
        )
        self.both: dict[str, str] = {}  # by a device's path: what its record of the request and of the response say
        self.now = -1
        self.kind = self.time = self.error = ""
        self.response: Response | None = None

    def __repr__(self) -> str:
        return f"Facts({self.kind}, {self.operation})"

    def begin(self, ctx: Context, kind: str, response: Response | None) -> None:
        """Begin the record of the request or of the response; ``response``: the answer, as far as it is known."""
        if ctx.now != self.now:  # a request that fetched is answered later than it was asked
            self.now, self.time = ctx.now, format_instant(ctx.now)
        errors = [] if response is None else response.errors
        self.error = "; ".join([*errors, ctx.audit_reason] if ctx.audit_reason else errors) if errors else ""
        self.kind, self.response = kind, response if kind == "response" else None

    def properties(self, ctx: Context) -> dict[str, str]:
        """Return what a filter looks at."""
        return {
            "mount_point": ctx.namespace.path + self.mount.path if self.mount is not None else "",
            "mount_type": self.mount.shown_kind if self.mount is not None else "",
            "namespace": ctx.namespace.path,
            "operation": self.operation,
            "path": ctx.path,
        }


def lay_out(ctx: Context, facts: Facts, device: Device) -> str:
    """Return a device's record."""
    both = facts.both.get(device.path)
    if both is None:
        both = facts.both[device.path] = _both(ctx, facts, device)
    error = f',"error":{encode_text(hide_echoes(device, facts.error, ctx.body))}' if facts.error else ""
    response = ""
    if facts.response is not None:
        response = f',"response":{{{_response(facts, facts.response, device)[1:]}}}'
    return f'{{"time":"{facts.time}","type":"{facts.kind}"{error}{both}{response}}}'


def test_record(ctx: Context, path: str) -> str:
    """Return the record by which a device is tried when it is enabled."""
    return (
        f'{{"time":"{format_instant(ctx.now)}","type":"request","request":{{"id":"{ctx.request_id}",'
        f'"operation":"update","namespace":{_namespace(ctx.namespace)},"path":{encode_text(path)}}}}}'
    )


def _both(ctx: Context, facts: Facts, device: Device) -> str:
    """Return what both records of a request say: who asks, and for what."""
    caller, shown = ctx.caller, shown_caller(ctx, device)
    request = f',"request":{{{_request(ctx, facts, device, shown)[1:]}}}'
    if caller is None:
        return request
    auth = shown.auth + policy_results(ctx, caller, facts.operation, shown)
    return f',"auth":{{{auth[1:]}}}{request}'


def _request(ctx: Context, facts: Facts, device: Device, shown: ShownCaller) -> str:
    mount = facts.mount
    wrap_ttl = f',"wrap_ttl":{ctx.wrap_ttl_ns // SECOND_NS}' if ctx.wrap_ttl_ns else ""
    data = headers = ""
    if ctx.body:
        data = f',"data":{hide(device, ctx.body, mount.audit_non_hmac_request_keys if mount else ())}'
    if ctx.source.read(HEADERS) is not None:
        named = _headers(ctx, device)
        headers = f',"headers":{to_json(named)}' if named else ""
    return f"{facts.asked}{facts.place}{shown.request}{wrap_ttl}{data}{headers}"


def _headers(ctx: Context, device: Device) -> dict[str, list[str]]:
    """Return the request's headers that are audited, each hidden where that was asked for."""
    shown = {}
    for name, is_hidden in read_headers(ctx).items():
        value = ctx.headers.get(name)
        if value is not None:
            shown[name] = [hide_token(device, value) if is_hidden else value]
    return shown


def _address(address: Any) -> str:
    return encode_text(address) if type(address) is str else to_json(address)


@lru_cache(maxsize=256)
def _namespace(namespace: Namespace) -> str:
    return f'{{"id":{encode_text(namespace.id)},"path":{encode_text(namespace.path)}}}'


@lru_cache(maxsize=256)
def _place(namespace: Namespace, mount: Mount) -> str:
    return (
        f',"mount_point":{encode_text(namespace.path + mount.path)},"mount_type":{encode_text(mount.shown_kind)},'
        f'"mount_accessor":{encode_text(mount.accessor)},'
        f'"mount_class":"{"auth" if mount.path.startswith("auth/") else "secret"}"'
    )


def _response(facts: Facts, response: Response, device: Device) -> str:
    body, members = response.body if type(response.body) is dict else {}, facts.place
    for name in ("auth", "wrap_info"):
        if body.get(name):
            members += f',"{name}":{to_json(hide_credentials(device, body[name]))}'
    data = body.get("data")
    if data:
        if device.elides_lists and facts.operation == "list":
            data = _elided(data)
        members += f',"data":{hide(device, data, facts.mount.audit_non_hmac_response_keys if facts.mount else ())}'
    if body.get("warnings"):
        members += f',"warnings":{hide(device, body["warnings"])}'
    return members


def _elided(data: dict[str, Any]) -> dict[str, Any]:
    """Return a list's answer with the number of its names in place of them."""
    elided = ("keys", "key_info")
    return {
        name: len(value) if name in elided and isinstance(value, (list, dict)) else value
        for name, value in data.items()
    }
