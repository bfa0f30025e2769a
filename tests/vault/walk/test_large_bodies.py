"""Large bodies: path and token are judged before anything of a body is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from labkit import Lab, Vault
from labkit.doors import http_exchange
from labkit.doors.http_exchange import HttpExchange
from labkit.service.limits import MAX_UNJUDGED_BYTES

LARGE = b'{"data": {"a": "' + b"x" * MAX_UNJUDGED_BYTES + b'"}}'
SMALL = LARGE[: MAX_UNJUDGED_BYTES - 3] + b'"}}'


@pytest.fixture(params=["vault", "cluster"])
def asked(request: pytest.FixtureRequest) -> Any:
    return Vault.dev(seed=7) if request.param == "vault" else Lab.pair(seed=7)["paris"]


def ask(asked: Any, path: str, token: str, content: bytes = LARGE) -> tuple[int, str]:
    headers = [("X-Vault-Token", token)] if token else []
    answer = HttpExchange(asked).answer("POST", f"/v1/{path}", headers, content)
    errors = json.loads(answer.content or b"{}").get("errors") or [""]
    return answer.status, errors[0]


def test_without_a_valid_token_nothing_of_it_is_read(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_exchange, "read_body", None)
    for path in ("sys/unseal", "sys/generate-root/update", "sys/wrapping/unwrap"):
        for token in ("", "hvs.unknown"):
            status, said = ask(asked, path, token)
            assert (status, "without a valid token the limit is 1048576 bytes" in said) == (413, True), path
    assert ask(asked, "secret/data/app", "") == (403, "permission denied")
    assert ask(asked, "secret/data/app", "hvs.unknown")[0] == 403
    assert "invalid token" in ask(asked, "secret/data/app", "hvs.unknown")[1]
    assert ask(asked, "moon", "hvs.unknown")[0] == 403
    with pytest.raises(TypeError):
        ask(asked, "secret/data/app", "", SMALL)


def test_with_one_it_is_read_and_the_values_in_it_are_counted_first(
    asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(asked, "secret/data/app", asked.root_token)[0] == 200
    assert len(asked.get("secret/data/app").data["data"]["a"]) == MAX_UNJUDGED_BYTES
    monkeypatch.setattr(http_exchange, "_large_decoder", None)
    many = b'{"data": {"a": [' + b"0, " * 400_000 + b"0]}}"
    assert "more than 250000 values" in ask(asked, "secret/data/app", asked.root_token, many)[1]


def test_a_judgement_spends_and_records_nothing() -> None:
    vault = Vault.dev(seed=7)
    vault.post("sys/audit/file", {"type": "file", "options": {"file_path": "a.log"}})
    made = vault.post("auth/token/create", {"num_uses": 2, "policies": ["root"]}).auth["client_token"]
    lines = len((vault.files.read("a.log") or b"").splitlines())

    assert ask(vault, "secret/data/app", made)[0] == 200
    assert vault.post("auth/token/lookup", {"token": made}).data["num_uses"] == 1
    assert len((vault.files.read("a.log") or b"").splitlines()) == lines + 4
    assert ask(vault, "secret/data/app", "hvs.unknown")[0] == 403
    assert len((vault.files.read("a.log") or b"").splitlines()) == lines + 6


def test_what_would_be_refused_anyway_says_why() -> None:
    vault = Vault.dev(seed=7)
    token = vault.root_token
    vault.post("sys/seal")
    assert ask(vault, "secret/data/app", token)[0] == 503
    assert ask(vault, "sys/unseal", token)[0] == 413
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    assert ask(lab["tokyo"], "secret/data/app", "x") == (400, "path disabled in replication DR secondary mode")


@pytest.mark.parametrize("count", [1_000, 1_001])
def test_a_form_has_at_most_so_many_fields(count: int) -> None:
    read = http_exchange.read_body("POST", http_exchange.FORM_TYPE, b"&".join([b"a=%41+b"] * count))

    if count == 1_000:
        assert read == {"a": ",".join(["A b"] * count)}
    else:
        assert read.why == "a form of more than 1000 fields; at most 1000 are taken"


def test_a_long_field_is_read_in_pieces_that_split_nothing() -> None:
    for begin in range(4):
        text = "x" * begin + "%C3%A4+%" * 40_000
        read = http_exchange.read_body("POST", http_exchange.FORM_TYPE, b"k=" + text.encode())
        assert read == {"k": "x" * begin + "ä %" * 40_000}


def test_a_large_body_holds_few_long_numbers() -> None:
    def numbers(count: int, digits: int) -> bytes:
        return b'{"a": [' + b",".join([b"9" * digits] * count) + b"]" + b" " * MAX_UNJUDGED_BYTES + b"}"

    read = http_exchange.read_body("POST", "", numbers(1_001, 501))
    assert read.why.startswith("too many long whole numbers; at most 1000 of more than 500 digits")
    for count, digits in ((1_000, 501), (1_001, 500)):
        assert http_exchange.read_body("POST", "", numbers(count, digits)) == {"a": [10**digits - 1] * count}
