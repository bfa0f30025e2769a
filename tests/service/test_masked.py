"""What of an answer is shown: its outcome and names, escaped and bounded, never a value."""

from __future__ import annotations

import pytest

from labkit.service.masked import MAX_SHOWN_CHARACTERS, MAX_SHOWN_NAMES, masked, shown, table
from labkit.service.message import Reply, respond, silence

SECRET = {"password": "canary", "n": 7}


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (respond(204), "Response(204)"),
        (respond(200, {"data": SECRET, "warnings": None}), "Response(200, data={password: …, n: …})"),
        (respond(200, {"data": {"data": SECRET}}), "Response(200, data={data: {password: …, n: …}})"),
        (respond(200, {"data": {"keys": ["canary"]}}), "Response(200, data={keys: …})"),
        (respond(200, {"data": ["canary"]}), "Response(200, data=…)"),
        (respond(200, {"data": SECRET, "warnings": ["w", "v"]}), "Response(200, warning=w, data={password: …, n: …})"),
        (respond(200, {"data": None, "auth": {"client_token": "canary"}}), "Response(200, auth={client_token: …})"),
        (respond(200, {"wrap_info": {"token": "canary"}}), "Response(200, wrap_info={token: …})"),
        (respond(200, {"keys": ["canary"], "root_token": "canary"}), "Response(200, body={keys: …, root_token: …})"),
        (respond(400, {"errors": ["1 error\n\t* no\n", "more"]}), "Response(400, error=1 error * no)"),
        (respond(404, {"errors": []}), "Response(404)"),
        (silence("nobody is there"), "Response(0, error=nobody is there)"),
    ],
)
def test_an_answer_shows_its_outcome_and_names_but_no_value(answer, shown):
    assert repr(answer) == shown
    assert "canary" not in answer._repr_html_()


def test_what_an_answer_shows_is_bounded_and_escaped():
    wide = respond(
        200, {"data": {f"<b>{number}" + "x" * 1_000: number for number in range(1_000)}, "warnings": ["<i>"]}
    )

    assert len(repr(wide)) < 3_000
    assert "<b>" not in wide._repr_html_()
    assert "<th>warning</th><td>&lt;i&gt;</td>" in wide._repr_html_()
    assert "<th>status</th><td>200</td>" in wide._repr_html_()
    assert "canary" not in repr(Reply({"a": "canary"}, auth={"client_token": "canary"}))


def test_twelve_names_of_an_object_and_of_each_object_in_it_are_shown() -> None:
    twelve: dict[str, object] = {f"n{number}": {} for number in range(MAX_SHOWN_NAMES)}
    all_of_them = ", ".join(f"{name}: …" for name in twelve)

    assert masked(twelve) == "{" + all_of_them + "}"
    assert masked({**twelve, "more": 1}) == "{" + all_of_them + ", …}"
    assert masked({"a": twelve}) == "{a: {" + all_of_them + "}}"
    assert masked({"a": {**twelve, "more": 1}}) == "{a: {" + all_of_them + ", …}}"
    assert masked([1]) == masked("canary") == "…"


def test_a_name_and_a_text_are_cut_after_160_characters() -> None:
    most = "x" * MAX_SHOWN_CHARACTERS

    assert masked({most: 1}) == f"{{{most}: …}}"
    assert masked({most + "y": 1}) == f"{{{most}…: …}}"
    assert masked({"a": {most + "y": 1}}) == f"{{a: {{{most}…: …}}}}"
    assert shown({"errors": [most]}) == [("error", most)]
    assert shown({"errors": [f" {most}\n\ty"]}) == [("error", f"{most}…")]


def test_a_body_without_texts_and_members_is_masked_whole() -> None:
    assert shown({}) == shown({"errors": []}) == shown(None) == shown("canary") == []
    assert shown({"keys": ["canary"]}) == [("body", "{keys: …}")]
    assert shown({"errors": [], "keys": 1}) == [("body", "{errors: …, keys: …}")]
    assert shown({"errors": ["e"], "warnings": ["w"]}) == [("error", "e")]
    assert table([("a", "<b>")], {"errors": ["e"]}) == (
        "<table><tr><th>a</th><td>&lt;b&gt;</td></tr><tr><th>error</th><td>e</td></tr></table>"
    )
