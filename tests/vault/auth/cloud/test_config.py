"""The configuration: what is written is read back, credentials too, and what cannot be is refused unchanged."""

from __future__ import annotations

import pytest

PATH = "auth/cloud/config"
DEFAULTS = {
    "environment": "CloudPublicCloud",
    "client_id": "",
    "client_secret": "",
    "max_retries": 3,
    "max_retry_delay": "60s",
    "retry_delay": "4s",
}


def test_there_is_none_until_it_is_written(service, config) -> None:
    assert service.get(PATH).status == 404
    assert service.post(PATH, config).status == 204
    assert service.get(PATH).data == DEFAULTS | config


def test_reading_shows_the_credentials(service, config) -> None:
    sent = config | {
        "client_id": "app",
        "client_secret": "s3cret",
        "environment": "CloudChinaCloud",
        "max_retries": "0",
    }
    service.post(PATH, sent)

    assert service.get(PATH).data == DEFAULTS | sent | {"max_retries": 0}


def test_what_is_not_sent_stays(service, config) -> None:
    service.post(PATH, config | {"client_secret": "s3cret", "retry_delay": "9s"})
    assert service.post(PATH, {"max_retries": 1}).status == 204

    assert service.get(PATH).data == DEFAULTS | config | {
        "client_secret": "s3cret",
        "retry_delay": "9s",
        "max_retries": 1,
    }


@pytest.mark.parametrize(
    ("sent", "shown"), [(90, "90s"), ("90", "90s"), ("1m30s", "1m30s"), ("1500ms", "1500ms"), ("", "0s"), (0, "0s")]
)
def test_a_delay_is_shown_with_its_unit(service, config, sent, shown) -> None:
    service.post(PATH, config | {"max_retry_delay": sent})

    assert service.get(PATH).data["max_retry_delay"] == shown


def test_a_tenant_that_no_token_names_is_taken_with_a_warning_and_refused_at_login(service, config) -> None:
    """Clients write a configuration with names of their own, such as hvac's tests do."""
    answer = service.post(PATH, config | {"tenant_id": "my-tenant"})
    assert (answer.status, len(answer.warnings)) == (200, 1)
    assert "a GUID; logins fail with 'my-tenant'" in answer.warnings[0]
    assert service.get(PATH).data["tenant_id"] == "my-tenant"

    service.post("auth/cloud/role/any", {"bound_locations": ["*"]})
    sent = {"role": "any", "jwt": "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.e30.AAAA", "subscription_id": config["tenant_id"]}
    refused = service.post("auth/cloud/login", sent | {"resource_group_name": "g", "vm_name": "v"})
    assert (refused.status, "a GUID, got 'my-tenant'" in refused.errors[0]) == (400, True)
    assert service.post(PATH, config).status == 204


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"tenant_id": ""}, "tenant_id is required"),
        ({"resource": None}, "resource is required"),
        ({"tenant_id": "a/../b"}, "tenant_id: expected the id of a directory"),
        ({"tenant_id": "shop.example\n"}, "tenant_id: expected the id of a directory"),
        ({"environment": "CloudMoonCloud"}, "environment: expected one of CloudPublicCloud"),
        ({"max_retries": -1}, "max_retries: expected a number from 0 to 100"),
        ({"max_retries": 101}, "max_retries: expected a number from 0 to 100"),
        ({"retry_delay": "-1s"}, "retry_delay cannot be negative"),
        ({"retry_delay": "soon"}, "retry_delay: time: invalid duration"),
        ({"max_retry_delay": [1]}, "max_retry_delay: could not parse duration"),
        ({"client_secret": {"canary-91c2": "canary-91c2"}}, "client_secret"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(service, config, sent, text) -> None:
    service.post(PATH, config)
    refused = service.post(PATH, sent)

    assert refused.status == 400
    assert text in refused.errors[0]
    assert "canary-91c2" not in refused.errors[0]
    assert service.get(PATH).data == DEFAULTS | config


def test_a_deleted_one_is_gone_and_deleting_it_twice_is_no_error(service, config) -> None:
    service.post(PATH, config)

    assert [service.delete(PATH).status for _ in range(2)] == [204, 204]
    assert service.get(PATH).status == 404


def test_every_mount_has_its_own(service, config) -> None:
    service.post("sys/auth/elsewhere", {"type": "azure"})
    service.post("auth/elsewhere/config", config)

    assert service.get("sys/auth").data["elsewhere/"]["type"] == "azure"
    assert service.get("auth/elsewhere/config").data == DEFAULTS | config
    assert service.get(PATH).status == 404


def test_what_was_fetched_under_another_configuration_is_dropped(service, config) -> None:
    service.post(PATH, config)
    mount = service.get("sys/auth").data["cloud/"]["uuid"]
    for act in (lambda: service.post(PATH, {"max_retries": 1}), lambda: service.delete(PATH)):
        service.core.storage.apply({f"node/mount/{mount}/keys": b"x"}, 0)
        act()
        assert service.core.storage.get(f"node/mount/{mount}/keys") is None
