"""Python examples: a line for each public name of what users hold; the pages show them, completion offers the names.

1. ``lab`` is a pair whose cluster paris replicates to tokyo; ``cluster`` is its paris, ``secondary`` its
   tokyo, ``vault`` is one for development, ``cloud`` its cloud; ``ledger``, ``measures``, ``picture`` are the lab's.
2. A test runs each line by itself, in a folder that is empty, and compares a value that stands as a comment beside it.
"""

from __future__ import annotations

LAB = {
    "pair": "Lab.pair(seed=7)",
    "triangle": "Lab.triangle(seed=7)",
    "load": 'Lab.load("drill.lab.yaml").run()',
    "open": 'lab.save("before.lab"); Lab.open("before.lab").now == lab.now  # True',
    "save": 'lab.save("before.lab")',
    "snapshot": "saved = lab.snapshot()",
    "restore": "Lab.restore(lab.snapshot())",
    "branch": 'what_if = lab.branch("what-if"); what_if.crash("paris")',
    "seed": "lab.seed  # 7",
    "blueprint": "lab.blueprint.clusters[0].name  # 'paris'",
    "now": "lab.now",
    "run": 'lab.run("10s")',
    "step": "lab.step()  # True",
    "at": 'lab.keep_checkpoints("1s"); lab.run("5s"); lab.at("4s").now  # 4000000000',
    "keep_checkpoints": 'lab.keep_checkpoints("1s")',
    "keep_pictures": "lab.keep_pictures()",
    "clusters": "list(lab.clusters)  # ['paris', 'tokyo']",
    "clients": "list(lab.clients)  # []",
    "cloud": "lab.cloud.vm(\"web-1\").name  # 'web-1'",
    "network": "lab.network.delivered > 0  # True",
    "replicate": 'fresh = Lab.pair(seed=7); fresh.replicate("paris", "tokyo")',
    "failover": 'lab.failover("paris", "tokyo")',
    "work_through": 'lab.work_through("demote", cluster="paris")',
    "lag": 'lab.lag("paris", "tokyo").entries  # 0',
    "seal": 'lab.seal("paris")',
    "unseal": 'lab.seal("paris"); lab.unseal("paris")',
    "crash": 'lab.crash("paris-1")',
    "restart": 'lab.crash("paris-1"); lab.restart("paris-1")',
    "pause": 'lab.pause("paris-1")',
    "resume": 'lab.pause("paris-1"); lab.resume("paris-1")',
    "crash_in_commit": 'lab.crash_in_commit("paris")',
    "crash_site": 'lab.crash_site("paris")',
    "restart_site": 'lab.crash_site("paris"); lab.restart_site("paris")',
    "partition": 'lab.partition("paris", "tokyo")',
    "cut": 'lab.cut("paris", "tokyo")',
    "isolate": 'lab.isolate("tokyo")',
    "heal": 'lab.partition("paris", "tokyo"); lab.heal()',
    "flap": 'lab.flap("paris", "tokyo", up="2s", down="1s")',
    "steady": 'lab.flap("paris", "tokyo", up="2s", down="1s"); lab.steady()',
    "slow": 'lab.slow("paris", "tokyo", factor=10)',
    "lose": 'lab.lose("paris", "tokyo", percent=5)',
    "duplicate": 'lab.duplicate("paris", "tokyo", percent=5)',
    "restore_links": 'lab.slow("paris", "tokyo", factor=10); lab.restore_links()',
    "skew": 'lab.skew("paris-1", by="90s")',
    "correct": 'lab.skew("paris-1", by="90s"); lab.correct("paris-1")',
    "impersonate": 'lab.impersonate("paris-1")',
    "expose": 'lab.impersonate("paris-1"); lab.expose("paris-1")',
    "corrupt": 'lab.corrupt("tokyo", layer="page")',
    "stray_write": 'lab.stray_write("tokyo")',
    "cloud_outage": 'lab.cloud_outage("keys")',
    "cloud_recover": 'lab.cloud_outage("keys"); lab.cloud_recover("keys")',
    "cloud_slow": 'lab.cloud_slow("2s", "keys")',
    "cloud_restore": 'lab.cloud_slow("2s", "keys"); lab.cloud_restore("keys")',
    "roll_keys": "lab.roll_keys()",
    "ledger": "lab.ledger.in_doubt  # 0",
    "measures": "lab.measures.bytes()",
    "trace": "len(lab.trace) > 0  # True",
    "invariants": "lab.invariants.verdicts()",
    "watch": 'lab.watch("level", {"lag": {"at most": 200}})',
    "why": 'cluster.post("secret/data/app", {"data": {}}); lab.crash("paris"); secondary.promote(); lab.why("lost")',
    "compare": 'other = lab.branch("other"); other.crash("paris"); lab.compare(other)',
    "diff": 'lab.diff("paris", "tokyo")',
    "map": "lab.map()",
    "timeline": "lab.timeline()",
    "play": 'lab.play().save("run.html")',
    "dashboard": "lab.dashboard()",
    "serve": 'with lab.serve() as urls: print(urls["paris"])',
    "scenario": "lab.scenario  # None",
    "faults": "lab.faults",
    "queries": "lab.queries",
    "parts": "lab.parts",
}

REQUESTS = {
    "get": '{0}.get("secret/data/none").status  # 404',
    "post": '{0}.post("secret/data/app", {{"data": {{"user": "ada"}}}}).data["version"]  # 1',
    "put": '{0}.put("secret/data/app", {{"data": {{"user": "ada"}}}}).ok  # True',
    "patch": '{0}.put("secret/data/a", {{"data": {{}}}}); {0}.patch("secret/data/a", {{"data": {{}}}}).ok  # True',
    "delete": '{0}.delete("secret/data/app").status  # 204',
    "list": "{0}.list(\"sys/policies/acl\").data[\"keys\"]  # ['default', 'root']",
    "request": '{0}.request("GET", "/v1/sys/health", headers={{}}).status  # 200',
    "root_token": '{0}.get("auth/token/lookup-self", token={0}.root_token).ok  # True',
    "unseal_keys": "len({0}.unseal_keys)  # 5",
}


def _requests_to(name: str) -> dict[str, str]:
    return {method: text.format(name) for method, text in REQUESTS.items()}


CLUSTER = {
    **_requests_to("cluster"),
    "name": "cluster.name  # 'paris'",
    "plan": "len(cluster.plan.node_names)  # 3",
    "nodes": "cluster.nodes  # ('paris-1', 'paris-2', 'paris-3')",
    "active": "cluster.active  # 'paris-1'",
    "mode": "cluster.mode  # 'primary'",
    "status": "cluster.status()[\"mode\"]  # 'primary'",
    "root": "cluster.root == secondary.root  # True",
    "merkle": "secondary.merkle()",
    "merkle_check": "cluster.merkle_check()",
    "reindex": "cluster.reindex()",
    "seal": "cluster.seal()",
    "unseal": "cluster.seal(); cluster.unseal()",
    "rekey": "cluster.rekey()",
    "use_unseal_keys": "cluster.use_unseal_keys(cluster.unseal_keys)",
    "enable_primary": 'Lab.pair(seed=7)["paris"].enable_primary()',
    "enable_secondary": (
        'fresh = Lab.pair(seed=7); fresh["paris"].enable_primary(); fresh["tokyo"].enable_secondary("paris")'
    ),
    "promote": 'lab.crash("paris"); secondary.promote()',
    "demote": "cluster.demote()",
    "disable": "secondary.disable()",
    "repoint": 'cluster.demote(); secondary.promote(); cluster.repoint("tokyo")',
    "operation_token": "secondary.operation_token()",
    "files": "cluster.files",
    "cloud": "cluster.cloud.vm(\"web-1\").name  # 'web-1'",
    "cache_counts": "cluster.cache_counts  # ()",
}

VAULT = {
    "dev": "Vault.dev(seed=7)",
    "open": 'kept = Vault.open("lab.db"); kept.close()',
    **_requests_to("vault"),
    "serve": "with vault.serve() as url: print(url)",
    "cloud": 'vault.cloud.vm("web-1").login(vault, role="web").status  # 400',
    "keystore": "vault.keystore",
    "advance": 'vault.advance("2h")',
    "now": "vault.now()",
    "calls": "vault.get(\"sys/health\"); vault.calls[-1].path  # 'sys/health'",
    "reset": "vault.reset()",
    "keep_for_reset": 'vault.post("secret/data/app", {"data": {}}); vault.keep_for_reset(); vault.reset()',
    "branch": 'vault.branch("other").get("sys/health").ok  # True',
    "fail_next": 'vault.fail_next(503, path="secret/*"); vault.get("secret/data/app").status  # 503',
    "answer_next": 'vault.answer_next(200, {"data": {"user": "ada"}}, path="database/creds/app")',
    "delay_next": 'vault.delay_next("2s", path="secret/*")',
    "drop_next": 'vault.drop_next(when="after", path="secret/*")',
    "before_next": 'vault.before_next(lambda: vault.delete("secret/data/app"), path="secret/data/app")',
    "aims": "vault.fail_next(503); len(vault.aims)  # 1",
    "unfired": "vault.fail_next(503); len(vault.unfired)  # 1",
    "expect": 'with vault.expect(["GET sys/health"]): vault.get("sys/health")',
    "sealed": "vault.sealed  # False",
    "unseal_with": 'vault.post("sys/seal"); vault.unseal_with(vault.unseal_keys[:3])',
    "files": "vault.files",
    "cache_counts": "vault.cache_counts  # ()",
    "close": "vault.close()",
}

CLOUD = {
    "dev": "Cloud.dev()",
    "vm": 'cloud.vm("web-1").token()',
    "mint": 'cloud.mint("web-1", claims={"exp": 1})',
    "jwks": "list(cloud.jwks())  # ['keys']",
    "config": 'vault.post("auth/cloud/config", cloud.config).ok  # True',
    "inventory": "list(cloud.inventory.machines)",
    "request": 'cloud.request("GET", "https://none.example/").status  # 404',
    "serve": "with cloud.serve() as url: print(url)",
    "outage": 'cloud.outage("keys")',
    "recover": 'cloud.outage("keys"); cloud.recover("keys")',
    "slow": 'cloud.slow("2s", "keys")',
    "restore": 'cloud.slow("2s", "keys"); cloud.restore("keys")',
    "fail_next": 'cloud.fail_next("keys", 503)',
    "throttle": 'cloud.throttle("keys", per_second=1, burst=2)',
    "unthrottle": 'cloud.throttle("keys", per_second=1, burst=2); cloud.unthrottle("keys")',
    "roll_keys": "cloud.roll_keys()",
    "revoke_key": "cloud.revoke_key()",
    "use_unpublished_key": "cloud.use_unpublished_key()",
    "publish_key": "cloud.use_unpublished_key(); cloud.publish_key()",
    "hold_key_set": "cloud.hold_key_set()",
    "release_key_set": "cloud.hold_key_set(); cloud.release_key_set()",
    "set_clock_ahead": 'cloud.set_clock_ahead("90s")',
    "spread_secrets": 'cloud.spread_secrets("5s")',
    "own_environment": "cloud.own_environment",
}

LEDGER = {
    "rpo": "ledger.rpo().writes  # 0",
    "rto": 'lab.failover("paris", "tokyo"); ledger.rto().seconds',
    "lost": "ledger.lost()  # []",
    "promotions": "len(ledger.promotions)  # 0",
    "operations": 'cluster.post("secret/data/app", {"data": {}}); len(ledger.operations) > 0  # True',
    "answered": 'cluster.post("secret/data/app", {"data": {}}); ledger.answered > 0  # True',
    "refused": "ledger.refused  # 0",
    "in_doubt": "ledger.in_doubt  # 0",
    "writes": 'cluster.post("secret/data/app", {"data": {}}); len(ledger.writes)  # 1',
}

MEASURES = {
    "bytes": "measures.bytes().to_frame()",
    "lag": 'measures.lag(every="1s").to_frame()',
    "stale_reads": "measures.stale_reads()",
    "states": "measures.states()",
    "survivors": 'lab.failover("paris", "tokyo"); measures.survivors()',
}

PICTURE = {
    "title": "picture.title",
    "description": "picture.description",
    "svg": 'picture.svg.startswith("<svg")  # True',
    "figure": "picture.figure",
    "width": "picture.width > 0  # True",
    "height": "picture.height > 0  # True",
    "to_frame": "picture.to_frame()",
    "save": 'picture.save("map.svg")',
}

EXAMPLES = {
    "Lab": LAB,
    "Cluster": CLUSTER,
    "Vault": VAULT,
    "Cloud": CLOUD,
    "Ledger": LEDGER,
    "Measures": MEASURES,
    "Picture": PICTURE,
}
"""{a class, as users call it: {public name: a line that shows it}}."""

ON_PAGE = {"lab": ("Lab", "Cluster", "Ledger", "Measures", "Picture"), "vault": ("Vault", "Cloud")}
"""{page of ``labkit help``: the classes whose names it lists}."""
