"""Parts: a request as endpoints read it, tokens issued and taken back."""

from __future__ import annotations

from labkit.cloud.access_tokens import of_application
from labkit.cloud.parts import CloudRequest, KeptToken
from labkit.front.cloud import Cloud
from labkit.service.cloud_environments import DEFAULT_ENVIRONMENT


def test_what_is_read_shows_no_secret() -> None:
    asked = CloudRequest("GET", "/a", {"q": ["1", "2"]}, {"authorization": "canary"}, {"secret": "canary"}, "")

    assert repr(Cloud.dev(seed=1).parts) == "CloudParts(not shown)"
    assert "canary" not in repr(asked) + repr(KeptToken("canary", 1, 2))
    assert (asked.parameter("q"), asked.parameter("none")) == ("2", "")
    assert (asked.sent("secret"), asked.sent("none")) == ("canary", "")
    assert asked._replace(body={"secret": 7}).sent("secret") == ""


def test_an_issued_token_is_its_own_environments_only(cloud: Cloud) -> None:
    (application,) = cloud.inventory.applications.values()
    token, claims = cloud.parts.issue(of_application(application), "https://management.cloud.test/")

    assert cloud.parts.claims_of(DEFAULT_ENVIRONMENT, token) == claims
    assert cloud.parts.claims_of("CloudChinaCloud", token) is None
    assert cloud.parts.claims_of(DEFAULT_ENVIRONMENT, token[:-8] + "AAAAAAAA") is None
    assert cloud.parts.claims_of(DEFAULT_ENVIRONMENT, "") is None
