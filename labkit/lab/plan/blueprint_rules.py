"""Blueprint rules: what a blueprint made in Python must be, judged before anything is built of it.

Scenario files are judged where they are written; these are the values that would end a run, or never let it end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from labkit.lab.plan.blueprint import (
    BalancerPlan,
    Blueprint,
    ClientPlan,
    ClusterPlan,
    LinkPlan,
    NodeSettings,
    WorkloadPlan,
)
from labkit.lab.plan.workload_operations import (
    APPROLE,
    CLOUD,
    ISSUING,
    LOGIN,
    NEEDED,
    OF_LOGIN,
    TAKING,
    USERPASS,
)
from labkit.lab.wire.addresses import CLOUD_HOST
from labkit.service.arguments import MAX_DRIFT, MAX_OFFSET_NS, flag, kept_text, one_of, whole_number, wrong

MILLION = 1_000_000
MAX_DRIFT_PPM = MAX_DRIFT * 10_000
AT_LEAST_NOTHING, AT_LEAST_ONE = "a whole number from 0 up", "a whole number from 1 up"
SHARE = f"parts per million, from 0 to {MILLION}"


class _Known(NamedTuple):
    """The names that plans may use, in the order of the blueprint; there may be many, each looked up by many plans."""

    sites: dict[str, None]
    clusters: dict[str, None]
    balancers: dict[str, None]


def judge(blueprint: Blueprint, operations: Collection[str], distributions: Collection[str]) -> None:
    """Return if a lab can be built of a blueprint; ValueError says what is wrong with it, by the name of the plan."""
    known = _Known(
        dict.fromkeys(blueprint.sites),
        dict.fromkeys([plan.name for plan in blueprint.clusters]),
        dict.fromkeys([plan.name for plan in blueprint.balancers]),
    )
    for link in blueprint.links:
        _judge_link(link, known, distributions)
    for plan in blueprint.clusters:
        _judge_cluster(plan, known)
    for balancer in blueprint.balancers:
        _judge_balancer(balancer, known)
    for group in blueprint.clients:
        _judge_clients(group, blueprint, known, operations)
    if blueprint.cloud is not None:
        one_of("cloud, site", "a site", blueprint.cloud.site, known.sites)
    _judge_names(blueprint)


def _judge_link(link: LinkPlan, known: _Known, distributions: Collection[str]) -> None:
    what = f"link {'-'.join(map(str, link.between))}"
    for site in link.between:
        one_of(what, "a site", site, known.sites)
    one_of(f"{what}, distribution", "a distribution", link.distribution, distributions)
    _judge_times(what, link, ("latency_ns", "back_ns", "jitter_ns"))
    _judge_shares(what, link, ("loss_ppm",))
    whole_number(f"{what}, bandwidth_bps", AT_LEAST_NOTHING, link.bandwidth_bps, 0)


def _judge_cluster(plan: ClusterPlan, known: _Known) -> None:
    what = kept_text("cluster", "a name", plan.name)
    one_of(f"{what}, site", "a site", plan.site, known.sites)
    whole_number(f"{what}, nodes", AT_LEAST_ONE, plan.nodes, 1)
    _judge_times(what, plan, ("service_ns",))
    flag(f"{what}, fencing", plan.fencing)
    nodes = dict.fromkeys(plan.node_names if plan.each else ())
    for own in plan.each:
        _judge_node(what, own, nodes)


def _judge_node(cluster: str, own: NodeSettings, names: dict[str, None]) -> None:
    what = one_of(f"{cluster}, each", f"a node of {cluster}", own.name, names)
    if own.service_ns is not None:
        _judge_times(what, own, ("service_ns",))
    _judge_between(f"{what}, offset_ns", own.offset_ns, MAX_OFFSET_NS)
    _judge_between(f"{what}, drift_ppm", own.drift_ppm, MAX_DRIFT_PPM)


def _judge_balancer(plan: BalancerPlan, known: _Known) -> None:
    what = kept_text("load balancer", "a name", plan.name)
    one_of(f"{what}, site", "a site", plan.site, known.sites)
    _judge_use(what, plan.use, known.clusters)
    whole_number(f"{what}, check_ns", AT_LEAST_ONE, plan.check_ns, 1)
    whole_number(f"{what}, fall", AT_LEAST_ONE, plan.fall, 1)
    flag(f"{what}, ends_tls", plan.ends_tls)


def _judge_clients(group: ClientPlan, blueprint: Blueprint, known: _Known, operations: Collection[str]) -> None:
    what = kept_text("clients", "a name", group.name)
    one_of(f"{what}, site", "a site", group.site, known.sites)
    _judge_use(what, group.use, known.clusters)
    whole_number(f"{what}, count", AT_LEAST_ONE, group.count, 1)
    whole_number(f"{what}, timeout_ns", AT_LEAST_ONE, group.timeout_ns, 1)
    whole_number(f"{what}, fall", AT_LEAST_ONE, group.fall, 1)
    whole_number(f"{what}, retries", AT_LEAST_NOTHING, group.retries, 0)
    whole_number(f"{what}, backoff_ns", AT_LEAST_ONE, group.backoff_ns, 1)
    _judge_times(what, group, ("max_backoff_ns", "check_ns"))
    _judge_shares(what, group, ("jitter_ppm", "budget_ppm"))
    flag(f"{what}, consistent", group.consistent)
    if group.through:
        one_of(f"{what}, through", "a load balancer", group.through, known.balancers)
    if group.share != "":
        kept_text(f"{what}, share", "a name under which its keys stand, or an empty text", group.share)
    for work in group.workload:
        _judge_work(what, work, blueprint, operations)
    named = [work.operation for work in group.workload]
    without = [name for name in named if name in TAKING]
    if without and not any(name in ISSUING for name in named):
        raise wrong(f"{what}, workload", f"{' or '.join(ISSUING)} beside {without[0]}, which takes their tokens", named)


def _judge_work(what: str, work: WorkloadPlan, blueprint: Blueprint, operations: Collection[str]) -> None:
    one_of(f"{what}, operation", "an operation", work.operation, operations)
    whole_number(f"{what}, every_ns", AT_LEAST_ONE, work.every_ns, 1)
    _judge_times(what, work, ("from_ns", "until_ns", "size_bytes", "keys", "ttl_ns", "uses"))
    flag(f"{what}, cas", work.cas)
    kept_text(f"{what}, role", "the name of a role", work.role)
    kept_text(f"{what}, machine", "the name of a machine of the cloud", work.machine)
    one_of(f"{what}, by", "a type of login", work.by, OF_LOGIN)
    _judge_login(what, work)
    if work.operation == LOGIN and work.by == CLOUD and blueprint.cloud is None:
        raise wrong(f"{what}, operation", "a blueprint with a cloud, from which machines log in", work.operation)


def _judge_login(what: str, work: WorkloadPlan) -> None:
    """Judge what a client logs in with; no value is shown."""
    needed = OF_LOGIN[work.by] if work.operation == LOGIN else ()
    for name in (*OF_LOGIN[APPROLE], *OF_LOGIN[USERPASS]):
        value = getattr(work, name)
        if not isinstance(value, str):
            raise wrong(f"{what}, {name}", "a text", type(value).__name__)
        if not value and name in needed and name in NEEDED:
            raise wrong(f"{what}, {name}", f"a text, to log in by {work.by}", value)


def _judge_names(blueprint: Blueprint) -> None:
    """Judge that no two hosts have one name; a cluster may have the name of its site."""
    hosts = [host for plan in blueprint.clusters for host in (*plan.node_names, plan.operator_host)]
    hosts += [plan.name for plan in blueprint.balancers]
    hosts += [name for group in blueprint.clients for name in group.names]
    hosts += [CLOUD_HOST] if blueprint.cloud is not None else []
    known: dict[str, None] = {}
    for host in hosts:
        if host in known:
            raise wrong("blueprint", "a name of its own for each host", host)
        known[host] = None


def _judge_use(what: str, use: Any, clusters: dict[str, None]) -> None:
    if not isinstance(use, tuple) or not use:
        raise wrong(f"{what}, use", "a tuple of clusters", use, clusters)
    for cluster in use:
        one_of(f"{what}, use", "a cluster", cluster, clusters)


def _judge_times(what: str, plan: Any, names: Iterable[str]) -> None:
    for name in names:
        whole_number(f"{what}, {name}", AT_LEAST_NOTHING, getattr(plan, name), 0)


def _judge_shares(what: str, plan: Any, names: Iterable[str]) -> None:
    for name in names:
        whole_number(f"{what}, {name}", SHARE, getattr(plan, name), 0, MILLION)


def _judge_between(name: str, value: Any, most: int) -> None:
    whole_number(name, f"a whole number from -{most} to {most}", value, -most, most)
