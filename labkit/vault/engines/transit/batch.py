"""Batches: items read from ``batch_input``, and the answer with each one's outcome.

1. A batch that cannot be read at all is refused as a whole; every other fault is its item's ``error``.
2. Results keep the order of the items; each repeats its item's ``reference`` (empty where there was none).
3. Any failed item makes the status 400; where others succeeded, encrypt and decrypt let the caller choose another
   (spec, Errors 1; decision T1).  All failed: 400 whatever was chosen.
4. Members are typed strictly, unlike parameters outside a batch: text is text, ``key_version`` a number.  A null
   counts as not given, but for ``plaintext``.  Only in sign, verify and hmac a number counts as its text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest
from labkit.service.fields import to_flag
from labkit.service.message import Reply
from labkit.vault.engines.transit.refusals import ListedRefusal, item_text

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

Item = dict[str, Any]
Result = dict[str, Any]

# The type of each member that an endpoint knows; others are ignored.
DECRYPT_MEMBERS: Mapping[str, type] = {
    "ciphertext": str,
    "context": str,
    "nonce": str,
    "associated_data": str,
    "reference": str,
}
REWRAP_MEMBERS: Mapping[str, type] = {
    "ciphertext": str,
    "context": str,
    "nonce": str,
    "key_version": int,
    "reference": str,
}
ENCRYPT_MEMBERS: Mapping[str, type] = {
    "plaintext": str,
    "context": str,
    "nonce": str,
    "associated_data": str,
    "key_version": int,
    "reference": str,
    "type": str,
    "convergent_encryption": bool,
}

HMAC_MEMBERS: Mapping[str, type] = {"input": str, "reference": str}
SIGN_MEMBERS: Mapping[str, type] = {"input": str, "context": str, "reference": str}
VERIFY_MEMBERS: Mapping[str, type] = {**SIGN_MEMBERS, "signature": str, "hmac": str}

MIXED_CONTEXTS = "context should be set either in all the request blocks or in none"
UNUSABLE_STATUS = "invalid HTTP response code override from partial_failure_response_code, reverting to 400"


def read_texts(batch_input: Any, members: Mapping[str, type]) -> list[Item]:
    """Return the items of a batch whose members are all text, or numbers that count as text; raise BadRequest."""
    return [_as_texts(item) for item in read_items(batch_input, members, numbers=True)]


def _as_texts(item: Item) -> Item:
    if not any(type(value) in (int, float) for value in item.values()):
        return item
    return {name: str(value) if type(value) in (int, float) else value for name, value in item.items()}


def read_items(batch_input: Any, members: Mapping[str, type], *, numbers: bool = False) -> list[Item]:
    """Return the items of a batch, their members' types checked; raise BadRequest.

    ``numbers``: whether a number may stand where text is wanted.
    """
    if type(batch_input) is not list:
        kind = {dict: "map", bool: "bool"}.get(type(batch_input), "string")
        raise ListedRefusal(f"failed to parse batch input: source data must be an array or slice, got {kind}")
    faults: list[str] = []
    for position, item in enumerate(batch_input):
        if type(item) is not dict:
            faults.append(f"[{position}] expected a map, got '{_type_name(item)}'")
            continue
        for name, value in item.items():
            if type(value) is members.get(name, type(value)) or (numbers and type(value) in (int, float)):
                continue
            if not _acceptable(members[name], name, value):
                faults.append(_fault(members[name], f"[{position}].{name}", value))
    if faults:
        raise ListedRefusal("failed to parse batch input: " + "\n".join(faults))
    if not batch_input:
        raise BadRequest("missing batch input to process")
    return batch_input


def _acceptable(kind: type, name: str, value: Any) -> bool:
    if value is None:
        return name != "plaintext"
    if kind is bool and type(value) is str:  # the one flag that an item may carry comes as text too (decision T6)
        try:
            to_flag(value)
        except ValueError:
            return False
        return True
    return False


def _fault(kind: type, where: str, value: Any) -> str:
    wanted = {str: "string", int: "int", bool: "bool"}[kind]
    return f"'{where}' expected type '{wanted}', got unconvertible type '{_type_name(value)}'"


def _type_name(value: Any) -> str:
    """Name a JSON value's type as the API's texts do."""
    if value is None:
        return "<nil>"
    names = {dict: "map[string]interface {}", list: "[]interface {}", bool: "bool", str: "string"}
    return names.get(type(value), "json.Number")


def check_contexts(items: Sequence[Item]) -> None:
    """Raise BadRequest when some items carry a context and others do not."""
    carrying = sum(1 for item in items if item.get("context"))
    if carrying and carrying != len(items):
        raise BadRequest(MIXED_CONTEXTS)


def work(items: Sequence[Item], one: Callable[[Item, int], Result], empty: Result) -> tuple[list[Result], int]:
    """Work on the items one by one (``one(item, position)``); return the results and how many failed.

    ``empty`` is what a failed item's result says beside its error.
    """
    results: list[Result] = []
    failures = 0
    for position, item in enumerate(items):
        try:
            result = one(item, position)
        except BadRequest as error:
            failures += 1
            result = {**empty, "error": item_text(error)}
        result["reference"] = item.get("reference") or ""
        results.append(result)
    return results, failures


def answer(ctx: EngineContext, results: list[Result], failures: int, partial_status: int = 400) -> Result | Reply:
    """Return the answer to a batch, with the status that its outcomes give it (rule 3)."""
    data = {"batch_results": results}
    if not failures:
        return data
    if failures == len(results):
        return Reply(data, 400)
    if not 200 <= partial_status <= 599:
        ctx.warn(UNUSABLE_STATUS)
        return Reply(data, 400)
    return Reply(data, partial_status)
