"""What holds for a mount: what is stored wins over the service's environment, which is never stored or shown."""

from __future__ import annotations

import pytest

from labkit import Vault
from labkit.service.errors import BadRequest
from labkit.vault.auth.cloud.settings import CloudConfig, effective
from labkit.vault.context import own_work

OWN = "99999999-0000-4000-8000-000000000002"
ENVIRON = {
    "CLOUD_TENANT_ID": "99999999-0000-4000-8000-000000000001",
    "CLOUD_AD_RESOURCE": "environ-resource",
    "CLOUD_ENVIRONMENT": "AzureChinaCloud",
    "CLOUD_CLIENT_ID": "environ-client",
    "CLOUD_CLIENT_SECRET": "canary-91c2",
}


def test_the_environment_fills_up_what_is_not_stored() -> None:
    ctx = own_work(Vault.dev(environ=ENVIRON).core)
    found = effective(ctx, CloudConfig(tenant_id=OWN))

    assert (found.tenant_id, found.resource, found.environment.name, found.client_id, found.client_secret) == (
        OWN,
        "environ-resource",
        "CloudChinaCloud",
        "environ-client",
        "canary-91c2",
    )
    assert found.retries == (3, 4_000_000_000, 60_000_000_000)


def test_what_comes_from_the_environment_is_not_stored_or_shown() -> None:
    service = Vault.dev(environ=ENVIRON)
    assert service.post("auth/cloud/config", {"max_retries": 1}).status == 204
    shown = service.get("auth/cloud/config").data

    assert (shown["tenant_id"], shown["client_secret"]) == ("", "")
    assert "canary-91c2" not in repr(service.core.settings)
    assert "CLOUD_CLIENT_SECRET" in repr(service.core.settings)


def test_without_either_it_says_what_to_give() -> None:
    ctx = own_work(Vault.dev().core)
    with pytest.raises(BadRequest, match="resource is required: give it here, or CLOUD_AD_RESOURCE"):
        effective(ctx, CloudConfig(tenant_id=OWN))


@pytest.mark.parametrize("tenant", ["shop.example", "common", OWN + "\n", "{" + OWN + "}", "\u0660" + OWN[1:]])
def test_a_tenant_is_named_by_its_id_wherever_it_comes_from(tenant) -> None:
    for environ, config in ((ENVIRON, CloudConfig(tenant_id=tenant)), ({"CLOUD_TENANT_ID": tenant}, CloudConfig())):
        ctx = own_work(Vault.dev(environ={**ENVIRON, **environ}).core)
        with pytest.raises(BadRequest, match="tenant_id: expected the id of a directory of the cloud, a GUID"):
            effective(ctx, config)


@pytest.mark.parametrize("environ", [{"CLOUD_TENANT_ID": 5}, "CLOUD_TENANT_ID=canary-91c2", {5: "x"}])
def test_an_environment_is_texts(environ) -> None:
    with pytest.raises(ValueError, match="environ: expected variables and their values") as raised:
        Vault.dev(environ=environ)

    assert "canary-91c2" not in str(raised.value)


def test_no_representation_shows_the_secret() -> None:
    ctx = own_work(Vault.dev(environ=ENVIRON).core)

    assert "canary-91c2" not in repr(effective(ctx, CloudConfig()))
    assert "canary-91c2" not in repr(CloudConfig(client_secret="canary-91c2"))
