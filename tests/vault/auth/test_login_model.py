"""Random logins of both kinds beside a model of uses, expiry and lock-out: every answer is what the model says."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from labkit import Vault
from tests.vault.conftest import START_NS, ManualClock

SECOND_NS = 1_000_000_000
MINUTE_NS = 60 * SECOND_NS
THRESHOLD, WHILE_NS = 3, 300 * SECOND_NS
STEPS = 250
ROLES, USERS = ("one", "two"), ("ada", "bob")


class Alias:
    """What a model knows of somebody who logs in: failures, the last one, and until when the alias is locked."""

    def __init__(self) -> None:
        self.count, self.last_ns, self.locked_ns = 0, 0, 0

    def fail(self, now_ns: int) -> None:
        self.count = self.count + 1 if now_ns < self.last_ns + WHILE_NS else 1
        self.last_ns = now_ns
        if self.count >= THRESHOLD:
            self.locked_ns = now_ns + WHILE_NS

    def succeed(self) -> None:
        self.count, self.last_ns, self.locked_ns = 0, 0, 0


class Model:
    """A vault with roles and users, and what the model expects of it."""

    def __init__(self, seed: int) -> None:
        self.dice, self.clock = Random(seed), ManualClock()
        self.vault = Vault.dev(seed=seed, clock=self.clock)
        self.aliases = {name: Alias() for name in (*ROLES, *USERS)}
        self.secret_ids: dict[str, dict[str, list[int]]] = {name: {} for name in ROLES}  # uses left, when deleted
        self.passwords = dict.fromkeys(USERS, "first")
        tuned = {"lockout_threshold": "3", "lockout_duration": "5m", "lockout_counter_reset_duration": "5m"}
        for kind in ("approle", "userpass"):
            self.vault.post(f"sys/auth/{kind}", {"type": kind})
            self.vault.post(f"sys/auth/{kind}/tune", {"user_lockout_config": tuned})
        for name in ROLES:
            self.vault.post(f"auth/approle/role/{name}", {"role_id": name})
        for name in USERS:
            self.vault.post(f"auth/userpass/users/{name}", {"password": "first"})

    def make(self) -> None:
        """Make a secret id."""
        name, uses, ttl_s = self.dice.choice(ROLES), self.dice.choice((0, 1, 2, 3)), self.dice.choice((0, 30, 90, 400))
        answer = self.vault.post(f"auth/approle/role/{name}/secret-id", {"num_uses": uses, "ttl": ttl_s})
        ends_ns = self.clock.now_ns + ttl_s * SECOND_NS if ttl_s else 0
        deleted_ns = -(-ends_ns // MINUTE_NS) * MINUTE_NS
        self.secret_ids[name][answer.data["secret_id"]] = [uses, deleted_ns]

    def destroy(self) -> None:
        """Destroy a secret id."""
        name = self.dice.choice(ROLES)
        if self.secret_ids[name]:
            secret_id = self.dice.choice([*self.secret_ids[name]])
            del self.secret_ids[name][secret_id]
            body = {"secret_id": secret_id}
            assert self.vault.post(f"auth/approle/role/{name}/secret-id/destroy", body).status == 204

    def program(self) -> None:
        """Log in with a secret id, right, used up, another role's, or wrong."""
        name = self.dice.choice(ROLES)
        known = [secret_id for of_role in self.secret_ids.values() for secret_id in of_role]
        secret_id = self.dice.choice(["wrong", *known, *self.secret_ids[name], *self.secret_ids[name]])
        body = {"role_id": name, "secret_id": secret_id}
        answer = self.vault.post("auth/approle/login", body, token="")
        alias, found = self.aliases[name], self.secret_ids[name].get(secret_id)
        if self.clock.now_ns < alias.locked_ns:
            assert answer.status == 403
        elif found is None:
            alias.fail(self.clock.now_ns)
            assert answer.errors == ["invalid role or secret ID"]
        else:
            alias.succeed()
            assert answer.ok
            if found[0] == 1:
                del self.secret_ids[name][secret_id]
            found[0] -= found[0] > 0

    def person(self) -> None:
        """Log in with a password, right or wrong."""
        name = self.dice.choice(USERS)
        password = self.dice.choice(("first", "second", self.passwords[name], self.passwords[name]))
        answer = self.vault.post(f"auth/userpass/login/{name}", {"password": password}, token="")
        alias = self.aliases[name]
        if self.clock.now_ns < alias.locked_ns:
            assert answer.status == 403
        elif password != self.passwords[name]:
            alias.fail(self.clock.now_ns)
            assert answer.errors == ["invalid username or password"]
        else:
            alias.succeed()
            assert answer.ok

    def change(self) -> None:
        """Change a password; it unlocks nobody."""
        name, password = self.dice.choice(USERS), self.dice.choice(("first", "second"))
        self.passwords[name] = password
        assert self.vault.post(f"auth/userpass/users/{name}/password", {"password": password}).status == 204

    def unlock(self) -> None:
        """Unlock somebody, who may not be locked."""
        name = self.dice.choice((*ROLES, *USERS))
        kind = "approle" if name in ROLES else "userpass"
        accessor = self.vault.get(f"sys/auth/{kind}").data["accessor"]
        assert self.vault.post(f"sys/locked-users/{accessor}/unlock/{name}").status == 204
        self.aliases[name].succeed()

    def wait(self) -> None:
        """Let time pass; what falls due is deleted."""
        self.clock.now_ns += self.dice.choice((1, 20, 61, 299, 300)) * SECOND_NS
        for of_role in self.secret_ids.values():
            for secret_id, (_, deleted_ns) in [*of_role.items()]:
                if deleted_ns and deleted_ns <= self.clock.now_ns:
                    del of_role[secret_id]

    def restart(self) -> None:
        """Seal and unseal: counts are gone, locks stay."""
        self.vault.post("sys/seal")
        self.vault.unseal_with(tuple(self.vault.unseal_keys[:3]))
        for alias in self.aliases.values():
            alias.count, alias.last_ns = 0, 0

    def judge(self) -> None:
        """What is listed is what the model holds."""
        for name in ROLES:
            answer = self.vault.list(f"auth/approle/role/{name}/secret-id")
            assert len((answer.data or {"keys": []})["keys"]) == len(self.secret_ids[name])
            for secret_id, (uses, _) in self.secret_ids[name].items():
                body = {"secret_id": secret_id}
                found: Any = self.vault.post(f"auth/approle/role/{name}/secret-id/lookup", body).data
                assert found["secret_id_num_uses"] == uses
        locked = [alias for alias in self.aliases.values() if self.clock.now_ns < alias.locked_ns]
        assert self.vault.get("sys/locked-users").data["total"] == len(locked)


@pytest.mark.parametrize("seed", range(4))
def test_every_answer_is_the_models(seed: int) -> None:
    model = Model(seed)
    assert model.clock.now_ns == START_NS
    done = [model.program] * 6 + [model.person] * 6 + [model.make] * 3 + [model.wait] * 3
    done += [model.destroy, model.change, model.unlock, model.restart]
    for _ in range(STEPS):
        model.dice.choice(done)()
        model.judge()
