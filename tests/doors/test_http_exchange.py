"""Requests in bytes: what is read of them, what is refused, and that refusals go the way of all requests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import Lab, Vault
from labkit.doors.http_exchange import (
    Answer,
    HttpExchange,
    RequestReader,
    first_of_each,
    read_body,
    timeout_text,
    written,
)
from labkit.service.message import Response, Unreadable
from tests.examples import examples

FORM = "application/x-www-form-urlencoded"


def ask(service: Any, method: str, target: str, content: bytes = b"", **headers: str) -> Answer:
    """Ask with the root token."""
    sent = [("X-Vault-Token", service.root_token), *((name.replace("_", "-"), text) for name, text in headers.items())]
    return HttpExchange(service).answer(method, target, sent, content)


def test_a_request_in_bytes_is_answered_as_one_in_process(vault: Vault) -> None:
    written = ask(vault, "POST", "/v1/secret/data/app", b'{"data": {"user": "ada"}}')
    read = ask(vault, "GET", "/v1/secret/data/app?version=1")

    assert (written.status, read.status) == (200, 200)
    assert read.headers == {"Content-Type": "application/json", "Cache-Control": "no-store"}
    assert read.content.endswith(b"}\n")
    assert json.loads(read.content)["data"]["data"] == {"user": "ada"}
    assert ask(vault, "DELETE", "/v1/secret/data/app") == (204, read.headers, b"")


@pytest.mark.parametrize("target", ["/", "/ui", "/v2/sys/health", "/v1", "v1/sys/health", "/V1/sys/health", "*", ""])
def test_only_the_api_leads_to_the_service(vault: Vault, target: str) -> None:
    assert ask(vault, "GET", target) == (404, {"Content-Type": "application/json"}, b'{"errors":[]}\n')
    assert len(vault.calls) == 0


def audit_log(vault: Vault) -> list[bytes]:
    """The records of its audit device."""
    return (vault.files.read("audit.log") or b"").splitlines()


UNREADABLE = [
    (b"{", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    (b'{"data": {"a": 1}', "Expecting ',' delimiter: line 1 column 18 (char 17)"),
    (b'{"data": {"a": 1}} {}', "Extra data: line 1 column 20 (char 19)"),
    (b'{"data": {"a": 01}}', "Expecting ',' delimiter: line 1 column 17 (char 16)"),
    (b'{"data": {"a": NaN}}', "NaN is not a JSON number"),
    (b'{"data": {"a": -Infinity}}', "-Infinity is not a JSON number"),
    (b'{"data": {"a": 1e999}}', "inf is not a JSON number"),
    (b'{"data": {"a": "\\ud800"}}', "half of a surrogate pair is not text"),
    (b'{"data": {"a": "\xff"}}', "byte 16 is not UTF-8"),
    (b'\xef\xbb\xbf{"data": {}}', "Expecting value: line 1 column 1 (char 0)"),
    ('{"data": {}}'.encode("utf-16"), "byte 0 is not UTF-8"),
    (b'{"data": {"a": ' + b"1" * 5_000 + b"}}", "Exceeds the limit"),
    (b'{"data": {"a": ' + b"1" * 4_001 + b"}}", "a whole number of more than 4000 digits"),
    (b"[" * 100_000, "nested too deeply"),
    (b'{"data": ' + b"[" * 301 + b"]" * 301 + b"}", "nested deeper than 300 levels"),
    (b"[1]", "the body is not an object"),
    (b'"text"', "the body is not an object"),
    (b"plain", "Expecting value: line 1 column 1 (char 0)"),
]


@pytest.mark.parametrize(("content", "why"), UNREADABLE, ids=[str(row[0][:24]) for row in UNREADABLE])
def test_what_cannot_be_read_is_refused_recorded_and_changes_nothing(vault: Vault, content: bytes, why: str) -> None:
    vault.post("sys/audit/file", {"type": "file", "options": {"file_path": "audit.log"}})
    store: Any = vault.core.storage
    before, records = store.state(), len(audit_log(vault))

    answer = ask(vault, "POST", "/v1/secret/data/app", content)

    assert answer.status == 400
    assert json.loads(answer.content)["errors"][0].startswith(f"failed to decode JSON input: {why}")
    assert store.state() == before
    assert len(audit_log(vault)) == records + 2
    assert vault.calls[-1].status == 400


def test_null_is_no_body_as_clients_send_it_for_a_write_without_data(vault: Vault) -> None:
    assert ask(vault, "PUT", "/v1/transit/keys/app", b"null").status == 200
    assert ask(vault, "PUT", "/v1/transit/keys/app/rotate", b" null\n").status == 200
    assert vault.get("transit/keys/app").data["latest_version"] == 2


def test_a_body_over_the_limit_is_refused_unread(vault: Vault) -> None:
    exchange = HttpExchange(vault, max_request_bytes=100)
    content = b'{"data": {"a": "' + b"x" * 100 + b'"}}'

    refused = exchange.answer("POST", "/v1/secret/data/app", [("X-Vault-Token", vault.root_token)], content)

    assert refused.status == 413
    assert json.loads(refused.content)["errors"] == [
        "failed to decode JSON input: http: request body too large; the limit is 100 bytes"
    ]
    assert vault.get("secret/data/app").status == 404


def test_no_body_is_read_of_what_has_none(vault: Vault) -> None:
    vault.post("secret/data/app", {"data": {"a": 1}})
    for method in ("GET", "LIST", "DELETE"):
        assert ask(vault, method, "/v1/secret/metadata/app", b"{broken").status in (200, 204, 404)
    assert ask(vault, "POST", "/v1/sys/capabilities-self", b"  \r\n").status == 400
    assert json.loads(ask(vault, "POST", "/v1/auth/token/create", b" \n").content)["auth"]


def test_a_form_is_read_unless_it_begins_as_json_does(vault: Vault) -> None:
    vault.post("sys/mounts/plain", {"type": "kv"})
    for content in (
        b"user=ada&tag=a&tag=b&t=%C3%BC&no=",
        b'{"user": "ada", "tag": "a,b", "t": "\xc3\xbc", "no": ""}',
    ):
        assert ask(vault, "POST", "/v1/plain/app", content, Content_Type=f"{FORM}; charset=utf-8").status == 204
        assert vault.get("plain/app").data == {"user": "ada", "tag": "a,b", "t": "ü", "no": ""}
    assert ask(vault, "POST", "/v1/plain/app", b"a=%FF", Content_Type=FORM).status == 400
    assert ask(vault, "POST", "/v1/plain/app", b"user=ada").status == 400, "without its type it is broken JSON"


def test_a_patch_has_a_body_that_is_never_a_form(vault: Vault) -> None:
    vault.post("secret/data/app", {"data": {"user": "ada", "n": 1}})
    merge = {"Content_Type": "application/merge-patch+json"}

    assert ask(vault, "PATCH", "/v1/secret/data/app", b'{"data": {"n": 2}}', **merge).status == 200
    assert vault.get("secret/data/app").data["data"] == {"user": "ada", "n": 2}
    assert read_body("POST", FORM, b"user=ada") == read_body("PUT", FORM, b"user=ada") == {"user": "ada"}
    assert isinstance(read_body("PATCH", FORM, b"user=ada"), Unreadable)
    assert read_body("PATCH", FORM, b'{"user": "ada"}') == {"user": "ada"}


def test_of_what_comes_twice_one_counts(vault: Vault) -> None:
    assert first_of_each([("X-Vault-Token", "a"), ("x-vault-token", "b")]) == {"x-vault-token": "a"}
    assert read_body("POST", "", b'{"a": 1, "a": 2}') == {"a": 2}


def test_what_html_could_take_for_markup_is_escaped() -> None:
    answer = written(Response(200, {}, {"a": "<b>&\u2028ü"}))

    assert answer.content == b'{"a":"\\u003cb\\u003e\\u0026\\u2028\xc3\xbc"}\n'
    assert json.loads(answer.content) == {"a": "<b>&\u2028ü"}


def test_nothing_of_a_body_is_shown(vault: Vault) -> None:
    answer = ask(vault, "POST", "/v1/auth/token/create", b"{}")

    assert repr(answer) == f"Answer(200, {len(answer.content)} bytes)"
    assert repr(HttpExchange(vault)) == "HttpExchange(Vault(node-1, unsealed))"


def test_the_clock_of_a_cluster_moves_until_it_answers_or_the_client_gives_up(lab: Lab) -> None:
    cluster: Any = lab["paris"]
    before = lab.now

    assert ask(cluster, "POST", "/v1/secret/data/app", b'{"data": {}}').status == 200
    assert lab.now > before
    lab.crash("paris")
    before = lab.now
    with pytest.raises(TimeoutError):
        HttpExchange(cluster).answer("GET", "/v1/secret/data/app", [], timeout_s=1.5)
    assert lab.now - before == 1_500_000_000


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=examples(200), deadline=None)
@given(st.dictionaries(st.text(), JSON, max_size=4), st.booleans())
def test_any_object_is_read_as_it_was_written(value: dict[str, Any], escaped: bool) -> None:
    content = json.dumps(value, ensure_ascii=escaped).encode()

    assert read_body("POST", "application/json", content) == value


@settings(max_examples=examples(300), deadline=None)
@given(st.binary(max_size=60), st.sampled_from(["", FORM, "application/json", "text/plain"]))
def test_whatever_bytes_come_are_an_object_nothing_or_unreadable(content: bytes, content_type: str) -> None:
    found = read_body("POST", content_type, content)

    assert found is None or type(found) in (dict, Unreadable)


def test_a_whole_lab_is_refused_for_it_is_a_cluster_that_answers(lab: Lab) -> None:
    for wrong in (lab, None, "http://127.0.0.1:8200"):
        with pytest.raises(ValueError, match=rf'such as lab\["paris"\], got {type(wrong).__name__}$'):
            HttpExchange(wrong)  # type: ignore[arg-type]  # what a caller may hand in


def test_a_reader_reads_what_a_service_is_asked() -> None:
    reader = RequestReader(9)
    asked = reader.read("POST", "/v1/a?b=1", [("X-Vault-Token", "canary")], b'{"a": 17}')

    assert asked == ("POST", "/v1/a?b=1", {"a": 17}, {"x-vault-token": "canary"})
    assert (repr(asked), repr(reader)) == ("Asked(POST /v1/a)", "RequestReader(9 bytes)")
    assert reader.read_body("POST", {}, b'{"a": 170}') == reader.too_large, "the limit is nine bytes"
    broken = Unreadable("cut off")
    assert reader.read_body("PUT", {}, broken) is broken
    assert reader.read_body("GET", {}, broken) is None


def test_the_address_of_the_peer_is_handed_on(vault: Vault) -> None:
    vault.post("auth/token/roles/bound", {"token_bound_cidrs": ["192.0.2.7"]})
    token = vault.post("auth/token/create/bound", {"policies": ["default"]}).auth["client_token"]
    headers = [("X-Vault-Token", token)]

    def status(peer: str) -> int:
        return HttpExchange(vault).answer("GET", "/v1/auth/token/lookup-self", headers, remote_address=peer).status

    assert [status(peer) for peer in ("192.0.2.7", "192.0.2.8", "")] == [200, 403, 403]


@pytest.mark.parametrize(
    ("text", "sent"),
    [("<", b"\\u003c"), (">", b"\\u003e"), ("&", b"\\u0026"), ("ü", "ü".encode()), ("\u2029", b"\\u2029"), ("a", b"a")],
)
def test_each_mark_of_html_is_escaped_for_itself(text: str, sent: bytes) -> None:
    assert written(Response(200, {}, {"a": text})).content == b'{"a":"' + sent + b'"}\n'


@pytest.mark.parametrize("text", ["<>&\u2028\u2029\\ü", "a", "\U0001f511"])
def test_a_large_answer_is_written_like_a_small_one(text: str) -> None:
    names = [str(number) for number in range(3_000)]
    each = [written(Response(200, {}, {name: text * 9})).content[1:-2] for name in names]

    assert written(Response(200, {}, dict.fromkeys(names, text * 9))).content == b"{" + b",".join(each) + b"}\n"


def test_what_is_no_json_is_a_bug() -> None:
    with pytest.raises(TypeError, match="set cannot be written as JSON"):
        written(Response(200, {}, {"a": {1}}))


def test_a_form_with_what_is_not_utf_8_is_unreadable() -> None:
    assert isinstance(read_body("POST", FORM, b"a=%FF"), Unreadable)


def test_a_cluster_is_asked_from_its_own_host_whoever_the_peer_is(lab: Lab) -> None:
    cluster = lab["paris"]
    headers = [("X-Vault-Token", cluster.root_token)]
    answer = HttpExchange(cluster).answer("GET", "/v1/secret/config", headers, remote_address="192.0.2.7")

    assert answer.status == 200


def test_members_of_an_answer_keep_their_order_and_none_is_left_out() -> None:
    assert written(Response(200, {}, {"b": 1, "a": {"d": 2, "c": 3}})).content == b'{"b":1,"a":{"d":2,"c":3}}\n'
    with pytest.raises(TypeError, match="keys must be str"):
        written(Response(200, {}, {("a", "b"): 1}))  # type: ignore[dict-item]  # that is the point
    assert written(Response(204, {}, None)).content == b""


def test_a_timeout_is_one_millisecond_at_least_and_a_whole_number_of_them() -> None:
    assert [timeout_text(seconds) for seconds in (0.000_1, 0.001, 0.001_9, 1, 1.5)] == [
        *("1ms", "1ms", "1ms", "1000ms", "1500ms")
    ]
