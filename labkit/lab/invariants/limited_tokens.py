"""Limited tokens: a token that is over opens nothing: not after its time, nor once its uses are spent (R18).

1. What a token may do is known from the answer that issued it: how long it lasts, and how often it may be used.  The
   answer that renews it says how long from then on.  Of tokens only digests are kept.
2. Time is that of the clock of the node that answers.
3. Uses are counted by the answers of one cluster, from when it was promoted last: those that a promotion lost are
   there again.
4. A secondary spends no uses (decision C15): what it answers is not counted.
5. The token of a wrapped answer is one of one use, which unwrapping spends, whoever sends it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from labkit.lab.invariants.rules import TOKEN_OVER
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.wire.reports import ModeChanged, RequestAnswered, Wiped
from labkit.service.durations import SECOND_NS
from labkit.service.message import Body, Request
from labkit.vault.token_record import digest_of

TOKEN, BEARER = "x-vault-token", "authorization"
UNWRAP = "sys/wrapping/unwrap"
MAX_KEPT, MAX_ENDLESS = 4_096, 64
"""How many tokens with limits are kept, the newest, and how many without are known at a time."""


class Limits(NamedTuple):
    """Until when a token lasts (0: without end), how often it may be used (0: without end), and its accessor."""

    until_ns: int
    uses: int
    accessor: str


class LimitedTokens(StandingRule):
    """The limits of each token that was issued with any, and how often each cluster let it in."""

    __slots__ = ("_endless", "_limits", "_used")

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._limits: dict[str, Limits] = {digest: Limits(*row) for digest, row in state.get("limits", ())}
        self._used: dict[str, dict[str, int]] = {name: dict(rows) for name, rows in state.get("used", ())}
        self._endless: dict[str, None] = {}  # tokens that have no limits, as they were sent last; no state

    @property
    def judgements(self) -> Judgements:
        """Answers, and what begins the count of uses again."""
        return {RequestAnswered: self.on_answered, ModeChanged: self.on_changed, Wiped: self.on_changed}

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values."""
        limits = tuple([(digest, tuple(row)) for digest, row in self._limits.items()])
        used = tuple([(name, tuple(rows.items())) for name, rows in self._used.items()])
        return {"occurred": self.judged, "limits": limits, "used": used}

    def on_changed(self, report: ModeChanged | Wiped) -> None:
        """What a cluster that follows another, or leads again, counted is not what it holds."""
        if isinstance(report, Wiped) or report.mode != "disabled":
            self._used.pop(report.cluster, None)

    def on_answered(self, report: RequestAnswered) -> None:
        """Judge by which token something was carried out; note one that was issued or renewed."""
        _, node, request, (status, _, body, _), _ = report
        if self._limits and 200 <= status < 300:
            _, path, headers, _, _ = request
            if headers.get("X-Vault-Token", "") not in self._endless or "sys/" in path:
                self._judge(report)
        if type(body) is dict and (body.get("auth") or body.get("wrap_info")):
            self._note(self._scene.queries.parts.nodes[node].core.now(), body)

    def _judge(self, report: RequestAnswered) -> None:
        text = _token_of(report.request)
        digest = digest_of(text) if text else ""
        limits = self._limits.get(digest)
        if limits is None:
            if len(self._endless) >= MAX_ENDLESS:
                self._endless.clear()
            self._endless[text] = None
            return
        self.judged += 1
        now_ns = self._scene.queries.parts.nodes[report.node].core.now()
        what = f"{report.node} of {report.cluster} carried a request out with a token"
        if limits.until_ns and now_ns >= limits.until_ns:
            over = (now_ns - limits.until_ns) / SECOND_NS
            self._scene.found(TOKEN_OVER, f"{what} that was over for {over:.3f} s")
        if limits.uses and self._scene.queries.mode_of(report.cluster) != "secondary":
            used = self._used.setdefault(report.cluster, {})
            used[digest] = used.get(digest, 0) + 1
            if used[digest] > limits.uses:
                self._scene.found(TOKEN_OVER, f"{what} of {limits.uses} uses, {used[digest]} times")

    def _note(self, now_ns: int, body: Body) -> None:
        wrapped, auth = body.get("wrap_info"), body.get("auth")
        if isinstance(wrapped, dict):
            until_ns = now_ns + wrapped["ttl"] * SECOND_NS
            self._keep(digest_of(wrapped["token"]), Limits(until_ns, 1, wrapped["accessor"]))
            return
        if not isinstance(auth, dict):
            return
        text, accessor, lasts_s = auth.get("client_token"), auth["accessor"], auth["lease_duration"]
        until_ns = now_ns + lasts_s * SECOND_NS if lasts_s else 0
        digest = digest_of(text) if text else self._of_accessor(accessor)
        known = self._limits.get(digest)
        uses = auth.get("num_uses", 0) if known is None else known.uses
        if digest and (until_ns or uses):
            self._keep(digest, Limits(until_ns, uses, accessor))

    def _keep(self, digest: str, limits: Limits) -> None:
        self._endless.clear()
        self._limits[digest] = limits
        if len(self._limits) > MAX_KEPT:
            oldest = next(iter(self._limits))
            del self._limits[oldest]
            for used in self._used.values():
                used.pop(oldest, None)

    def _of_accessor(self, accessor: str) -> str:
        return next((digest for digest, row in self._limits.items() if row.accessor == accessor), "")


def _token_of(request: Request) -> str:
    """Return the token that a request spends: that which it unwraps, else that of its headers."""
    body = request.body
    if isinstance(body, dict) and body.get("token") and request.path.rstrip("/").endswith(UNWRAP):
        return str(body["token"])
    sent = {str(name).lower(): value for name, value in request.headers.items()}
    scheme, _, bearer = str(sent.get(BEARER, "")).partition(" ")
    text = sent.get(TOKEN) or (bearer.strip() if scheme.lower() == "bearer" else "")
    return text if isinstance(text, str) and text.isascii() else ""
