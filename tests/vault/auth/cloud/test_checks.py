"""The checks of a login: they are made in their order, and say of themselves nothing that they judged."""

from __future__ import annotations

from labkit.service.cloud_environments import ENVIRONMENTS
from labkit.vault.auth.cloud.checks import ROLE_CHECKS, TOKEN_CHECKS, Presented
from labkit.vault.auth.cloud.machine import MachinePlace
from labkit.vault.auth.cloud.role_record import CloudRole
from labkit.vault.auth.cloud.settings import CloudSettings, RetryPolicy

SETTINGS = CloudSettings("t", "r", ENVIRONMENTS["CloudPublicCloud"], "", "", RetryPolicy(0, 0, 0))
PLACE = MachinePlace("11111111-0000-4000-8000-000000000001", "rg", "vm_name", "a")


def test_the_least_that_passes_them_all() -> None:
    claims = {"iss": "i", "aud": "r", "exp": 10, "tid": "T", "oid": "o"}
    presented = Presented(claims, "i", SETTINGS, PLACE, 0, 0, CloudRole(bound_service_principal_ids=("O",)))
    for check in (*TOKEN_CHECKS, *ROLE_CHECKS):
        check(presented)

    assert repr(presented) == "Presented(vm_name)"


def test_who_somebody_is_is_judged_before_where_and_each_check_says_what_it_is() -> None:
    names = [check.__name__ for check in (*TOKEN_CHECKS, *ROLE_CHECKS)]

    assert names[0] == "check_required"
    assert names[-1] == "check_claimed_machine"
    assert names.index("check_kind") < names.index("check_service_principal") < names.index("check_subscription")
    assert all(check.__doc__ for check in (*TOKEN_CHECKS, *ROLE_CHECKS))
    assert TOKEN_CHECKS[-1].__name__ == "check_kind", "who passes the first ones holds a valid token"
