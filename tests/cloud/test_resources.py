"""Resources: paths below the compute API, and no secret in a repr."""

from __future__ import annotations

from labkit.cloud.resources import ClientSecret, ManagedIdentity, ResourceGroup, ScaleSet, VirtualMachine


def test_a_resource_says_its_path() -> None:
    group = ResourceGroup("web", "s-1")
    parts = (
        VirtualMachine("a", group, "west", "id", "10.0.0.1"),
        ScaleSet("b", group, "west"),
        ManagedIdentity("c", group, "west", "p", "q"),
    )

    assert [part.resource_id.removeprefix(group.resource_id) for part in parts] == [
        "/providers/Microsoft.Compute/virtualMachines/a",
        "/providers/Microsoft.Compute/virtualMachineScaleSets/b",
        "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/c",
    ]
    assert group.resource_id == "/subscriptions/s-1/resourceGroups/web"


def test_a_secret_is_moved_with_all_its_times() -> None:
    assert ClientSecret("id", "name", "text", 1, 3, 2).moved(10) == ClientSecret("id", "name", "text", 11, 13, 12)


def test_a_secret_does_not_show_its_text() -> None:
    assert repr(ClientSecret("k", "name", "canary", 0, 1, 0)) == "ClientSecret(k)"
