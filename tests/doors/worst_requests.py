"""The requests that take a server longest: large bodies of every kind, small chunks, large answers, large keys."""

from __future__ import annotations

MIB = 1_048_576
FORM, JSON = "application/x-www-form-urlencoded", "application/json"


def worst_requests(token: str) -> dict[str, bytes]:
    """Return requests in bytes by what they are."""
    open_path, own = "/v1/sys/unseal", "/v1/secret/data/worst"
    found = {}
    for who, path, sent in (("nobody", open_path, ""), ("a client", own, token)):
        for what, kind, body in (
            ("a form of many fields", FORM, b"a=b&" * (7 * MIB)),
            ("a form of 1 MiB", FORM, b"a=b&" * (MIB // 4)),
            ("a form of much that is encoded", FORM, b"key=" + b"%41" * (10 * MIB)),
            (
                "many members",
                JSON,
                b'{"data":{' + b",".join([b'"%x":1' % number for number in range(2_400_000)]) + b"}}",
            ),
            ("many items", JSON, b'{"data":{"x":[' + b"0," * (15 * MIB) + b"0]}}"),
            ("many items in 1 MiB", JSON, b'{"data":{"x":[' + b"0," * (MIB // 2 - 20) + b"0]}}"),
            ("as many values as are taken", JSON, _values()),
            ("long numbers", JSON, b'{"data":{"x":[' + b",".join([b"9" * 3_999] * 8_000) + b"]}}"),
            ("long fractions", JSON, b'{"data":{"x":[' + b",".join([b"0." + b"9" * 3_999] * 8_000) + b"]}}"),
            ("much that is escaped", JSON, b'{"data":{"x":"' + b'\\"' * (15 * MIB) + b'"}}'),
            ("much markup", JSON, b'{"data":{"x":"' + b"<" * (31 * MIB) + b'"}}'),
        ):
            found[f"{what}, from {who}"] = posted(path, sent, kind, body)
        small = b"1\r\na\r\n" * 300_000 + b"0\r\n\r\n"
        found[f"small chunks, from {who}"] = posted(path, sent, JSON, small, "Transfer-Encoding: chunked")
    found["an answer of much markup"] = (  # of what was sent just now
        f"GET {own} HTTP/1.1\r\nHost: localhost\r\nX-Vault-Token: {token}\r\n\r\n".encode()
    )
    found["the description"] = b"GET /v1/sys/internal/specs/openapi HTTP/1.1\r\nHost: localhost\r\n\r\n"
    found["a large key"] = posted("/v1/transit/keys/NUMBER", token, JSON, b'{"type":"rsa-4096"}')
    return found


def posted(path: str, token: str, kind: str, body: bytes, framing: str = "") -> bytes:
    """Return a request with a body."""
    framing = framing or f"Content-Length: {len(body)}"
    sent = f"X-Vault-Token: {token}\r\n" if token else ""
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{sent}Content-Type: {kind}\r\n{framing}\r\n\r\n".encode() + body


def _values() -> bytes:
    objects = [
        b'"%d":{%b}' % (number, b",".join([b'"%d":"%b"' % (n, b"v" * 90) for n in range(9_000)]))
        for number in range(27)
    ]
    return b'{"data":{' + b",".join(objects) + b"}}"
