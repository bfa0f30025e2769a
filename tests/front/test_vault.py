"""A vault alone: development mode, the SQLite file, its clock, and what a refused request leaves behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from labkit import Vault
from labkit.front.keystore import KeyStore
from labkit.front.outside_lab import no_outside
from labkit.seeded import START_NS, SeededEntropy
from labkit.service.errors import ServiceError
from labkit.service.key_store_address import KEY_STORE_ADDRESS
from labkit.service.message import Fetch, Request
from labkit.vault.core import Environment, Settings
from labkit.vault.files import Files
from labkit.vault.replication.mode import MODE_KEY, Mode, advance
from labkit.vault.sealing.initialise import set_up
from labkit.vault.sealing.otp import decode
from labkit.vault.storage import StoreError
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.token_record import digest_of

DR = "sys/replication/dr/"
TOKEN, NAMESPACE, WRAP = "X-Vault-Token", "X-Vault-Namespace", "X-Vault-Wrap-TTL"


def test_development_mode_is_ready_to_use(service):
    assert service.post("secret/data/app", {"data": {"user": "ada"}}).ok
    assert service.get("/v1/secret/data/app").data["data"] == {"user": "ada"}
    assert service.post("transit/encrypt/orders", {"plaintext": "aGk="}).data["ciphertext"].startswith("vault:v1:")
    assert len(service.unseal_keys) == 5
    assert not service.sealed


def test_two_vaults_never_meet(service):
    other = Vault.dev()
    service.post("secret/data/app", {"data": {"user": "ada"}})

    assert other.get("secret/data/app").status == 404
    assert other.get("secret/data/app", token=service.root_token).status == 403


def test_any_three_shares_open_it(service):
    service.post("sys/seal")
    assert service.sealed
    assert service.get("secret/data/app").status == 503

    for share in (service.unseal_keys[4], service.unseal_keys[0], service.unseal_keys[2]):
        answer = service.post("sys/unseal", {"key": share}, token="")
    assert answer.body["sealed"] is False
    assert service.get("secret/data/app").status == 404


def test_no_callers_object_is_kept_and_none_is_handed_out(service):
    data = {"list": [1, 2]}
    service.post("secret/data/app", {"data": data})
    data["list"].append(3)
    service.get("secret/data/app").data["data"]["list"].append(4)

    assert service.get("secret/data/app").data["data"] == {"list": [1, 2]}


READER = 'path "secret/data/other" { capabilities = ["read"] }'
INVALID = "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n"

# Method, path, body, headers beside or in place of the root token's; status and the beginning of the only text.
REFUSED: tuple[tuple[str, str, Any, dict[str, str], int, str | None], ...] = (
    ("GET", "secret/data/app", None, {TOKEN: ""}, 403, "permission denied"),
    ("GET", "secret/data/app", None, {TOKEN: "hvs.none"}, 403, INVALID),
    ("GET", "secret/data/app", None, {TOKEN: "reader"}, 403, "1 error occurred:\n\t* permission denied\n\n"),
    ("POST", "nowhere/x", {"a": 1}, {TOKEN: "reader"}, 403, "1 error occurred:\n\t* permission denied\n\n"),
    ("POST", "nowhere/x", {"a": 1}, {}, 404, 'no handler for route "nowhere/x". route entry not found.'),
    ("GET", "sys/none", None, {}, 404, "1 error occurred:\n\t* unsupported path\n\n"),
    ("GET", "secret/data/none", None, {}, 404, None),
    ("LIST", "secret/metadata/none", None, {}, 404, None),
    ("POST", "secret/data/app", {"data": {}}, {NAMESPACE: "none"}, 404, "namespace not found"),
    ("DELETE", "sys/health", None, {}, 405, "1 error occurred:\n\t* unsupported operation\n\n"),
    ("BREW", "secret/data/app", {"data": {}}, {}, 405, None),
    ("BREW", "secret/data/app", {"data": {}}, {TOKEN: ""}, 405, None),
    ("PATCH", "secret/data/app", {"data": {}}, {}, 400, "mime: no media type"),
    ("PATCH", "secret/data/app", {"data": {}}, {"Content-Type": "text/plain"}, 415, "PATCH requires Content-Type of"),
    ("POST", "secret/data/app/", {"data": {}}, {}, 400, "cannot write to a path ending in '/'"),
    ("GET", "secret/data/../app", None, {}, 400, "relative paths not supported"),
    ("GET", "secret/data/./app", None, {}, 400, "relative paths not supported"),
    ("GET", "secret/metadata?list=x", None, {}, 400, None),
    ("POST", "secret/data/app", [1], {}, 400, "failed to decode JSON input: the body is not an object"),
    ("POST", "secret/data/app", {"data": {"a": float("nan")}}, {}, 400, "failed to decode JSON input: nan"),
    ("POST", "secret/data/app", {"data": {"a": b"no JSON"}}, {}, 400, "failed to decode JSON input: "),
    (
        "POST",
        "secret/data/app",
        {"data": {"x": "y" * 33_554_432}},
        {},
        413,
        "failed to decode JSON input: http: request",
    ),
    ("POST", "secret/data/app", {"data": {}}, {WRAP: "x"}, 400, "error parsing X-Vault-Wrap-TTL header: "),
    ("POST", "secret/data/app", {"data": {}}, {WRAP: "-5"}, 400, "requested wrap ttl cannot be negative"),
    ("POST", "secret/data/app", {"data": "x"}, {}, 400, 'error converting input for field "data": '),
    ("POST", "transit/keys/k/config", {"min_decryption_version": "x"}, {}, 400, "Field validation failed: error conv"),
    ("POST", "transit/keys/k/config", {"min_decryption_version": 99}, {}, 400, "cannot set min decryption version"),
    ("POST", "secret/data/app", {"data": {"x": 1}, "options": {"cas": 7}}, {}, 400, "check-and-set parameter did not"),
    ("POST", "sys/wrapping/unwrap", {"token": "none"}, {}, 400, "wrapping token is not valid or does not exist"),
    ("POST", "sys/mounts/secret", {"type": "kv"}, {}, 400, "path is already in use at secret/"),
    ("POST", "sys/replication/dr/primary/demote", {}, {}, 400, ""),
    ("POST", "auth/token/create", {"ttl": "x"}, {}, 400, 'time: invalid duration "x"'),
)


def test_a_refused_request_has_its_status_and_text_and_changes_nothing(service):
    service.post("secret/data/app", {"data": {"x": 0}})
    service.post("transit/keys/k")
    service.put("sys/policies/acl/reader", {"policy": READER})
    reader = service.post("auth/token/create", {"policies": ["reader"]}).auth["client_token"]
    before = service.core.storage.state()
    for method, path, body, headers, status, text in REFUSED:
        sent = {TOKEN: service.root_token, **headers}
        sent[TOKEN] = reader if sent[TOKEN] == "reader" else sent[TOKEN]
        answer = service.request(method, path, body, sent)
        where = f"{method} {path} {str(body)[:40]} {headers}: {answer.body}"
        assert (answer.status, len(answer.errors)) == (status, 0 if text is None else 1), where
        assert text is None or answer.errors[0].startswith(text), where
        assert service.core.storage.state() == before, where
    service.put("sys/seal")
    for path in ("secret/data/app", "nowhere/x", "sys/mounts"):
        answer = service.get(path)
        assert (answer.status, answer.errors) == (503, ["Vault is sealed"])


def test_calls_are_listed_and_failures_can_be_asked_for(service):
    assert service.get("secret/data/first").status == 404
    service.fail_next(503, times=2)

    assert [service.get("secret/data/a").status for _ in range(3)] == [503, 503, 404]
    assert [(call.method, call.path, call.status) for call in service.calls] == [
        ("GET", "secret/data/first", 404),
        ("GET", "secret/data/a", 503),
        ("GET", "secret/data/a", 503),
        ("GET", "secret/data/a", 404),
    ]


@pytest.mark.parametrize(("status", "times"), [(399, 1), (600, 1), ("503", 1), (503, 0)])
def test_a_failure_that_cannot_be_asked_for_is_refused(service, status, times):
    with pytest.raises(ValueError, match="expected"):
        service.fail_next(status, times)
    assert service.get("sys/mounts").ok


def test_a_failure_that_was_asked_for_says_so(service):
    service.fail_next(429)
    failed = service.post("secret/data/a", {"data": {}})

    assert (failed.status, failed.errors) == (429, ["failure asked for with fail_next"])
    assert service.get("secret/data/a").status == 404


def test_a_clock_of_a_lab_is_moved_by_the_lab_only():
    vault = seeded("paris")
    with pytest.raises(ValueError, match="this vault's clock is its lab's"):
        vault.advance("2h")

    assert vault.now() == START_NS


def test_a_vault_shows_its_node_and_whether_it_is_sealed(service):
    assert repr(service) == "Vault(node-1, unsealed)"
    service.put("sys/seal")
    assert repr(service) == "Vault(node-1, sealed)"


def test_a_vault_alone_reaches_no_address():
    answer = no_outside(Fetch("http://paris-1:8200", Request("GET", "/")))
    assert (answer.status, answer.errors) == (0, ["http://paris-1:8200 is not reachable: this vault has no network"])


def test_the_clock_can_be_moved(service):
    token = service.post("auth/token/create", {"ttl": "1h", "policies": ["default"]}).auth["client_token"]
    assert service.get("auth/token/lookup-self", token=token).ok

    service.advance("61m")
    assert service.get("auth/token/lookup-self", token=token).status == 403
    assert service.core.storage.list("token/id/") == [digest_of(service.root_token)]


def test_a_file_keeps_what_was_acknowledged(tmp_path):
    path = tmp_path / "lab.db"
    first = Vault.open(str(path))
    first.post("secret/data/app", {"data": {"user": "ada"}})
    first.close()
    again = Vault.open(str(path))

    assert again.root_token == first.root_token
    assert again.unseal_keys == first.unseal_keys
    assert again.get("secret/data/app").data["data"] == {"user": "ada"}
    again.close()


def test_a_token_that_is_revoked_stays_so_in_a_file(tmp_path):
    """What was read is cached: a revoked token must leave the cache too."""
    with closing(Vault.open(str(tmp_path / "lab.db"))) as vault:
        token = vault.post("auth/token/create", {"policies": ["default"]}).auth["client_token"]
        assert vault.get("auth/token/lookup-self", token=token).ok
        assert vault.post("auth/token/revoke", {"token": token}).status == 204
        assert vault.get("auth/token/lookup-self", token=token).status == 403


def test_a_stored_primary_goes_on_numbering_after_it_is_opened_again(tmp_path):
    path = str(tmp_path / "lab.db")
    with closing(Vault.open(path)) as vault:
        vault.post("sys/replication/dr/primary/enable")
        vault.post("secret/data/app", {"data": {"x": 1}})
        before = vault.get("sys/replication/dr/status").data
    with closing(Vault.open(path)) as vault:
        assert vault.core.replica.journal.on
        assert vault.get("sys/replication/dr/status").data == before
        vault.post("secret/data/app", {"data": {"x": 2}})
        after = vault.get("sys/replication/dr/status").data
    assert after["last_wal"] == before["last_wal"] + 1
    assert after["merkle_root"] != before["merkle_root"]


def test_a_vault_alone_can_be_demoted_and_promoted_again(service):
    """Decision D3: a complete secondary without an upstream is safe to promote."""
    dr = "sys/replication/dr/"
    service.post("secret/data/app", {"data": {"x": 1}})
    for verb in ("primary/enable", "primary/demote"):
        assert service.post(dr + verb).ok
    refused = service.post(f"{dr}secondary/promote", {"dr_operation_token": "wrong"}, token="")
    assert refused.status == 403
    promoted = service.post(f"{dr}secondary/promote", {"dr_operation_token": operation_token(service)}, token="")

    assert promoted.ok, promoted.errors
    assert service.get("secret/data/app").data["data"] == {"x": 1}
    assert service.get(f"{dr}status").data["mode"] == "primary"
    assert service.post("secret/data/app", {"data": {"x": 2}}).ok


@pytest.mark.parametrize("complete", [False, True])
def test_a_vault_alone_with_an_upstream_is_not_promoted_without_force(service, complete):
    upstream = {"upstream_cluster_addrs": ("https://p:8201",), "complete": complete}
    mode = advance(Mode(), "enable_secondary", cluster_id="set", **upstream)
    core = service.core
    core.commit({MODE_KEY: core.keys.encrypt(MODE_KEY, mode.to_bytes(), core.entropy)})
    body = {"dr_operation_token": operation_token(service)}
    answer = service.post("sys/replication/dr/secondary/promote", body, token="")

    assert answer.status == 503
    assert '"force"' in answer.errors[0]


def operation_token(vault) -> str:
    """Generate an operation token from three key shares."""
    attempt = "sys/replication/dr/secondary/generate-operation-token/"
    begun = vault.post(f"{attempt}attempt", {}, token="").body
    for share in vault.unseal_keys[:3]:
        answer = vault.post(f"{attempt}update", {"key": share, "nonce": begun["nonce"]}, token="").body
    return decode(answer["encoded_token"], begun["otp"])


CHILD = """
import os, sys
from labkit import Vault
vault = Vault.open(sys.argv[1])
for number in range(20):
    assert vault.post(f"secret/data/{number}", {"data": {"n": number}}).ok
    print(number, flush=True)
os.kill(os.getpid(), 9)
"""


def test_what_was_acknowledged_survives_a_killed_process(tmp_path):
    path = tmp_path / "lab.db"
    run = subprocess.run([sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == -9, run.stderr
    vault = Vault.open(str(path))

    for number in range(int(run.stdout.split()[-1]) + 1):
        assert vault.get(f"secret/data/{number}").data["data"] == {"n": number}
    vault.close()


def test_state_and_store_are_all_there_is(service, clock):
    service.post("secret/data/app", {"data": {"user": "ada"}})
    again = Vault(service.core.storage, service.environment, service.core.settings, service.state())
    again.root_token = service.root_token

    assert again.get("secret/data/app").data["data"] == {"user": "ada"}


def test_a_plain_wrapping_token_is_refused_as_activation_token(service):
    token = service.post("sys/wrapping/wrap", {"a": 1}, headers={"X-Vault-Wrap-TTL": "60s"}).wrap_info["token"]
    answer = service.post("sys/replication/dr/secondary/enable", {"token": token})

    assert answer.status == 400
    assert "activation token" in answer.errors[0]


def drill(vault):
    """Requests that draw entropy and read the clock; what they were answered."""
    transit = vault.post("transit/encrypt/orders", {"plaintext": "YQ=="})
    answers = [transit, vault.post("secret/data/app", {"data": {"user": "ada"}})]
    vault.advance("90s")
    answers += [vault.post("auth/token/create", {"ttl": "1h"}), vault.get("secret/metadata/app"), vault.get("nothing")]
    return [(answer.status, answer.body) for answer in answers]


def test_the_same_seed_gives_the_same_answers_every_time():
    first, again = Vault.dev(seed=7), Vault.dev(seed=7)

    assert (first.root_token, first.unseal_keys) == (again.root_token, again.unseal_keys)
    assert first.now() == START_NS
    assert drill(first) == drill(again)
    stores: list[Any] = [first.core.storage, again.core.storage]
    assert stores[0].state() == stores[1].state()
    assert drill(Vault.dev(seed=8)) != drill(Vault.dev(seed=7))
    assert Vault.dev(seed=8).root_token not in (first.root_token, Vault.dev().root_token, Vault.dev().root_token)


@pytest.mark.slow
def test_another_process_with_another_hash_seed_answers_alike():
    code = "from tests.front.test_vault import Vault, drill; print(drill(Vault.dev(seed=7)))"
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
        ).stdout
        for hash_seed in ("1", "2")
    }

    assert said == {f"{drill(Vault.dev(seed=7))}\n"}


@pytest.mark.parametrize("seed", [None, 7])
def test_a_vault_that_is_reset_is_as_it_was_made(seed):
    vault = Vault.dev(seed=seed)
    fresh = drill(vault) if seed is not None else None
    vault.reset()
    vault.post("sys/audit/file", {"type": "file", "options": {"file_path": "a.log"}})
    vault.post("sys/replication/dr/primary/enable")
    vault.post("sys/mounts/plain", {"type": "kv"})
    vault.fail_next(503)
    drill(vault)
    vault.post("sys/seal")
    vault.reset()

    assert not vault.sealed
    assert (vault.list("secret/metadata").status, vault.list("transit/keys").status) == (404, 404)
    assert vault.get("sys/mounts/plain").status == 400
    assert vault.get("sys/replication/dr/status", token="").data["mode"] == "disabled"
    assert (len(vault.calls), vault.files.names("")) == (4, ())
    vault.reset()
    assert seed is None or drill(vault) == fresh


def test_only_what_dev_made_can_be_reset(tmp_path):
    with (
        closing(Vault.open(str(tmp_path / "lab.db"))) as vault,
        pytest.raises(ValueError, match=r"only what Vault\.dev"),
    ):
        vault.reset()


def test_a_seeded_vault_can_have_a_clock_of_its_own(clock):
    clock.now_ns += 5
    assert Vault.dev(seed=7, clock=clock).now() == clock.now_ns
    assert Vault.dev(seed=7, clock=clock).root_token == Vault.dev(seed=7).root_token


@pytest.mark.parametrize("seed", [-1, 2**64, True, "7", 7.0])
def test_what_is_no_seed_makes_no_vault(seed):
    with pytest.raises(ValueError, match=r"^seed: expected a whole number from 0 to 2\*\*64 - 1, got "):
        Vault.dev(seed=seed)


def seeded(name):
    """A vault on entropy of its own seed and a clock that stands still."""
    environment = Environment(lambda: START_NS, SeededEntropy(1, name), lambda kind, **fields: None, no_outside)
    vault = Vault(MemoryStorage(), environment, Settings(node=name, cluster_address=f"https://{name}:8201"))
    vault.root_token, vault.unseal_keys = set_up(vault.core)
    return vault


def _activation(vault):
    vault.post("sys/replication/dr/primary/enable")
    return vault.post("sys/replication/dr/primary/secondary-token", {"id": "b"}).wrap_info["token"]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_threads_that_share_a_vault_lose_no_write(tmp_path, kind):
    vault = Vault.dev() if kind == "memory" else Vault.open(str(tmp_path / "lab.db"))
    versions = []

    def write():
        for number in range(40):
            versions.append(vault.post("secret/data/shared", {"data": {"number": number}}).data["version"])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=write) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)

    assert sorted(versions) == list(range(1, 201))
    assert len(vault.calls) == 200
    vault.close()


def test_a_vault_alone_carries_its_own_fetches_and_numbers_what_waits(service):
    primary = Vault.dev()
    refused = service.post(f"{DR}secondary/enable", {"token": _activation(primary)})

    assert refused.status == 503
    assert refused.errors[0].endswith("is not reachable: this vault has no network")
    assert (service.serial, service.state()["serial"], service.state()["waiting"]) == (1, 1, {})
    assert service.calls[-1].path == f"{DR}secondary/enable"


def test_a_file_that_cannot_be_set_up_is_free_again(tmp_path, monkeypatch):
    path = str(tmp_path / "lab.db")

    def fail(*_):
        raise RuntimeError("no")

    with monkeypatch.context() as patched:
        patched.setattr("labkit.front.file_credentials.unseal_stored", fail)
        with pytest.raises(RuntimeError):
            Vault.open(path)
    with closing(Vault.open(path)) as vault:
        assert vault.core.settings.storage_type == "sqlite"
        with pytest.raises(StoreError):
            Vault.open(path)
    Vault.dev().close()


@pytest.mark.slow
def test_a_request_leaves_nothing_to_the_collector() -> None:
    vault = Vault.dev(seed=1)
    vault.post("transit/keys/a", {})
    asked: list[tuple[str, str, Any]] = [
        ("POST", "transit/encrypt/a", {"plaintext": "YQ=="}),
        ("POST", "transit/encrypt/a", {"plaintext": "?"}),
        ("POST", "secret/data/a", {"data": {"a": 1}}),
        ("GET", "secret/data/a", None),
        ("GET", "secret/data/none", None),
        ("GET", "nowhere/a", None),
    ]
    for sent in asked * 2:
        vault.request(*sent, {"X-Vault-Token": vault.root_token})
    gc.collect()
    gc.disable()
    try:
        left = []
        for sent in asked:
            found = []
            for _ in range(3):  # what other threads of the process leave does not come each time
                vault.request(*sent, {"X-Vault-Token": vault.root_token})
                found.append(gc.collect())
            left.append(min(found))
    finally:
        gc.enable()

    assert left == [0] * len(asked)


def test_whatever_changes_a_vault_is_let_in_alone(service) -> None:
    """Threads may share a vault (rule 4): each of these waits for the one that is in."""
    entered = 0

    class Lock:
        def __enter__(self) -> None:
            nonlocal entered
            entered += 1

        def __exit__(self, *raised: object) -> None:
            pass

    service._lock = Lock()
    for number, work in enumerate(
        (
            service.tick,
            service.next_due,
            service.reload_keyring,
            lambda: service.unseal_with(()),
            lambda: service.request("GET", "sys/health"),
        )
    ):
        work()
        assert entered >= number + 1, work


KEYS = Fetch("https://login.cloud.test", Request("GET", "/common/discovery/keys"))


def test_machines_of_its_cloud_log_in_to_one_that_was_made_or_opened(tmp_path) -> None:
    vault = Vault.dev(seed=7)
    with closing(Vault.open(str(tmp_path / "lab.db"))) as opened:
        for each in (vault, opened):
            assert each.cloud is each.cloud
            assert each.get("auth/cloud/config").data["tenant_id"] == each.cloud.config["tenant_id"]
            each.post("auth/cloud/role/web", {"bound_resource_groups": "web"})
            assert each.cloud.vm("web-1").login(each, role="web").status == 200
        assert opened.cloud.state() != vault.cloud.state()


def test_a_stored_configuration_of_an_earlier_process_gives_way(tmp_path) -> None:
    path = str(tmp_path / "lab.db")
    with closing(Vault.open(path)) as vault:
        before = vault.cloud.config["tenant_id"]
    with closing(Vault.open(path)) as vault:
        assert vault.cloud.config["tenant_id"] != before
        assert vault.get("auth/cloud/config").data["tenant_id"] == vault.cloud.config["tenant_id"]


def test_keys_of_the_store_beside_it_are_named_in_one_that_was_made_or_opened(tmp_path) -> None:
    given = KeyStore.dev(seed=1)
    asked = Fetch(KEY_STORE_ADDRESS, Request("GET", "/v1/keys/a"))
    with closing(Vault.open(str(tmp_path / "lab.db"))) as opened:
        for vault in (Vault.dev(seed=7), opened, Vault.dev(keystore=given)):
            assert vault.keystore is vault.keystore
            assert vault._fetch(asked).status == 404
            vault.keystore.generate("a")
            assert vault._fetch(asked).body == {"label": "a", "mechanism": "CKM_AES_GCM", "size_bits": 256}
            assert vault._fetch(asked._replace(address="http://elsewhere")).status == 0
    assert given.labels == ("a",)


def test_one_that_stands_for_itself_has_no_cloud_and_no_key_store() -> None:
    bare = seeded("paris")

    with pytest.raises(ValueError, match="this vault has no cloud beside it"):
        bare.cloud  # noqa: B018 - the look-up itself is what is tested
    with pytest.raises(ValueError, match="this vault has no key store beside it"):
        bare.keystore  # noqa: B018 - the look-up itself is what is tested
    assert bare._fetch(KEYS).status == 0
    assert bare._fetch(Fetch(KEY_STORE_ADDRESS, Request("GET", "/v1/keys/a"))).status == 0


def test_a_fetch_that_is_not_due_moves_the_clock_on_and_never_back(service) -> None:
    began_ns = service.now()

    assert service._fetch(KEYS._replace(not_before_ns=began_ns - 5)).ok
    assert service.now() == began_ns
    service._fetch(KEYS._replace(not_before_ns=began_ns + 90))
    assert service.now() == began_ns + 90
    service._fetch(KEYS._replace(not_before_ns=began_ns + 91))
    assert service.now() == began_ns + 91
    still = seeded("paris")
    still._fetch(KEYS._replace(not_before_ns=START_NS + 90))
    assert still.now() == START_NS, "a clock that is a lab's is not moved"


def test_what_is_due_is_done_when_the_clock_is_moved_and_before_each_request(service, clock) -> None:
    def expiring() -> int:
        service.post("auth/token/create", {"ttl": "1h", "policies": ["default"]})
        return len(service.core.storage.list("token/id/"))

    assert expiring() == 2
    service.advance("2h")
    assert len(service.core.storage.list("token/id/")) == 1
    assert expiring() == 2
    clock.now_ns += 7_200 * 10**9
    service.get("sys/health")
    assert len(service.core.storage.list("token/id/")) == 1
    assert expiring() == 2
    assert service.next_due() == service.now() + 3_600 * 10**9
    clock.now_ns += 7_200 * 10**9
    assert service.tick() == 1


def test_one_that_is_reset_makes_its_own_cloud_again_and_keeps_its_files(service) -> None:
    files, cloud = Files(), service.cloud
    service.use_files(files)
    service.reset()

    assert service.files is files
    assert service.cloud is not cloud
    assert service.get("auth/cloud/config").data["tenant_id"] == service.cloud.config["tenant_id"]


def test_a_failure_is_asked_for_once_unless_more_are(service) -> None:
    service.fail_next(500)
    service.fail_next(503, 2)

    assert [service.get("sys/health").status for _ in range(4)] == [500, 503, 503, 200]


def test_a_call_tells_the_route_that_answered_and_none_of_a_failure(service) -> None:
    service.get("secret/data/app")
    service.fail_next(503)
    service.get("secret/data/app")
    answered, failed = service.calls

    assert answered.status == 404
    assert failed.status == 503
    assert service.resolved is None


def test_what_is_asked_for_in_process_comes_from_the_loopback_address(service) -> None:
    seen, handle = list[Request](), service.handle

    def noted(request: Request, now_ns: int) -> Any:
        seen.append(request)
        return handle(request, now_ns)

    service.handle = noted
    service.request("GET", "/v1/sys/health")
    service.request("POST", "/v1/sys/health", {"a": 1}, {"X": "y"}, remote_address="10.0.0.9")

    assert [(request.remote_address, request.headers, request.body) for request in seen] == [
        ("127.0.0.1", {}, None),
        ("10.0.0.9", {"X": "y"}, {"a": 1}),
    ]


def test_a_door_is_opened_with_what_the_vault_takes() -> None:
    vault = Vault.dev(seed=7, max_request_bytes=77)
    plain, controlled = vault.serve(), vault.serve(control=True)

    assert plain.control is None
    assert controlled.control is not None
    with plain as url:
        assert url.startswith("http://127.0.0.1:")
    assert plain.app.reader.max_request_bytes == 77


def test_one_in_memory_needs_no_closing_and_a_file_is_free_once_it_is_closed(tmp_path, service) -> None:
    service.close()
    assert service.get("sys/health").ok
    path = str(tmp_path / "lab.db")
    vault = Vault.open(path)
    vault.post("sys/seal")
    vault.close()
    with closing(Vault.open(path)) as again:
        assert not again.sealed


def test_counts_of_nonces_are_stored_when_a_file_is_closed(tmp_path) -> None:
    path = str(tmp_path / "lab.db")
    with closing(Vault.open(path, nonce_limit=4)) as vault:
        answers = [vault.post("transit/encrypt/a", {"plaintext": "YQ=="}) for _ in range(3)]
        assert not any((answer.body or {}).get("warnings") for answer in answers)
    with closing(Vault.open(path, nonce_limit=4)) as vault:
        answers = [vault.post("transit/encrypt/a", {"plaintext": "YQ=="}) for _ in range(3)]
        assert (answers[-1].body or {}).get("warnings")


def test_a_keyring_that_its_root_key_does_not_open_is_noticed(service) -> None:
    service.reload_keyring()
    assert not service.core.damaged
    service.core.storage.apply({"core/keyring": b"changed"}, service.core.leadership.term)
    service.reload_keyring()
    assert "core/keyring" in service.core.damaged


def test_one_that_stands_for_itself_has_no_token_and_nothing_asked_of_it() -> None:
    bare = Vault(MemoryStorage(), seeded("paris").environment)

    assert (bare.root_token, bare.unseal_keys, len(bare.calls)) == ("", (), 0)
    assert bare.serve()._port == 0
    assert bare.serve(8_200)._port == 8_200
    with pytest.raises(ValueError, match=r"only what Vault\.dev"):
        bare.reset()


def test_what_names_no_file_and_what_is_no_setting_open_none(tmp_path) -> None:
    wrong: tuple[Any, ...] = (7, "", "a\0b")
    for path in wrong:
        with pytest.raises(ValueError, match="path: expected"):
            Vault.open(path)
    with pytest.raises(ValueError, match="edition: expected"):
        Vault.open(str(tmp_path / "lab.db"), edition="oss")
    assert not [*tmp_path.iterdir()]


def test_shares_that_are_given_to_it_open_it(service) -> None:
    service.put("sys/seal")
    service.unseal_with(service.unseal_keys[:2])
    assert service.sealed
    service.unseal_with(service.unseal_keys[2:3])
    assert not service.sealed


class Closed:
    """A lock that lets nobody in, and says so at once."""

    def __enter__(self) -> None:
        raise AssertionError("a forked process waits for no thread")

    def __exit__(self, *raised: object) -> None: ...

    def acquire(self, blocking: bool = True) -> bool:
        raise AssertionError("a forked process waits for no thread")


def test_a_process_that_was_forked_is_refused_at_every_entrance(service) -> None:
    headers = {TOKEN: service.root_token}
    service.environment = service.environment._replace(is_forked=lambda: True)
    service._lock = Closed()
    for answer in (
        service.request("GET", "/v1/sys/mounts", None, headers),
        service.try_request("GET", "/v1/sys/mounts", None, headers, remote_address="127.0.0.1"),
        service.status(Request("GET", "/v1/sys/health", {})),
    ):
        assert not answer.ok
        assert "before this process was forked" in answer.errors[0]
    for entrance in (
        lambda: service.cloud,
        lambda: service.keystore,
        service.serve,
        service.tick,
        service.next_due,
        service.look_ahead,
        service.reload_keyring,
        lambda: service.advance("1s"),
        lambda: service.fail_next(500),
        lambda: service.use_files(Files()),
        lambda: service.unseal_with(service.unseal_keys),
        lambda: service.judge_large(Request("POST", "/v1/secret/data/a", headers)),
    ):
        with pytest.raises(ServiceError, match="before this process was forked"):
            entrance()
    service.close()
    assert (service.aims, len(service.calls)) == ((), 0)


def test_who_does_not_wait_is_answered_unless_another_thread_is_let_in(service) -> None:
    def tried() -> Any:
        return service.try_request("GET", "/v1/sys/health", None, {}, remote_address="127.0.0.1")

    service.get("sys/health")
    assert tried().status == 200
    with service._lock:
        other = ThreadPoolExecutor(1)
        assert other.submit(tried).result() is None
        assert tried().status == 200, "the thread that is in is let in again"
    assert other.submit(tried).result().status == 200
    other.shutdown()


def test_who_does_not_wait_is_not_answered_where_something_large_is_read() -> None:
    service = Vault.dev()

    def tried(method: str, path: str) -> Any:
        headers = {TOKEN: service.root_token}
        return service.try_request(method, f"/v1/{path}", None, headers, remote_address="127.0.0.1")

    large = {"data": {"a": "x" * 400_000}}
    service.post("secret/data/large", large)
    assert tried("GET", "secret/data/large").status == 200, "nobody serves it"
    service.look_ahead()
    assert tried("GET", "secret/data/large") is None
    assert tried("GET", "secret/data/other").status == 404
    service.reset()
    assert tried("GET", "secret/data/large").status == 404
    service.post("secret/data/large", large)
    assert tried("GET", "secret/data/large") is None
    assert tried("POST", "sys/wrapping/unwrap").status == 400
    wrapped = service.get("secret/data/large", headers={"X-Vault-Wrap-TTL": "60"})
    assert tried("POST", "sys/wrapping/unwrap") is None
    assert service.post("sys/wrapping/unwrap", {}, token=wrapped.wrap_info["token"]).data["data"] == large["data"]
    assert tried("POST", "sys/wrapping/unwrap").status == 400


def test_who_does_not_wait_is_not_answered_while_work_is_due(service) -> None:
    def tried() -> Any:
        return service.try_request("GET", "/v1/sys/health", None, {}, remote_address="127.0.0.1")

    service.post("transit/keys/k", {"auto_rotate_period": "1h"})
    assert tried().status == 200
    service.environment.now.shift_ns += 3_600 * 10**9
    assert tried() is None
    assert service.get("transit/keys/k").data["latest_version"] == 2
    assert tried().status == 200
    service.post("sys/seal")
    service.unseal_with(service.unseal_keys)
    assert tried() is None, "what falls due is not known yet"
    service.get("sys/health")
    assert tried().status == 200
