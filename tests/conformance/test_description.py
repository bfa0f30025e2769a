"""The API's own description, held against its answers: a published tool reads it and asks.

Requests are made from the OpenAPI document: some as it says, some as it forbids.  No answer is a fault of the
server, and each has a status, a type and a form that the document names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi import checks

from labkit import Lab, Vault
from labkit.doors.requests import Adapter

JUDGED = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]

AS_DESCRIBED, AS_FORBIDDEN = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE

CONTENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("secret/data/app", {"data": {"user": "ada"}}),
    ("secret/data/gone", {"data": {"user": "ada"}}),
    ("secret/delete/gone", {"versions": [1]}),
    ("cubbyhole/app", {"user": "ada"}),
    ("transit/keys/app", {}),
    ("transit/keys/derived", {"derived": True, "convergent_encryption": True}),
    ("sys/policies/acl/app", {"policy": 'path "secret/*" { capabilities = ["read"] }'}),
    ("sys/namespaces/team", {}),
    ("sys/quotas/rate-limit/app", {"path": "secret/", "rate": 100_000}),
    ("auth/token/roles/app", {"orphan": True}),
    ("sys/audit/file", {"type": "file", "options": {"file_path": "audit.log"}}),
    ("sys/config/auditing/request-headers/x-app", {}),
)

NAMES = ("app", "gone", "derived", "team", "file", "x-app", "token", "secret", "app/", "nothing")


EVERY_NTH = 20

MISTAKES = (" is disallowed on the policy", r"\" already exists")
"""Parts of the texts of mistakes that are 500 because clients expect that (decision C10)."""

STOPS = ("POST /sys/seal", "POST /sys/step-down")
"""After these a lab would answer with nothing else than refusals."""


def fill(vault: Vault) -> None:
    """Put a vault back to its beginning, and something of each kind into it."""
    vault.reset()
    for path, body in CONTENTS:
        vault.post(path, body)


@pytest.fixture(scope="module")
def described() -> list[Any]:
    """Every operation of a vault with something in it, in the document's order."""
    return operations(document())


def document() -> dict[str, Any]:
    """The description that a vault gives of itself."""
    found = Vault.dev(seed=7).get("sys/internal/specs/openapi").body
    assert found is not None
    return found


def operations(described: dict[str, Any]) -> list[Any]:
    """Every operation of a description."""
    return [cast("Any", found).ok() for found in schemathesis.openapi.from_dict(described).get_all_operations()]


class Asked(NamedTuple):
    """What requests are sent to: where it is, its root token, and the session that leads there."""

    url: str
    token: str
    session: requests.Session


def in_process(service: Any) -> Asked:
    """A vault or a cluster of a lab, without a socket."""
    session = requests.Session()
    session.trust_env = False
    session.mount("http://labkit", Adapter(service))
    return Asked("http://labkit", service.root_token, session)


def ask(
    operation: Any, mode: Any, examples: int, asked: Asked, renew: Callable[[], None]
) -> tuple[list[int], list[str]]:
    """Send what the document makes of an operation; return the statuses, and what was not as described."""
    answered: list[int] = []
    faults: list[str] = []

    @seed(7)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        renew()
        for number, name in enumerate(case.path_parameters or {}):
            if mode is AS_DESCRIBED and len(answered) % 2:  # what is there is reached by every second request
                case.path_parameters[name] = NAMES[(len(answered) // 2 + number) % len(NAMES)]
        if len(answered) % 3:
            case.headers = None
        answer = case.call(base_url=f"{asked.url}/v1", session=asked.session, headers={"X-Vault-Token": asked.token})
        answered.append(answer.status_code)
        faults.extend(faults_of(case, answer, operation))

    try:
        send()
    except Unsatisfiable:  # there is nothing to forbid
        assert mode is AS_FORBIDDEN
    return answered, faults


def faults_of(case: Any, answer: Any, operation: Any) -> list[str]:
    """What is wrong with an answer, by the description; a field that it names and the service ignores is wrong too."""
    faults = []
    if answer.status_code == 500 and not any(mistake in answer.text for mistake in MISTAKES):
        faults.append(f"{operation.label}: {answer.text}")
    is_silent = not answer.content and case.method == "PATCH" and answer.status_code == 404
    try:
        case.validate_response(answer, checks=JUDGED[:1] if is_silent else JUDGED)
    except (FailureGroup, Failure) as error:
        faults.append(f"{operation.label}: {error}")
    for warning in (answer.json() if answer.content else {}).get("warnings") or []:
        ignored = re.fullmatch(r"Endpoint ignored these unrecognized parameters: \[(.*)]", warning, re.DOTALL)
        if ignored and documented(operation) & set(ignored[1].split(" ")):
            faults.append(f"{operation.label}: {warning}")
    return faults


def documented(operation: Any) -> set[str]:
    """The names of the fields in an operation's query and body."""
    raw = operation.definition.raw
    bodies = raw.get("requestBody", {}).get("content", {}).values()
    in_body = {name for body in bodies for name in body["schema"]["properties"]}
    return in_body | {parameter["name"] for parameter in raw.get("parameters", [])}


def examined(found: list[Any], examples: int, asked: Asked, renew: Callable[[], None]) -> Counter[int]:
    """Ask operations in both ways; return how often each status came, having seen that all is as described."""
    counted: Counter[int] = Counter()
    faults: list[str] = []
    for operation in found:
        for mode in (
            (AS_DESCRIBED, AS_FORBIDDEN) if documented(operation) else (AS_DESCRIBED,)
        ):  # else none is forbidden
            statuses, wrong = ask(operation, mode, examples if mode is AS_DESCRIBED else 1, asked, renew)
            counted.update(statuses)
            faults += wrong
    assert not faults, "\n\n".join(faults)
    return counted


def assert_mixed(counted: Counter[int]) -> None:
    """Some were carried out, some were refused: what was asked means something to the service."""
    assert min(counted) < 300 <= 400 <= max(counted), counted


@pytest.mark.slow
def test_a_sample_of_the_description_holds(described: list[Any]) -> None:
    vault = Vault.dev(seed=7)
    counted = examined(described[::EVERY_NTH], 1, in_process(vault), lambda: fill(vault))
    assert_mixed(counted)


@pytest.mark.slow
def test_all_of_the_description_holds(described: list[Any]) -> None:
    vault = Vault.dev(seed=7)
    counted = examined(described, 2, in_process(vault), lambda: fill(vault))
    assert {200, 204, 400, 403, 404} <= counted.keys()


@pytest.mark.slow
def test_the_description_holds_over_a_socket(described: list[Any]) -> None:
    vault = Vault.dev(seed=7)
    with vault.serve() as url, requests.Session() as session:
        session.trust_env = False
        counted = examined(described, 1, Asked(url, vault.root_token, session), lambda: fill(vault))
    assert_mixed(counted)


@pytest.mark.slow
@pytest.mark.parametrize("state", ["sealed", "community", "fips"])
def test_the_description_holds_in_other_states(described: list[Any], state: str) -> None:
    chosen: dict[str, Any] = {"edition": "community"} if state == "community" else {"fips": state == "fips"}
    vault = Vault.dev(seed=7, **chosen)

    def renew() -> None:
        fill(vault)
        if state == "sealed":
            assert vault.put("sys/seal").ok

    counted = examined(described[::6], 1, in_process(vault), renew)
    assert_mixed(counted + Counter([200]))  # few paths answer while sealed
    assert (503 in counted) == (state == "sealed")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paris", "tokyo"])
def test_the_description_holds_while_replicating(described: list[Any], name: str) -> None:
    """A disaster-recovery primary and its secondary, over the network of a lab."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    found = [found for found in described if found.label not in STOPS]
    counted = examined(found[::6], 1, in_process(lab[name]), lambda: None)
    assert_mixed(counted)


def test_what_a_refused_example_looks_like() -> None:
    """A service whose description is wrong is found out: the judges do judge."""
    wrong = document()
    answers = wrong["paths"]["/secret/config"]["get"]["responses"]
    answers["200"]["content"]["application/json"]["schema"] = {"type": "object", "required": ["nothing"]}
    asked = [found for found in operations(wrong) if found.label == "GET /secret/config"]
    with pytest.raises(AssertionError, match='"nothing" is a required property'):
        examined(asked, 1, in_process(Vault.dev(seed=7)), lambda: None)
