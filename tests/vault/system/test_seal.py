"""Initialising, sealing and unsealing over the API: bodies, texts and progress."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from pathlib import Path

import pytest
from pysequoia import Tsk, decrypt

from labkit.front.vault import Vault
from labkit.service.errors import Internal
from labkit.vault.core import Leadership
from labkit.vault.storage.memory import MemoryStorage

SEALED = ["Vault is sealed"]
KEYS = {row["name"]: row for row in json.loads((Path(__file__).parents[2] / "vectors/pgp.json").read_text())["vectors"]}


@pytest.fixture
def blank(service) -> Vault:
    """A node that was never initialised."""
    return Vault(MemoryStorage(), service.environment)


def send(vault: Vault, method: str, path: str, body=None, token: str = ""):
    return vault.request(method, path, json=body, headers={"X-Vault-Token": token} if token else {})


def opened(owner: dict[str, str], message: bytes) -> str:
    """What a PGP message holds, for the owner of a key."""
    return (decrypt(message, decryptor=Tsk.from_bytes(b64decode(owner["secret"])).decryptor()).bytes or b"").decode()


def keys(vault: Vault) -> list[str]:
    return list(vault.unseal_keys)


class TestStatus:
    def test_unsealed(self, service) -> None:
        body = service.get("sys/seal-status", token="").body
        assert body == {
            "type": "shamir",
            "initialized": True,
            "sealed": False,
            "t": 3,
            "n": 5,
            "progress": 0,
            "nonce": "",
            "version": "1.16.3+ent",
            "build_date": "1970-01-01T00:00:00Z",
            "migration": False,
            "recovery_seal": False,
            "storage_type": "inmem",
            "cluster_name": "labkit",
            "cluster_id": body["cluster_id"],
        }

    def test_sealed_and_blank(self, service, blank) -> None:
        service.put("sys/seal")
        sealed = service.get("sys/seal-status").body
        assert (sealed["sealed"], sealed["t"], "cluster_name" in sealed) == (True, 3, False)
        body = send(blank, "GET", "sys/seal-status").body
        assert (body["initialized"], body["sealed"], body["t"], body["n"]) == (False, True, 0, 0)

    def test_in_every_phase(self, service, blank) -> None:
        def seen(vault: Vault) -> tuple:
            body = send(vault, "GET", "sys/seal-status").body
            assert "reason" not in body
            shown = tuple(body[name] for name in ("initialized", "sealed", "t", "n", "progress"))
            return (*shown, bool(body["nonce"]), "cluster_id" in body)

        assert seen(blank) == (False, True, 0, 0, 0, False, False)
        made = send(blank, "PUT", "sys/init", {"secret_shares": 3, "secret_threshold": 2}).body
        assert seen(blank) == (True, True, 2, 3, 0, False, False)
        send(blank, "PUT", "sys/unseal", {"key": made["keys"][0]})
        assert seen(blank) == (True, True, 2, 3, 1, True, False)
        send(blank, "PUT", "sys/unseal", {"key": made["keys"][1]})
        assert seen(blank) == (True, False, 2, 3, 0, False, True)
        rekey = send(blank, "PUT", "sys/rekey/init", {"secret_shares": 5, "secret_threshold": 4}).body
        for share in made["keys"][:2]:
            assert seen(blank) == (True, False, 2, 3, 0, False, True)
            done = send(blank, "PUT", "sys/rekey/update", {"key": share, "nonce": rekey["nonce"]}).body
        assert seen(blank) == (True, False, 4, 5, 0, False, True)
        blank.set_leadership(Leadership(active=False, leader="http://x:8200"))
        assert seen(blank) == (True, False, 4, 5, 0, False, True)
        blank.set_leadership(Leadership())
        send(blank, "PUT", "sys/seal", token=made["root_token"])
        for share in done["keys"][:3]:
            send(blank, "PUT", "sys/unseal", {"key": share})
        assert seen(blank) == (True, True, 4, 5, 3, True, False)
        send(blank, "PUT", "sys/unseal", {"reset": True})
        assert seen(blank) == (True, True, 4, 5, 0, False, False)


class TestSeal:
    def test_everything_but_status_is_refused_then(self, service) -> None:
        assert service.put("sys/seal").status == 204
        assert service.sealed
        for path in ("secret/data/a", "auth/token/lookup-self", "sys/mounts", "nowhere"):
            refused = service.get(path)
            assert (refused.status, refused.errors) == (503, SEALED)

    def test_it_needs_sudo(self, service) -> None:
        service.put("sys/policies/acl/s", {"policy": 'path "sys/seal" { capabilities = ["update"] }'})
        token = service.post("auth/token/create", {"policies": ["s"]}).auth["client_token"]
        assert service.put("sys/seal", token=token).status == 403
        assert service.put("sys/seal", token="").status == 403
        assert not service.sealed

    def test_a_last_use_may_seal(self, service) -> None:
        token = service.post("auth/token/create", {"num_uses": 1}).auth["client_token"]
        assert service.put("sys/seal", token=token).status == 204
        for key in keys(service)[:3]:
            service.put("sys/unseal", {"key": key})
        assert service.get("auth/token/lookup-self", token=token).status == 403


class TestUnseal:
    def test_three_of_five(self, service) -> None:
        service.put("sys/seal")
        first = service.put("sys/unseal", {"key": keys(service)[4]}, token="").body
        assert (first["progress"], first["sealed"], len(first["nonce"])) == (1, True, 36)
        again = service.post("sys/unseal", {"key": keys(service)[4]}, token="").body
        assert (again["progress"], again["nonce"]) == (1, first["nonce"])
        base64 = b64encode(bytes.fromhex(keys(service)[0])).decode()
        assert service.put("sys/unseal", {"key": base64}, token="").body["progress"] == 2
        last = service.put("sys/unseal", {"key": keys(service)[2]}, token="").body
        assert (last["progress"], last["sealed"], last["nonce"]) == (0, False, "")
        assert service.get("auth/token/lookup-self").status == 200

    def test_already_unsealed(self, service) -> None:
        assert service.put("sys/unseal", {"key": keys(service)[0]}).body["sealed"] is False

    def test_reset(self, service) -> None:
        assert service.put("sys/unseal", {"reset": True}).errors == ["vault is unsealed"]
        service.put("sys/seal")
        service.put("sys/unseal", {"key": keys(service)[0]})
        body = service.put("sys/unseal", {"reset": True}).body
        assert (body["progress"], body["nonce"]) == (0, "")

    def test_wrong_shares_set_the_progress_back(self, service) -> None:
        service.put("sys/seal")
        service.put("sys/unseal", {"key": keys(service)[0]})
        service.put("sys/unseal", {"key": keys(service)[1]})
        refused = service.put("sys/unseal", {"key": "00" * 32 + "77"})
        assert refused.status == 400
        assert refused.errors[0].startswith("invalid key: ")
        assert service.get("sys/seal-status").body["progress"] == 0

    @pytest.mark.parametrize(
        ("body", "text"),
        [
            ({}, "'key' must be specified in request body as JSON, or 'reset' set to true"),
            ({"key": ""}, "'key' must be specified in request body as JSON, or 'reset' set to true"),
            ({"key": "zz"}, "'key' must be a valid hex or base64 string"),
            ({"key": "00" * 15}, "invalid key: key is shorter than minimum 16 bytes"),
            ({"key": "00" * 60}, "invalid key: key is longer than maximum 33 bytes"),
            ({"migrate": True}, "can't perform a seal migration: the only type of seal here is shamir"),
        ],
    )
    def test_what_is_no_share(self, service, body, text: str) -> None:
        service.put("sys/seal")
        refused = service.put("sys/unseal", body)
        assert (refused.status, refused.errors) == (400, [text])

    def test_before_there_is_anything(self, blank) -> None:
        for body in ({"key": "00" * 33}, {"reset": True}):
            refused = send(blank, "PUT", "sys/unseal", body)
            assert (refused.status, refused.errors) == (400, ["Vault is not initialized"])


class TestInit:
    def test_the_whole_ceremony(self, blank) -> None:
        assert send(blank, "GET", "sys/init").body == {"initialized": False}
        made = send(blank, "PUT", "sys/init", {"secret_shares": 3, "secret_threshold": 2})
        assert made.status == 200
        assert sorted(made.body) == ["keys", "keys_base64", "root_token"]
        assert [b64decode(text).hex() for text in made.body["keys_base64"]] == made.body["keys"]
        assert blank.sealed
        assert send(blank, "GET", "sys/init").body == {"initialized": True}

        for key in made.body["keys"][1:]:
            send(blank, "PUT", "sys/unseal", {"key": key})
        assert send(blank, "GET", "auth/token/lookup-self", token=made.body["root_token"]).status == 200

    @pytest.mark.parametrize(
        ("body", "text"),
        [
            ({}, "shares must be at least one"),
            ({"secret_shares": 1}, "threshold must be at least one"),
            ({"secret_shares": 3, "secret_threshold": 1}, "threshold must be greater than one for multiple shares"),
            ({"secret_shares": 2, "secret_threshold": 1}, "threshold must be greater than one for multiple shares"),
            ({"secret_shares": 256, "secret_threshold": 2}, "shares must be less than 256"),
            ({"secret_shares": 255, "secret_threshold": 256}, "threshold must be less than 256"),
            ({"secret_shares": 2, "secret_threshold": 3}, "threshold cannot be larger than shares"),
            (
                {"secret_shares": 2, "secret_threshold": 2, "pgp_keys": ["a"]},
                "count mismatch between number of provided PGP keys and number of shares",
            ),
        ],
    )
    def test_what_cannot_be(self, blank, body, text: str) -> None:
        refused = send(blank, "PUT", "sys/init", body)
        assert (refused.status, refused.errors) == (400, [f"invalid seal configuration: {text}"])
        assert blank.core.storage.keys() == []

    @pytest.mark.parametrize(("shares", "threshold"), [(1, 1), (2, 2), (255, 2), (255, 255)])
    def test_the_least_and_the_most(self, blank, shares: int, threshold: int) -> None:
        made = send(blank, "PUT", "sys/init", {"secret_shares": shares, "secret_threshold": threshold})
        assert (made.status, len(made.body["keys"])) == (200, shares)
        status = send(blank, "GET", "sys/seal-status").body
        assert (status["n"], status["t"]) == (shares, threshold)

    @pytest.mark.parametrize(
        ("extra", "text"),
        [
            ({"recovery_shares": 1}, "not applicable to seal type shamir"),
            ({"stored_shares": 1}, "not applicable to seal type shamir"),
            ({"pgp_keys": ["a", "b"]}, "error parsing PGP key"),
            ({"root_token_pgp_key": "a"}, "error parsing PGP key"),
        ],
    )
    def test_what_this_seal_has_not(self, blank, extra, text: str) -> None:
        refused = send(blank, "PUT", "sys/init", {"secret_shares": 2, "secret_threshold": 2, **extra})
        assert refused.status == 400
        assert text in refused.errors[0]

    def test_shares_and_root_token_for_the_owners_of_pgp_keys(self, blank) -> None:
        owners = [KEYS["rsa"], KEYS["curve25519"]]
        body = {"secret_shares": 2, "secret_threshold": 2, "pgp_keys": [owner["public"] for owner in owners]}
        made = send(blank, "PUT", "sys/init", {**body, "root_token_pgp_key": owners[0]["public"]}).body
        shares = [opened(owner, bytes.fromhex(key)) for owner, key in zip(owners, made["keys"], strict=True)]
        assert [opened(owner, b64decode(key)) for owner, key in zip(owners, made["keys_base64"], strict=True)] == shares

        for share in shares:
            send(blank, "PUT", "sys/unseal", {"key": share})
        root = opened(owners[0], b64decode(made["root_token"]))
        assert send(blank, "GET", "auth/token/lookup-self", token=root).status == 200

    def test_only_once(self, service) -> None:
        refused = service.put("sys/init", {"secret_shares": 1, "secret_threshold": 1})
        assert (refused.status, refused.errors) == (400, ["Vault is already initialized"])


class TestKeysChangeAfterTheCommit:
    """A seal or unseal that is refused changes nothing (R4)."""

    @pytest.fixture
    def audited(self, service) -> Vault:
        assert service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}}).ok
        return service

    def test_sealing_has_both_records(self, audited) -> None:
        assert audited.put("sys/seal").status == 204
        records = [json.loads(line) for line in audited.files.lines["/log"]][-2:]

        assert audited.sealed
        assert [record["type"] for record in records] == ["request", "response"]
        assert [record["request"]["path"] for record in records] == ["sys/seal"] * 2

    @pytest.mark.parametrize("written", [0, 1])
    def test_a_seal_that_cannot_be_recorded_does_not_happen(self, audited, written: int) -> None:
        left = [None] * written

        def append(path: str, line: bytes) -> None:
            if not left:
                raise OSError("no space left")
            left.pop()

        audited.core.append_line = append
        assert audited.put("sys/seal").status == 500
        assert not audited.sealed

    def test_a_seal_whose_commit_is_stale_does_not_happen(self, service) -> None:
        rule = {"policy": 'path "sys/seal" { capabilities = ["update", "sudo"] }'}
        service.put("sys/policies/acl/sealer", rule)
        token = service.post("auth/token/create", {"policies": ["sealer"], "num_uses": 2}).auth["client_token"]
        service.core.storage.claim(9)

        assert service.put("sys/seal", token=token).status == 503
        assert not service.sealed

    def test_an_unseal_whose_answer_fails_does_not_happen(self, service, monkeypatch) -> None:
        service.put("sys/seal")
        for share in service.unseal_keys[:2]:
            service.put("sys/unseal", {"key": share}, token="")

        def refuse(ctx) -> None:
            raise Internal("the record of the cluster does not open")

        with monkeypatch.context() as patched:
            patched.setattr("labkit.vault.system.seal.read_cluster", refuse)
            assert service.put("sys/unseal", {"key": service.unseal_keys[2]}, token="").status == 500
        assert service.sealed
        assert service.get("sys/seal-status", token="").body["progress"] == 2
        assert service.put("sys/unseal", {"key": service.unseal_keys[2]}, token="").body["sealed"] is False
        assert service.get("sys/mounts").ok


class TestStepDown:
    """PUT sys/step-down; with other nodes beside it: tests/lab/nodes/test_node_host.py."""

    @pytest.mark.parametrize("method", ["PUT", "POST"])
    def test_a_vault_without_other_nodes_stays_the_active_one(self, service, method: str) -> None:
        sent = {"X-Vault-Token": service.root_token}
        assert service.request(method, "sys/step-down", {}, sent).status == 204
        assert service.get("sys/health").status == 200

    def test_it_wants_sudo(self, service) -> None:
        for name, capabilities, status in (("one", '"update"', 403), ("two", '"update", "sudo"', 204)):
            service.put(
                f"sys/policies/acl/{name}", {"policy": f'path "sys/step-down" {{ capabilities = [{capabilities}] }}'}
            )
            token = service.post("auth/token/create", {"policies": [name]}).auth["client_token"]
            assert service.put("sys/step-down", token=token).status == status
        assert service.put("sys/step-down", token="").status == 403
        assert service.get("sys/step-down").status == 405

    def test_it_acts_once_the_request_is_recorded_and_a_counted_token_pays(self, service) -> None:
        calls: list[int] = []
        service.core.on_step_down = lambda: calls.append(1)
        token = service.post("auth/token/create", {"policies": ["root"], "num_uses": 2}).auth["client_token"]
        service.core.storage.claim(9)
        assert service.put("sys/step-down", token=token).status == 503
        assert calls == []

        service.core.set_leadership(service.core.leadership._replace(active=True, term=9))
        assert [service.put("sys/step-down", token=token).status for _ in range(3)] == [204, 204, 403]
        assert calls == [1, 1]
