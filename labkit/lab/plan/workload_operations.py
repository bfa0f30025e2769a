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

OPTIONS = {"cas": PUT, "ttl": CREATE_TOKEN, "uses": CREATE_TOKEN, "role": LOGIN, "machine": LOGIN}
"""{what a workload may say beside its rate, size and keys: the operation that takes it}."""
