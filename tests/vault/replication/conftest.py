"""Two clusters' replication on one table: journals, questions, pushes and timers, and who carries them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from labkit import Lab, Response
from labkit.vault.replication import serving_secondaries, sync
from labkit.vault.replication.events import Changes
from labkit.vault.replication.sync import Moment, State
from labkit.vault.replication.tree import merkle
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.sealing import otp
from labkit.vault.storage.memory import MemoryStorage

SECOND_NS = 1_000_000_000
RECORD = "node/record"
OURS = "node/primary-alone"

KEYS = [f"logical/u/{n}" for n in range(9)] + ["core/a", "token/t", "token/u", "lease/l", "local/m"]


CHANNELS = ("questions", "aside questions", "answers", "aside answers")
"""Each keeps its order; pushes are among the answers."""


class World:
    """A primary and a secondary, and what is in flight between them."""

    def __init__(self, limit_entries: int = 16_384, dice: Random | None = None, wall_skew_ns: int = 0) -> None:
        self.dice = dice or Random(0)
        self.limit_entries = limit_entries
        self.wall_skew_ns = wall_skew_ns
        self.now_ns = 0
        self.primary = Journal(MemoryStorage(), limit_entries)
        self.primary.switch_on()
        self.secondary = Journal(MemoryStorage(), limit_entries)
        self.secondary.switch_on()
        self.state = State()
        self.stream: serving_secondaries.SecondaryStream | None = None
        self.flights: dict[str, list[tuple[str, Any]]] = {name: [] for name in CHANNELS}
        self.timers: list[tuple[int, int, Any]] = []
        self.rung = 0
        self.history: dict[int, dict[str, bytes]] = {0: {}}
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.wire: list[Any] = []
        self.refusing = ""
        self.term = 1
        self.deaf = False

    # ---- what a test does to it

    def write(self, writes: dict[str, bytes | None], pump: bool = True) -> None:
        """Commit on the primary, and push."""
        self.primary.commit({**writes, OURS: b"stays here"}, 0)
        self.history[self.primary.last] = self.contents(self.primary)
        if pump:
            self.pump()

    def start(self, **fields: Any) -> None:
        """Connect the secondary with what its record says, as after an unseal."""
        stored = self.secondary.storage.get(RECORD)
        record = json.loads(stored) if stored else {}
        self.happen(sync.Start(("a", "b"), self.at(), secondary_id="s", **{**record, **fields}))

    def happen(self, event: sync.Event) -> None:
        """Let the secondary go through an event and carry out what it asks for."""
        self.state, effects = sync.on(self.state, event)
        for effect in effects:
            self.carry_out(effect)

    def run(self, until: Callable[[], bool], seconds: int = 900) -> None:
        """Deliver all in order, fire a timer when nothing is in flight; fail when it takes too long."""
        end_ns = self.now_ns + seconds * SECOND_NS
        while not until():
            assert self.now_ns < end_ns, f"still {self.state} after {seconds} s"
            if not self.deliver_one():
                self.fire_next()

    def settle(self) -> None:
        """Run until both sides hold the same and the secondary streams."""
        self.run(lambda: self.level and not any(self.flights.values()))

    @property
    def level(self) -> bool:
        """Whether the secondary streams and has everything."""
        return (
            self.state.state == "stream-wals"
            and self.state.connection_state == "ready"
            and not self.state.awaiting
            and self.state.position == self.primary.last
            and self.contents(self.primary) == self.contents(self.secondary)
        )

    def observed(self, kind: str) -> list[dict[str, Any]]:
        """The fields of all observations of a kind."""
        return [fields for name, fields in self.seen if name == kind]

    def states(self) -> list[str]:
        """The states gone through."""
        return [fields["after"] for fields in self.observed("sync_state")]

    def cut(self) -> None:
        """Lose everything in flight."""
        for flight in self.flights.values():
            flight.clear()

    def take_over_primary(self) -> None:
        """Let another node of the primary become active: its backlog is empty, it has no stream."""
        self.primary = Journal(self.primary.storage, self.limit_entries)
        self.primary.switch_on()
        self.stream = None
        self.term += 1

    def take_over_secondary(self) -> None:
        """Let another node of the secondary become active: all it has is in storage."""
        self.secondary = Journal(self.secondary.storage, self.limit_entries)
        self.secondary.switch_on()
        self.timers.clear()
        self.state = State(serial=self.state.serial + 1_000)
        self.start()

    def save_and_restore(self) -> None:
        """Put everything that is state through what carries it, and go on with the copy."""
        copied = sync.from_plain(json.loads(json.dumps(sync.plain(self.state))))
        assert copied == self.state
        self.state = copied
        self.secondary = Journal.from_state(self.secondary.storage, pickle.loads(pickle.dumps(self.secondary.state())))
        self.primary = Journal.from_state(self.primary.storage, pickle.loads(pickle.dumps(self.primary.state())))

    # ---- how it works

    def at(self) -> Moment:
        return Moment(self.now_ns, self.now_ns + self.wall_skew_ns)

    def contents(self, journal: Journal) -> dict[str, bytes]:
        """What a side's store holds of the two trees."""
        names = journal.storage.keys()
        return {key: journal.storage.get(key) or b"" for key in names if merkle.classify(key)}

    def carry_out(self, effect: sync.Effect) -> None:
        if isinstance(effect, sync.AskUpstream):
            assert self.secondary.tree is not None
            question = sync.ask(effect, self.secondary.tree)
            self.fly("aside questions" if effect.aside else "questions", effect.rpc, question)
        elif isinstance(effect, sync.StartTimer):
            spread = effect.delay_ns * effect.spread_ppm // 1_000_000
            delay_ns = effect.delay_ns + self.dice.randint(-spread, spread)
            self.set_timer(delay_ns, sync.TimerFired(effect.name, effect.serial, self.at()))
        elif isinstance(effect, sync.Apply):
            for number, changes in effect.entries:
                self.keep(changes, complete=True, position=number, last_remote_wal=number)
        elif isinstance(effect, sync.Replace):
            self.keep(effect.changes, complete=effect.complete, position=effect.position)
        elif isinstance(effect, sync.Observe):
            self.seen.append((effect.kind, dict(effect.fields)))

    def keep(self, changes: Changes, **record: Any) -> None:
        record.setdefault("last_remote_wal", self.state.last_remote_wal)
        self.secondary.apply(changes, {RECORD: json.dumps(record).encode()}, 0)

    def set_timer(self, delay_ns: int, event: Any) -> None:
        self.rung += 1
        self.timers.append((self.now_ns + delay_ns, self.rung, event))

    def fire_next(self) -> None:
        """Move the clock to the next timer and fire it."""
        due_ns, number, event = min(self.timers, key=lambda timer: timer[:2])
        self.timers.remove((due_ns, number, event))
        self.now_ns = max(self.now_ns, due_ns)
        self.happen(event._replace(at=self.at()))

    def fly(self, channel: str, name: str, message: Any) -> None:
        """Send what can be written down; it is a copy that arrives."""
        self.wire.append(message)
        self.flights[channel].append((name, pickle.loads(pickle.dumps(message))))

    def deliver_one(self) -> bool:
        """Deliver the oldest message of any channel, questions first; say whether there was one."""
        for channel in CHANNELS:
            if self.flights[channel]:
                self.deliver(channel, 0)
                return True
        return False

    def deliver(self, channel: str, place: int) -> None:
        name, message = self.flights[channel].pop(place)
        if channel.endswith("questions"):
            self.answer(name, message)
        elif name == "push":
            self.happen(sync.Pushed(message))
        else:
            assert self.secondary.tree is not None
            self.happen(sync.ReplyArrived(name, sync.heard(name, message, self.secondary.tree), self.at()))

    def answer(self, rpc: str, question: dict[str, Any]) -> None:
        """The upstream's side, as it would be carried by a network."""
        if self.deaf:
            return
        if self.refusing:
            serial = question["asked" if rpc == "echo" else "serial"]
            self.happen(sync.Refused(rpc, serial, self.refusing, self.at()))
            return
        if rpc == "echo":
            here = serving_secondaries.Here(self.now_ns, self.term, "http://api", "a", ("a", "b"), self.stream)
            channel = "aside answers" if question["aside"] else "answers"
            self.fly(channel, rpc, serving_secondaries.echo(self.primary, question, here))
            return
        answer = serving_secondaries.QUESTIONS[rpc](self.primary, question)
        if rpc == "guard_hash":
            self.stream = None
            answer |= {"cluster_addrs": ["a", "b"], "term": self.term}
        self.fly("aside answers" if rpc == "guard_hash" else "answers", rpc, answer)
        if rpc == "stream_wals":
            self.stream = serving_secondaries.opened(answer)
            self.pump()

    def pump(self) -> None:
        """Push what the stream lacks."""
        while self.stream is not None and not self.stream.broken and self.stream.sent != self.primary.last:
            shipped = serving_secondaries.shipment(self.primary, self.stream.sent, 40)
            self.stream, message, _ = serving_secondaries.push(self.stream, shipped)
            self.fly("answers", "push", message)


@pytest.fixture(scope="session")
def make_world() -> Callable[..., World]:
    """How to set up two clusters."""
    return World


# ---- the endpoints, through a lab


DR = "sys/replication/dr/"
ATTEMPT = DR + "secondary/generate-operation-token/"


class Drill:
    """A quiet lab, and short forms of what the endpoints' tests ask."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def __getitem__(self, name: str) -> Any:
        return self.lab[name]

    def post(self, cluster: str, path: str, body: Any = None, **given: Any) -> Response:
        """POST below the replication paths, by default as root."""
        return self.lab[cluster].post(DR + path, body or {}, **given)

    def open_post(self, cluster: str, path: str, body: Any = None) -> Response:
        """POST below the replication paths, without any token."""
        return self.lab[cluster].post(DR + path, body or {}, token="")

    def status(self, cluster: str) -> dict[str, Any]:
        """The replication status."""
        return dict(self.lab[cluster].get(DR + "status", token="").data)

    def activation(self, secondary_id: str, primary: str = "paris", **body: Any) -> str:
        """An activation token of the primary."""
        answer = self.post(primary, "primary/secondary-token", {"id": secondary_id, **body}).raise_for_status()
        return str(answer.wrap_info["token"])

    def start(self, cluster: str = "tokyo", **body: Any) -> dict[str, Any]:
        """Start an attempt for an operation token."""
        return dict(self.lab[cluster].post(ATTEMPT + "attempt", body, token="").raise_for_status().body or {})

    def give(self, share: Any, nonce: Any, cluster: str = "tokyo") -> Response:
        """Give a key share."""
        return self.lab[cluster].post(ATTEMPT + "update", {"key": share, "nonce": nonce}, token="")

    def operation_token(self, cluster: str = "tokyo") -> str:
        """Go through the whole ceremony."""
        started = self.start(cluster)
        for share in self.lab[cluster].unseal_keys[: started["required"]]:
            body = self.give(share, started["nonce"], cluster).raise_for_status().body or {}
        return otp.decode(body["encoded_token"], started["otp"])

    def stored(self, cluster: str) -> dict[str, bytes]:
        """Every stored byte but the lease, which is renewed all the time."""
        items = self.lab.parts.stores[cluster].state()["items"]
        return {key: value for key, value in items.items() if key != "node/lease"}


@pytest.fixture(scope="session")
def apart_snapshot() -> Any:
    """Paris and tokyo, not replicating, each with a secret of its own."""
    lab = Lab.pair(seed=7)
    for name in ("paris", "tokyo"):
        lab[name].post("secret/data/mine", {"data": {"of": name}})
    return lab.snapshot()


@pytest.fixture(scope="session")
def together_snapshot(apart_snapshot: Any) -> Any:
    """The same, and tokyo streams from paris."""
    lab = Lab.restore(apart_snapshot)
    lab.replicate("paris", "tokyo")
    lab.run("3s")
    return lab.snapshot()


@pytest.fixture
def apart(apart_snapshot: Any) -> Drill:
    """Two clusters that do not replicate."""
    return Drill(Lab.restore(apart_snapshot))


@pytest.fixture
def together(together_snapshot: Any) -> Drill:
    """A primary, paris, and its secondary, tokyo."""
    return Drill(Lab.restore(together_snapshot))


@pytest.fixture(scope="session")
def drill() -> Callable[[Lab], Drill]:
    """How to make a drill of any lab."""
    return Drill
