"""hvac: its client works unchanged on a vault and on a cluster without a socket, and on a served vault."""

from __future__ import annotations

import base64
import socket
from collections.abc import Callable, Iterator
from typing import Any

import hvac
import pytest
import requests
from hvac import exceptions

from labkit import Lab, Vault
from labkit.doors.hvac import Adapter

Connect = Callable[[str], Any]


@pytest.fixture(autouse=True)
def no_socket(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection, but to a door that is served."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a socket was opened")

    if "door" in request.fixturenames and request.getfixturevalue("door") == "served":
        return
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(params=["vault", "cluster", "served"])
def door(request: pytest.FixtureRequest) -> str:
    """What clients talk to: a vault or a cluster in process, or a vault behind a port."""
    kind: str = request.param
    return kind


@pytest.fixture
def service(door: str, request: pytest.FixtureRequest) -> Any:
    """What a door leads to."""
    return request.getfixturevalue("lab")["paris"] if door == "cluster" else Vault.dev(seed=7)


@pytest.fixture
def connect(door: str, service: Any) -> Iterator[Connect]:
    """Makes a client with a token; empty for none."""
    if door != "served":
        yield lambda token: hvac.Client(token=token, adapter=Adapter(service))
        return
    with service.serve() as url:
        made: list[Any] = []

        def client_of(token: str) -> Any:
            made.append(hvac.Client(url=url, token=token))
            return made[-1]

        yield client_of
        for client in made:
            client.adapter.close()


@pytest.fixture
def client(connect: Connect, service: Any) -> Any:
    """A client with the root token."""
    return connect(service.root_token)


@pytest.mark.filterwarnings("ignore:The raise_on_deleted_version parameter")  # its patch reads without it
def test_the_life_of_a_secret(client: Any) -> None:
    kv = client.secrets.kv.v2
    assert kv.create_or_update_secret("app", {"user": "ada"})["data"]["version"] == 1
    assert kv.create_or_update_secret("app", {"user": "bob"}, cas=1)["data"]["version"] == 2
    assert kv.patch("app", {"tag": "x"})["data"]["version"] == 3
    read = kv.read_secret_version("app", version=3, raise_on_deleted_version=True)["data"]
    assert (read["data"], read["metadata"]["version"]) == ({"user": "bob", "tag": "x"}, 3)
    assert kv.list_secrets("")["data"] == {"keys": ["app"]}
    kv.delete_latest_version_of_secret("app")
    with pytest.raises(exceptions.InvalidPath):
        kv.read_secret_version("app", raise_on_deleted_version=True)
    gone = kv.read_secret_version("app", raise_on_deleted_version=False)
    assert gone["data"]["metadata"]["deletion_time"]
    kv.undelete_secret_versions("app", [3])
    kv.destroy_secret_versions("app", [1])
    kv.update_metadata("app", max_versions=3, custom_metadata={"team": "a"})
    metadata = kv.read_secret_metadata("app")["data"]
    assert (metadata["max_versions"], metadata["versions"]["1"]["destroyed"]) == (3, True)
    kv.configure(max_versions=20, cas_required=False, delete_version_after="30m")
    assert kv.read_configuration()["data"]["delete_version_after"] == "30m0s"
    kv.delete_metadata_and_all_versions("app")
    with pytest.raises(exceptions.InvalidPath):
        kv.read_secret_metadata("app")


def test_transit(client: Any) -> None:
    transit = client.secrets.transit
    transit.create_key("orders")
    text = base64.b64encode(b"hello").decode()
    encrypted = transit.encrypt_data("orders", plaintext=text)["data"]["ciphertext"]
    transit.rotate_key("orders")
    again = transit.rewrap_data("orders", ciphertext=encrypted)["data"]["ciphertext"]
    assert again.startswith("vault:v2:")
    assert transit.decrypt_data("orders", ciphertext=again)["data"]["plaintext"] == text
    assert transit.list_keys()["data"] == {"keys": ["orders"]}
    assert transit.read_key("orders")["data"]["latest_version"] == 2
    transit.create_key("documents", key_type="ecdsa-p256", exportable=True, allow_plaintext_backup=True)
    signature = transit.sign_data("documents", hash_input=text)["data"]["signature"]
    assert transit.verify_signed_data("documents", hash_input=text, signature=signature)["data"] == {"valid": True}
    backup = transit.backup_key("documents")["data"]["backup"]
    transit.restore_key(backup, name="again")
    assert transit.verify_signed_data("again", hash_input=text, signature=signature)["data"] == {"valid": True}
    data_key = transit.generate_data_key("orders", "plaintext")["data"]
    opened = transit.decrypt_data("orders", ciphertext=data_key["ciphertext"])["data"]["plaintext"]
    assert opened == data_key["plaintext"]


def test_tokens_policies_and_wrapping(client: Any, connect: Connect) -> None:
    client.sys.create_or_update_policy("reader", 'path "secret/data/*" { capabilities = ["read"] }')
    assert "reader" in client.sys.list_policies()["data"]["policies"]
    token = client.auth.token.create(policies=["reader"], ttl="1h")["auth"]["client_token"]
    reader = connect(token)
    assert reader.is_authenticated()
    assert reader.auth.token.lookup_self()["data"]["policies"] == ["default", "reader"]
    with pytest.raises(exceptions.Forbidden, match="permission denied"):
        reader.secrets.kv.v2.create_or_update_secret("app", {})
    wrapped = client.auth.token.create(policies=["reader"], wrap_ttl="60s")["wrap_info"]["token"]
    assert client.sys.unwrap(wrapped)["auth"]["policies"] == ["default", "reader"]
    with pytest.raises(exceptions.InvalidRequest):
        client.sys.unwrap(wrapped)
    client.auth.token.revoke(token)
    assert not reader.is_authenticated()


def test_mounts_seal_and_health(client: Any) -> None:
    client.sys.enable_secrets_engine("kv", path="plain", options={"version": 1})
    assert "plain/" in client.sys.list_mounted_secrets_engines()["data"]
    client.secrets.kv.v1.create_or_update_secret("a", {"x": "1"}, mount_point="plain")
    assert client.secrets.kv.v1.read_secret("a", mount_point="plain")["data"] == {"x": "1"}
    client.sys.disable_secrets_engine("plain")
    assert client.sys.is_initialized()
    assert not client.sys.is_sealed()
    assert client.sys.read_health_status(method="GET")["sealed"] is False
    assert client.sys.read_health_status().status_code == 200
    assert client.sys.read_leader_status()["is_self"] in (True, False)


@pytest.mark.parametrize("door", ["vault", "served"], indirect=True)
def test_a_vault_is_sealed_and_unsealed(client: Any, service: Vault) -> None:
    client.sys.seal()
    assert client.sys.is_sealed()
    with pytest.raises(exceptions.VaultDown, match="sealed"):
        client.secrets.kv.v2.list_secrets("")
    client.sys.submit_unseal_keys(service.unseal_keys[:3])
    assert not client.sys.is_sealed()


def test_requests_of_plain_paths_and_namespaces(vault: Vault) -> None:
    client = hvac.Client(token=vault.root_token, adapter=Adapter(vault), namespace="none")
    with pytest.raises(exceptions.InvalidPath, match="namespace not found"):
        client.secrets.kv.v2.list_secrets("")
    client = hvac.Client(token=vault.root_token, adapter=Adapter(vault))
    client.write_data("secret/data/app", data={"data": {"a": 1}})
    assert client.secrets.kv.v2.read_secret_version("app", raise_on_deleted_version=True)["data"]["data"] == {"a": 1}
    assert client.secrets.kv.v2.list_secrets("")["data"] == {"keys": ["app"]}
    assert client.read("secret/data/none") is None
    client.delete("secret/data/app")


def test_an_answer_is_that_of_requests(vault: Vault) -> None:
    client = hvac.Client(adapter=Adapter(vault))
    answer = client.adapter.request("get", "/v1/secret/data/none", raise_exception=False)

    assert isinstance(answer, requests.Response)
    assert (answer.status_code, answer.ok, answer.headers["Content-Type"]) == (403, False, "application/json")
    assert answer.json() == {"errors": ["permission denied"]}
    assert answer.content == b'{"errors":["permission denied"]}\n'
    assert answer.text == '{"errors":["permission denied"]}\n'
    longer = client.session.request("post", "http://labkit/v1/secret/data/app", data=b"{broken")
    assert longer.status_code == 400
    empty = client.adapter.request("get", "/v1/sys/health", raise_exception=False, params={"standbycode": 200})
    assert empty["sealed"] is False


def test_what_a_socket_would_leave_out_is_left_out(vault: Vault) -> None:
    client = hvac.Client(token=vault.root_token, adapter=Adapter(vault))
    vault.post("secret/data/app", {"data": {"a": 1}})
    read = client.adapter.request("get", "/v1/secret/data/app", params={"version": None}, json={"version": "x"})

    assert read["data"]["data"] == {"a": 1}
    assert client.adapter.request("get", "/ui", raise_exception=False).status_code == 404


def test_head_has_no_body_and_redirects_are_followed(vault: Vault) -> None:
    client = hvac.Client(token=vault.root_token, adapter=Adapter(vault))
    vault.post("secret/data/app", {"data": {"a": 1}})
    head = client.adapter.request("head", "/v1/secret/data/app")
    assert (head.status_code, head.content) == (200, b"")

    vault.answer_next(302, headers={"Location": "/v1/secret/data/app"})
    read = client.read("secret/data/old")
    assert isinstance(read, dict)
    assert read["data"]["data"] == {"a": 1}
    vault.answer_next(307, headers={"Location": "/v1/secret/data/new"})
    client.secrets.kv.v2.create_or_update_secret("old", {"b": 2})
    assert vault.get("secret/data/new").data["data"] == {"b": 2}
    assert vault.get("secret/data/old").status == 404
    vault.answer_next(302, headers={"Location": "/v1/secret/data/app"})
    assert client.session.request("get", "http://labkit/v1/x", allow_redirects=False).status_code == 302


def test_errors_name_no_server_that_is_not_asked(vault: Vault) -> None:
    for url, named in ((None, "http://labkit"), ("https://vault.example", "https://vault.example")):
        with pytest.raises(exceptions.Forbidden, match=f"on get {named}/v1/sys/mounts"):
            hvac.Client(url=url, token="none", adapter=Adapter(vault)).sys.list_mounted_secrets_engines()


def test_an_answer_without_a_body_is_not_json(vault: Vault) -> None:
    client = hvac.Client(token=vault.root_token, adapter=Adapter(vault))
    answer = client.adapter.request("post", "/v1/sys/step-down")

    assert (answer.status_code, answer.content) == (204, b"")
    with pytest.raises(ValueError, match="Expecting value"):
        answer.json()


@pytest.mark.parametrize("timeout", [2, (9, 2)])
def test_a_silent_cluster_is_a_timeout_of_simulated_time(lab: Lab, timeout: Any) -> None:
    client = hvac.Client(token=lab["paris"].root_token, adapter=Adapter(lab["paris"]), timeout=timeout)
    lab.crash("paris")
    before = lab.now

    with pytest.raises(requests.exceptions.ReadTimeout):
        client.secrets.kv.v2.list_secrets("")

    assert lab.now - before == 2_000_000_000


@pytest.mark.parametrize("door", ["vault", "served"], indirect=True)
def test_a_machine_of_every_kind_logs_in_by_the_clients_own_call(client: Any, connect: Connect, service: Vault) -> None:
    groups = sorted({service.cloud.vm(name).resource_group for name in ("web-1", "db-1")})
    client.auth.azure.create_role("machines", policies=["app"], bound_resource_groups=groups, mount_point="cloud")
    for name in ("web-1", "db-1", "fleet_0"):
        machine = service.cloud.vm(name)
        login = connect("").auth.azure.login
        named = {"vmss_name": machine.scale_set} if machine.scale_set else {"vm_name": name}
        where = {"subscription_id": machine.subscription_id, "resource_group_name": machine.resource_group, **named}
        token = login("machines", machine.token(), mount_point="cloud", **where)["auth"]["client_token"]

        assert connect(token).lookup_token()["data"]["meta"]["role"] == "machines"
        with pytest.raises(exceptions.Forbidden, match="permission denied"):
            login("machines", service.cloud.mint(name, claims={"aud": "x"}), mount_point="cloud", **where)


def test_a_program_logs_in_by_the_clients_own_calls(client: Any, connect: Connect) -> None:
    client.sys.enable_auth_method("approle", path="robots")
    approle = client.auth.approle
    named = {"role_name": "app", "mount_point": "robots"}
    made = approle.create_or_update_approle(token_policies=["default"], secret_id_num_uses=2, token_ttl="10m", **named)
    assert made.status_code == 204
    assert approle.list_roles(mount_point="robots")["data"]["keys"] == ["app"]
    assert approle.read_role(**named)["data"]["token_ttl"] == 600
    approle.update_role_id(role_id="robot-1", **named)
    assert approle.read_role_id(**named)["data"]["role_id"] == "robot-1"

    drawn = approle.generate_secret_id(metadata={"team": "blue"}, **named)["data"]
    chosen = approle.create_custom_secret_id(secret_id="chosen", **named)["data"]
    found = approle.read_secret_id(secret_id=drawn["secret_id"], **named)["data"]
    assert found == approle.read_secret_id_accessor(secret_id_accessor=drawn["secret_id_accessor"], **named)["data"]
    assert found["metadata"] == {"team": "blue"}
    accessors = approle.list_secret_id_accessors(**named)["data"]["keys"]
    assert accessors == sorted([drawn["secret_id_accessor"], chosen["secret_id_accessor"]])

    program = connect("")
    auth = program.auth.approle.login(role_id="robot-1", secret_id=drawn["secret_id"], mount_point="robots")["auth"]
    assert auth["metadata"] == {"role_name": "app", "team": "blue"}
    assert program.auth.token.lookup_self()["data"]["policies"] == ["default"]
    approle.destroy_secret_id(secret_id=drawn["secret_id"], **named)
    approle.destroy_secret_id_accessor(secret_id_accessor=chosen["secret_id_accessor"], **named)
    with pytest.raises(exceptions.InvalidRequest, match="invalid role or secret ID"):
        program.auth.approle.login(role_id="robot-1", secret_id=drawn["secret_id"], mount_point="robots")
    approle.delete_role(**named)
    with pytest.raises(exceptions.InvalidPath):
        approle.read_role(**named)


def test_a_person_logs_in_by_the_clients_own_calls(client: Any, connect: Connect) -> None:
    client.sys.enable_auth_method("userpass")
    userpass = client.auth.userpass
    userpass.create_or_update_user("ada", password="right", policies="default")
    assert userpass.list_user()["data"]["keys"] == ["ada"]
    assert userpass.read_user("ada")["data"]["token_policies"] == ["default"]

    person = connect("")
    auth = person.auth.userpass.login("ada", "right")["auth"]
    assert (auth["metadata"], person.token) == ({"username": "ada"}, auth["client_token"])
    userpass.update_password_on_user("ada", password="new")
    with pytest.raises(exceptions.InvalidRequest, match="invalid username or password"):
        person.auth.userpass.login("ada", "right")
    userpass.delete_user("ada")
    with pytest.raises(exceptions.InvalidRequest):
        person.auth.userpass.login("ada", "new")


def test_a_mount_is_tuned_to_lock_out_by_the_clients_own_call(client: Any) -> None:
    client.sys.enable_auth_method("userpass")
    client.write_data("sys/auth/userpass/tune", data={"user_lockout_config": {"lockout_threshold": "2"}})
    assert client.sys.read_auth_method_tuning("userpass")["data"]["user_lockout_threshold"] == 2
    client.auth.userpass.create_or_update_user("ada", password="right")
    for _ in range(2):
        with pytest.raises(exceptions.InvalidRequest):
            client.auth.userpass.login("ada", "wrong", use_token=False)
    with pytest.raises(exceptions.Forbidden):
        client.auth.userpass.login("ada", "right", use_token=False)
    found = client.read("sys/locked-users")["data"]["by_namespace"][0]["mount_accessors"][0]
    client.write_data(f"sys/locked-users/{found['mount_accessor']}/unlock/ada", data={})
    assert client.auth.userpass.login("ada", "right", use_token=False)["auth"]["client_token"]
