"""Answers: data in an envelope, with its warnings; what is no data, or is wrapped, is answered otherwise."""

from __future__ import annotations


def test_an_answer_is_data_in_an_envelope(service):
    answer = service.get("sys/policies/acl/default")
    engine = service.get("secret/config")

    assert answer.body == {
        "request_id": answer.body["request_id"],
        "lease_id": "",
        "renewable": False,
        "lease_duration": 0,
        "data": answer.data,
        "wrap_info": None,
        "warnings": None,
        "auth": None,
        "mount_type": "system",
    }
    assert (len(answer.body["request_id"]), engine.body["mount_type"]) == (36, "kv")
    flat = service.get("sys/mounts")
    assert flat.body == {**flat.body, **flat.data}
    wrapped = service.get("secret/config", headers={"X-Vault-Wrap-TTL": "9"})
    assert (wrapped.body["request_id"], wrapped.data) == ("", None)
    assert [*answer.body] == [*engine.body] == [*wrapped.body]


def test_an_answer_shares_nothing_with_the_next(service):
    first = service.get("secret/config")
    first.body["data"] = first.headers["Cache-Control"] = "changed"

    assert service.get("secret/config").data != "changed"
    assert service.get("secret/config").headers["Cache-Control"] == "no-store"


def test_what_an_answer_warns_of_stands_in_it(service):
    warned = service.post("auth/token/revoke-accessor", {"accessor": "none"})

    assert warned.body["warnings"] == ["No token found with this accessor"]
    assert service.get("sys/mounts").body["warnings"] is None
