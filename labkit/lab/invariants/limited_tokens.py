"""Limited tokens: a token that is over opens nothing: not after its time, nor once its uses are spent (R18).

1. What a token may do is known from the answer that issued it last, for an id may be chosen: how long it lasts, and how
   often it may be used.  The answer that renews it says how long from then on; an end that is earlier than before
   counts at the cluster that gave it, until that follows another or is promoted: a promotion elsewhere may have lost
   it.  A renewal whose answer is wrapped says nothing: until the next it is not known when that token ends.  Of tokens
   only digests are kept.
2. Time is that of the clock of the node that answers.
3. Uses are counted by the answers of one cluster, from when it was promoted last: those that a promotion lost are
   there again.
4. A secondary spends no uses (decision C15): what it answers is not counted.
5. The token of a wrapped answer is one of one use, which unwrapping spends, whoever sends it.
6. A token is judged where its history is held: clusters that do not replicate may both issue one id, and of that only
   the last is known.
7. A call that is open to all ignores any token, and so does what a standby answers itself: neither is judged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from labkit.lab.invariants.rules import TOKEN_OVER
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.wire.reports import ModeChanged, RequestAnswered, Wiped
from labkit.service.durations import SECOND_NS
from labkit.service.message import Body, Request
from labkit.service.request_path import split_path
from labkit.vault.mounts import ResolvedRoute
from labkit.vault.token_record import digest_of
from labkit.vault.vault_node import VaultNode

TOKEN, BEARER = "x-vault-token", "authorization"
UNWRAP = "sys/wrapping/unwrap"
OPEN, STANDBY, UNWRAPS = "unauthenticated", "on_standby", "invalid_token_is_400"
"""Flags of routes: no token is asked; a standby asks for none; the token may be that of a wrapped answer."""
RENEWS = re.compile(r"(^|/)auth/token/renew(-self|-accessor)?/?$")
MAX_KEPT, MAX_ENDLESS = 4_096, 64
"""How many tokens with limits are kept, the newest, and how many without are known at a time."""


class Limits(NamedTuple):
    """Until when a token lasts (0: without end), how often it may be used (0: without end), and its accessor.

    ``history`` is the one of the cluster that issued it (-1: not known, as in files of earlier versions).
    """

    until_ns: int
    uses: int
    accessor: str
    history: int = -1


class LimitedTokens(StandingRule):
    """The limits of each token that was issued with any, and how often each cluster let it in.

    ``_shortened`` is until when a token lasts by a renewal that ended it earlier, at the cluster that renewed it.
    """

    __slots__ = ("_endless", "_histories", "_limits", "_shortened", "_used")

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._histories = scene.queries.parts.ledger.histories
        self._limits: dict[str, Limits] = {digest: Limits(*row) for digest, row in state.get("limits", ())}
        self._used: dict[str, dict[str, int]] = {name: dict(rows) for name, rows in state.get("used", ())}
        self._shortened: dict[str, dict[str, int]] = {name: dict(rows) for name, rows in state.get("shortened", ())}
        self._endless: dict[str, None] = {}  # tokens that have no limits, as they were sent last; no state

    @property
    def judgements(self) -> Judgements:
        """Answers, and what begins the count of uses again."""
        return {RequestAnswered: self.on_answered, ModeChanged: self.on_changed, Wiped: self.on_changed}

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values."""
        # Those of a file of earlier versions are as they stand there.
        limits = tuple(
            [(digest, tuple(row) if row.history >= 0 else tuple(row)[:-1]) for digest, row in self._limits.items()]
        )
        used = tuple([(name, tuple(rows.items())) for name, rows in self._used.items()])
        kept = {"occurred": self.judged, "limits": limits, "used": used}
        if self._shortened:  # none in files of earlier versions
            kept["shortened"] = tuple([(name, tuple(rows.items())) for name, rows in self._shortened.items()])
        return kept

    def on_changed(self, report: ModeChanged | Wiped) -> None:
        """What a cluster that follows another, or leads again, counted or ended earlier is not what it holds."""
        if isinstance(report, Wiped) or report.mode != "disabled":
            self._used.pop(report.cluster, None)
            self._shortened.pop(report.cluster, None)

    def on_answered(self, report: RequestAnswered) -> None:
        """Judge by which token something was carried out; note one that was issued or renewed."""
        _, node, request, (status, _, body, _), _ = report
        if self._limits and 200 <= status < 300:
            _, path, headers, _, _ = request
            if headers.get("X-Vault-Token", "") not in self._endless or "sys/" in path:
                self._judge(report)
        if type(body) is dict and (body.get("auth") or body.get("wrap_info")):
            self._note(report, self._scene.queries.parts.nodes[node].core.now(), body)

    def _judge(self, report: RequestAnswered) -> None:
        vault, request = self._scene.queries.parts.nodes[report.node].vault, report.request
        route = vault.route_of(request) if request.path.rstrip("/").endswith(UNWRAP) else None
        text = _token_of(request, unwraps=route is not None and UNWRAPS in route.flags)
        digest = digest_of(text) if text else ""
        limits = self._limits.get(digest)
        if limits is None:
            if len(self._endless) >= MAX_ENDLESS:
                self._endless.clear()
            self._endless[text] = None
            return
        if not self._is_held(report.cluster, limits) or not _asks_for_token(route or vault.route_of(request), vault):
            return
        self.judged += 1
        now_ns = vault.now()
        what = f"{report.node} of {report.cluster} carried a request out with a token"
        until_ns = self._shortened.get(report.cluster, {}).get(digest, limits.until_ns)
        if until_ns and now_ns >= until_ns:
            over = (now_ns - until_ns) / SECOND_NS
            self._scene.found(TOKEN_OVER, f"{what} that was over for {over:.3f} s")
        if limits.uses and self._scene.queries.mode_of(report.cluster) != "secondary":
            used = self._used.setdefault(report.cluster, {})
            used[digest] = used.get(digest, 0) + 1
            if used[digest] > limits.uses:
                self._scene.found(TOKEN_OVER, f"{what} of {limits.uses} uses, {used[digest]} times")

    def _note(self, report: RequestAnswered, now_ns: int, body: Body) -> None:
        wrapped, auth = body.get("wrap_info"), body.get("auth")
        if isinstance(wrapped, dict):
            until_ns = now_ns + wrapped["ttl"] * SECOND_NS
            history = self._histories.current.get(report.cluster, -1)
            self._keep(digest_of(wrapped["token"]), Limits(until_ns, 1, wrapped["accessor"], history))
            if _renews(report.request.path):
                self._last_unseen(self._renewed(report.request))
            return
        if not isinstance(auth, dict):
            return
        text, accessor, lasts_s = auth.get("client_token"), auth["accessor"], auth["lease_duration"]
        until_ns = now_ns + lasts_s * SECOND_NS if lasts_s else 0
        digest = digest_of(text) if text else self._of_accessor(accessor)
        if not _renews(report.request.path):
            self._forget(digest)  # an id that was chosen may come again
        known = self._limits.get(digest)
        if known is not None and until_ns and (not known.until_ns or until_ns < known.until_ns):
            self._shortened.setdefault(report.cluster, {})[digest] = until_ns
            return
        uses = auth.get("num_uses", 0) if known is None else known.uses
        history = self._histories.current.get(report.cluster, -1) if known is None else known.history
        if digest and (until_ns or uses):
            self._shortened.get(report.cluster, {}).pop(digest, None)
            self._keep(digest, Limits(until_ns, uses, accessor, history))

    def _renewed(self, request: Request) -> str:
        """Return the digest of the token that a call renews; empty where its accessor is not known."""
        body, path = request.body, split_path(request.path)[0].rstrip("/")
        if path.endswith("-accessor"):
            return self._of_accessor(str(body.get("accessor"))) if isinstance(body, dict) else ""
        return digest_of(_token_of(request, unwraps=not path.endswith("-self")))

    def _last_unseen(self, digest: str) -> None:
        """How long a token lasts is not known from now on."""
        known = self._limits.get(digest)
        if known is not None:
            self._limits[digest] = known._replace(until_ns=0)
            for rows in self._shortened.values():
                rows.pop(digest, None)

    def _is_held(self, cluster: str, limits: Limits) -> bool:
        """Whether a cluster may have a token from where it was issued; else it is another of the same id."""
        return limits.history < 0 or self._histories.holds_any(cluster, limits.history)

    def _keep(self, digest: str, limits: Limits) -> None:
        self._endless.clear()
        self._limits[digest] = limits
        if len(self._limits) > MAX_KEPT:
            self._forget(next(iter(self._limits)))

    def _forget(self, digest: str) -> None:
        self._limits.pop(digest, None)
        for rows in (*self._used.values(), *self._shortened.values()):
            rows.pop(digest, None)

    def _of_accessor(self, accessor: str) -> str:
        return next((digest for digest, row in self._limits.items() if row.accessor == accessor), "")


def _asks_for_token(route: ResolvedRoute | None, vault: VaultNode) -> bool:
    """Whether a call is let in by its token: not one that is open to all, nor what a standby answers itself."""
    flags = frozenset() if route is None else route.flags
    return OPEN not in flags and (STANDBY not in flags or vault.core.leadership.active)


def _renews(path: str) -> bool:
    """Whether a call renews a token, and issues none."""
    return bool(RENEWS.search(split_path(path)[0]))


def _token_of(request: Request, *, unwraps: bool) -> str:
    """Return the token that a request spends: that which it unwraps, else that of its headers."""
    body = request.body
    if unwraps and isinstance(body, dict) and body.get("token"):
        return str(body["token"])
    sent = {str(name).lower(): value for name, value in request.headers.items()}
    scheme, _, bearer = str(sent.get(BEARER, "")).partition(" ")
    text = sent.get(TOKEN) or (bearer.strip() if scheme.lower() == "bearer" else "")
    return text if isinstance(text, str) and text.isascii() else ""
