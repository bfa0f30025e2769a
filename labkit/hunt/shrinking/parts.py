"""Parts: fewer clusters, clients, nodes, links and settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Data = dict[str, Any]
Edit = Callable[[Data], bool]
NEEDED_OF_LINKS = ("between", "latency", "measured")
PLAIN = ("site", "use", "work")
"""What clients have in any case."""


def clients(data: Data) -> Iterator[Edit]:
    """Leave out all clients."""
    if "clients" in data["lab"]:
        yield lambda data: data["lab"].pop("clients", None) is not None


def parts(data: Data) -> Iterator[Edit]:
    """Leave out parts of the lab, first all that nothing names, then one by one."""
    lab = data["lab"]
    yield _bare
    yield _without_unnamed
    yield _plain_links
    yield _single_nodes
    yield _plain_clients
    if len(lab.get("clients", {})) > 1:
        for group in lab["clients"]:
            yield _only_clients(group)
    yield _without_options
    for name in lab["clusters"]:
        if len(lab["clusters"]) > 1 and not _is_all_that_replicates(data):
            yield _without_cluster(name)
    for site in lab["sites"]:
        yield _without_site(site)
    for group in lab.get("clients", {}):
        if len(lab["clients"]) > 1:  # else it is all clients
            yield _without_key(("lab", "clients"), group)
        for place in reversed(range(len(lab["clients"][group].get("work", [])))):
            yield _without_work(group, place)
        for key in [key for key in lab["clients"][group] if key not in PLAIN]:
            yield _without_key(("lab", "clients", group), key)
    for key in ("balancers", "cloud"):
        if key in lab:
            yield _without_key(("lab",), key)
    for name, plan in lab["clusters"].items():
        if plan.get("nodes") != 1:
            yield _with_value(("lab", "clusters", name), "nodes", 1)
        for key in [key for key in plan if key not in ("site", "nodes")]:
            yield _without_key(("lab", "clusters", name), key)
    for place, link in enumerate(lab["links"]):
        for key in [key for key in link if key not in NEEDED_OF_LINKS]:
            yield _without_key(("lab", "links", place), key)
    for key in ("always", "leads to"):
        for place in range(len(data.get(key, []))):
            yield _without_condition(key, place)


def _bare(data: Data) -> bool:
    """Leave out all that is not named: jitter and losses, backlogs, standbys, and unused sites and clusters."""
    return _without_unnamed(data) | _plain_links(data) | _single_nodes(data)


def _without_unnamed(data: Data) -> bool:
    """Leave out the clusters and sites that no step names."""
    named = {word for step in data["timeline"] for word in _words(step)}
    changed = False
    for name in list(data["lab"]["clusters"]):
        if not any(word == name or word.startswith(f"{name}-") for word in named) and len(data["lab"]["clusters"]) > 1:
            changed |= _without_cluster(name)(data)
    for site in list(data["lab"]["sites"]):
        changed |= _without_site(site)(data)
    return changed


def _plain_links(data: Data) -> bool:
    """Leave out what impairs links."""
    before, lab = data["lab"]["links"], data["lab"]
    lab["links"] = [{key: value for key, value in link.items() if key in NEEDED_OF_LINKS} for link in before]
    return bool(lab["links"] != before)


def _single_nodes(data: Data) -> bool:
    """Leave out standbys and the settings of clusters."""
    before, lab = data["lab"]["clusters"], data["lab"]
    lab["clusters"] = {name: {"site": plan["site"], "nodes": 1} for name, plan in before.items()}
    return bool(lab["clusters"] != before)


def _is_all_that_replicates(data: Data) -> bool:
    """Whether there are two clusters of which one replicates to the other: that step goes before either cluster."""
    return len(data["lab"]["clusters"]) == 2 and any(step["do"] == "replicate" for step in data["timeline"])


def _plain_clients(data: Data) -> bool:
    """Leave one group of clients, which does one kind of work, without options."""
    groups = list(data["lab"].get("clients", {}))
    changed = _without_options(data)
    for group in groups[:1]:
        changed |= _only_clients(group)(data)
        work = data["lab"]["clients"][group].get("work", [])
        changed |= len(work) > 1
        del work[1:]
    return changed


def _without_options(data: Data) -> bool:
    """Leave out what clients are beside their place, the clusters that they use, and their work."""
    before = data["lab"].get("clients", {})
    left = {name: {key: plan[key] for key in PLAIN if key in plan} for name, plan in before.items()}
    if left == before:
        return False
    data["lab"]["clients"] = left
    return True


def _only_clients(group: str) -> Edit:
    """Leave out all groups of clients but one."""

    def edit(data: Data) -> bool:
        groups = data["lab"].get("clients", {})
        if group not in groups or len(groups) < 2:
            return False
        data["lab"]["clients"] = {group: groups[group]}
        return True

    return edit


def _without_cluster(name: str) -> Edit:
    """Leave out a cluster, and the steps and clients that name it."""

    def edit(data: Data) -> bool:
        lab = data["lab"]
        if name not in lab["clusters"]:
            return False
        del lab["clusters"][name]
        data["timeline"] = [
            step
            for step in data["timeline"]
            if not any(word == name or word.startswith(f"{name}-") for word in _words(step))
        ]
        for key in ("clients", "balancers"):
            for group in lab.get(key, {}).values():
                group["use"] = [other for other in group["use"] if other != name] or list(lab["clusters"])
        return True

    return edit


def _without_site(site: str) -> Edit:
    """Leave out a site where nothing stands, and its links; clients that stand there go to the first cluster's."""

    def edit(data: Data) -> bool:
        lab = data["lab"]
        if site not in lab["sites"] or site in {plan["site"] for plan in lab["clusters"].values()}:
            return False
        first = next(iter(lab["clusters"].values()))["site"]
        for group in [*lab.get("clients", {}).values(), *lab.get("balancers", {}).values()]:
            group["site"] = first if group["site"] == site else group["site"]
        if lab.get("cloud", {}).get("site") == site:
            lab["cloud"]["site"] = first
        lab["sites"] = [other for other in lab["sites"] if other != site]
        lab["links"] = [link for link in lab["links"] if site not in link["between"]]
        data["timeline"] = [step for step in data["timeline"] if site not in _words(step)]
        return True

    return edit


def _without_work(group: str, place: int) -> Edit:
    def edit(data: Data) -> bool:
        work = data["lab"]["clients"][group]["work"]
        if len(work) < 2:
            return False
        del work[place]
        return True

    return edit


def _without_condition(key: str, place: int) -> Edit:
    def edit(data: Data) -> bool:
        del data[key][place]
        if not data[key]:
            del data[key]
        return True

    return edit


def _without_key(path: tuple[str | int, ...], key: str) -> Edit:
    def edit(data: Data) -> bool:
        _at(data, path).pop(key)
        return True

    return edit


def _with_value(path: tuple[str | int, ...], key: str, value: Any) -> Edit:
    def edit(data: Data) -> bool:
        _at(data, path)[key] = value
        return True

    return edit


def _at(data: Any, path: tuple[str | int, ...]) -> Data:
    for key in path:
        data = data[key]
    found: Data = data
    return found


def _words(step: Data) -> list[str]:
    """Return the names that a step has."""
    values = [value for key, value in step.items() if key in NAMING]
    return [word for value in values for word in (value if isinstance(value, list) else [value])]


NAMING = ("target", "between", "from", "to", "cluster", "primary", "secondary", "old", "new", "node")
"""The parameters of verbs that name clusters, nodes and sites."""
