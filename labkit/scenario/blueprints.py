"""Blueprints: the lab section of a scenario file as the blueprint that a lab is built from."""

from __future__ import annotations

from labkit.lab.plan.blueprint import (
    BalancerPlan,
    Blueprint,
    ClientPlan,
    CloudPlan,
    ClusterPlan,
    LinkPlan,
    NodeSettings,
    WorkloadPlan,
)
from labkit.scenario.client_parts import ClientsPart, WorkPart, shared_keys
from labkit.scenario.file_parts import BalancerPart, ClusterPart, LabPart, LinkPart, NodePart


def blueprint_of(lab: LabPart) -> Blueprint:
    """Turn the lab section into a blueprint."""
    return Blueprint(
        sites=tuple(lab.sites),
        links=tuple(map(_link_plan, lab.links)),
        clusters=tuple([_cluster_plan(name, cluster) for name, cluster in lab.clusters.items()]),
        balancers=tuple([_balancer_plan(name, balancer) for name, balancer in lab.balancers.items()]),
        cloud=None if lab.cloud is None else CloudPlan(site=lab.cloud.site),
        clients=tuple([_client_plan(name, group) for name, group in lab.clients.items()]),
    )


def _link_plan(link: LinkPart) -> LinkPlan:
    return LinkPlan(
        between=(link.between[0], link.between[1]),
        latency_ns=link.latency_ns,
        back_ns=link.back or 0,
        jitter_ns=link.jitter,
        loss_ppm=link.loss,
        bandwidth_bps=link.bandwidth,
        distribution=link.distribution,
    )


def _cluster_plan(name: str, cluster: ClusterPart) -> ClusterPlan:
    return ClusterPlan(
        name=name,
        site=cluster.site,
        nodes=cluster.nodes,
        shares=cluster.shares,
        threshold=cluster.threshold,
        version=cluster.version,
        backlog_entries=cluster.backlog,
        service_ns=cluster.service_time,
        fencing=cluster.fencing,
        each=tuple([_node_settings(node, own) for node, own in cluster.each.items()]),
    )


def _balancer_plan(name: str, balancer: BalancerPart) -> BalancerPlan:
    return BalancerPlan(
        name=name,
        site=balancer.site,
        use=tuple(balancer.use),
        check_ns=balancer.check,
        fall=balancer.fall,
        ends_tls=balancer.ends_tls,
    )


def _client_plan(name: str, group: ClientsPart) -> ClientPlan:
    return ClientPlan(
        name=name,
        site=group.site,
        use=tuple(group.use),
        count=group.count,
        timeout_ns=group.timeout,
        retries=group.retries,
        backoff_ns=group.backoff,
        max_backoff_ns=group.backoff_limit or 0,
        jitter_ppm=group.jitter,
        budget_ppm=group.retry_budget,
        check_ns=group.health_check or 0,
        fall=group.fall,
        consistent=group.consistent,
        through=group.through or "",
        share=shared_keys(name, group),
        workload=tuple(map(_workload_plan, group.work)),
    )


def _workload_plan(work: WorkPart) -> WorkloadPlan:
    return WorkloadPlan(
        operation=work.do,
        every_ns=work.every,
        from_ns=work.from_,
        until_ns=work.until or 0,
        size_bytes=work.size,
        keys=work.keys,
        cas=work.cas,
        ttl_ns=work.ttl or 0,
        uses=work.uses or 0,
        role=work.role or WorkloadPlan.role,
        machine=work.machine or WorkloadPlan.machine,
        by=work.by or WorkloadPlan.by,
        role_id=work.role_id or "",
        secret_id=work.secret_id or "",
        user=work.user or "",
        password=work.password or "",
    )


def _node_settings(name: str, own: NodePart) -> NodeSettings:
    return NodeSettings(
        name=name, version=own.version, service_ns=own.service_time, offset_ns=own.clock, drift_ppm=own.drift
    )
