"""The endpoints that check and repair: who may ask, in which mode, and that a refusal changes nothing."""

from __future__ import annotations

import pytest

DR = "sys/replication/dr/"

OF_A_SECONDARY = ("merkle-check", "reindex", "recover")
OF_A_PRIMARY = OF_A_SECONDARY


@pytest.mark.parametrize("name", OF_A_SECONDARY)
def test_a_secondarys_form_is_refused_in_any_other_mode(apart, together, name):
    for drill, cluster, mode in ((apart, "tokyo", "disabled"), (together, "paris", "primary")):
        before = drill.stored(cluster)
        answer = drill.open_post(cluster, f"secondary/{name}", {"dr_operation_token": "hvs.x"})
        assert answer.status == 400
        assert mode in answer.errors[0]
        assert drill.stored(cluster) == before


@pytest.mark.parametrize("name", OF_A_PRIMARY)
def test_a_primarys_form_is_refused_in_any_other_mode(apart, together, name):
    for drill, cluster, mode in ((apart, "paris", "disabled"), (together, "tokyo", "secondary")):
        before = drill.stored(cluster)
        answer = drill[cluster].post(f"sys/replication/{name}", {})
        assert answer.status == 400
        assert mode in answer.errors[0]
        assert drill.stored(cluster) == before


@pytest.mark.parametrize("name", OF_A_SECONDARY)
def test_the_refusal_of_the_other_sides_form_names_this_sides_and_no_change_of_mode(together, name):
    own = together["paris"].post(DR + f"secondary/{name}", {"dr_operation_token": "hvs.x"}, token="").errors[0]
    others = together["tokyo"].post(f"sys/replication/{name}", {}).errors[0]

    assert own.endswith(f"; its form is POST sys/replication/{name}")
    assert others.endswith(f"; its form is POST {DR}secondary/{name}")


@pytest.mark.parametrize("name", OF_A_SECONDARY)
@pytest.mark.parametrize("token", ["", "hvs.wrong", None])
def test_a_secondarys_form_needs_its_operation_token(together, name, token):
    before = together.stored("tokyo")
    answer = together.open_post("tokyo", f"secondary/{name}", {"dr_operation_token": token})

    assert (answer.status, answer.errors) == (403, ["dr operation token is missing or invalid"])
    assert together.stored("tokyo") == before


@pytest.mark.parametrize("name", OF_A_PRIMARY)
@pytest.mark.parametrize("capabilities", ['"update"', '"read", "list"'])
def test_a_primarys_form_needs_sudo(together, name, capabilities):
    policy = f'path "sys/replication/*" {{ capabilities = [{capabilities}] }}'
    together["paris"].put("sys/policies/acl/plain", {"policy": policy})
    token = together["paris"].post("auth/token/create", {"policies": ["plain"]}).auth["client_token"]

    for given in (token, ""):
        assert together["paris"].post(f"sys/replication/{name}", {}, token=given).status == 403
    assert "reindex_in_progress" not in together.status("paris")


@pytest.mark.parametrize("name", OF_A_PRIMARY)
def test_no_standby_answers_for_itself(together, name):
    for node in together["paris"].nodes:
        together.lab.run("1s")
        headers = {"X-Vault-Token": together["paris"].root_token}
        assert together["paris"].request("POST", f"sys/replication/{name}", {}, headers, node=node).status == 200


@pytest.mark.parametrize("option", ["diff", "force", "skip_flush"])
def test_options_are_flags(together, option):
    refused = together["paris"].post("sys/replication/reindex", {option: "perhaps"})
    assert refused.status == 400
    assert "reindex_in_progress" not in together.status("paris")
    assert together["paris"].post("sys/replication/reindex", {option: "true"}).warnings
