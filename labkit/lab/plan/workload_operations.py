"""Workload operations: the names of what clients do, as scenario files write them, and what each of them takes."""

from __future__ import annotations

PUT, GET, DELETE, ENCRYPT = "put-secret", "get-secret", "delete-secret", "encrypt"
CREATE_TOKEN, USE_TOKEN, REVOKE_TOKEN, LOGIN = "create-token", "use-token", "revoke-token", "login"
OPERATIONS = (PUT, GET, DELETE, ENCRYPT, CREATE_TOKEN, USE_TOKEN, REVOKE_TOKEN, LOGIN)

ISSUING = (CREATE_TOKEN, LOGIN)
"""Operations that give their client a token."""

TAKING = (USE_TOKEN, REVOKE_TOKEN)
"""Operations that take a token which their client holds."""

WITHOUT_BODY = (GET, DELETE, USE_TOKEN)
"""Operations whose requests have no body."""

CLOUD, APPROLE, USERPASS = "cloud", "approle", "userpass"
OF_LOGIN = {CLOUD: ("role", "machine"), APPROLE: ("role_id", "secret_id"), USERPASS: ("user", "password")}
"""{the type of a login, which is where its method is mounted: what a client logs in with}."""

NEEDED = ("role_id", "user", "password")
"""What a login has no default for.  A role may ask for no secret id."""

OPTIONS = {
    "cas": PUT,
    "ttl": CREATE_TOKEN,
    "uses": CREATE_TOKEN,
    "by": LOGIN,
    **{key: LOGIN for keys in OF_LOGIN.values() for key in keys},
}
"""{what a workload may say beside its rate, size and keys: the operation that takes it}."""
