"""Turns of a workload, for tests that want the request of one."""

from __future__ import annotations

from labkit.lab.hosts.client_memory import ClientMemory, ClientToken
from labkit.lab.hosts.workload_requests import Turn, build_request
from labkit.lab.plan.blueprint import WorkloadPlan
from labkit.service.message import Request


def asked(client: str, work: WorkloadPlan, number: int, token: str, *, keys_of: str = "") -> Request:
    """The request of a client's turn; it holds a token already, and a machine's."""
    memory = ClientMemory({"tokens": (ClientToken("hvs.held"),)})
    turn = Turn(client, keys_of or client, work, number, token, memory, lambda machine: {"jwt": f"of {machine}"})
    request = build_request(turn)
    assert request is not None
    return request
