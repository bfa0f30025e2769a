"""Refusals: a request that certainly had no effect, one class per meaning, each with its status; and their Responses.

Texts are the API's own (clients match some of them); ``one_error`` gives the list shape in which the API wraps the
refusals that come from behind a route rather than from an explicit answer.  Nothing in labkit decides by a text: what
a program must distinguish carries a reason code.
"""

from __future__ import annotations

from typing import Any

from labkit.service.message import Response, respond

NOT_ACTIVE = "not_active"
NO_ACTIVE_NODE = "no_active_node"
FORWARDING_LOST = "forwarding_lost"
NODE_SEALED = "sealed"
DR_SECONDARY = "dr_secondary"
NOT_THAT_FAR = "not_that_far"
ATTEMPT_IN_PROGRESS = "attempt_in_progress"
QUOTA_EXCEEDED = "quota_exceeded"
NO_SUCH_NODE, NOT_RUNNING = "no_such_node", "not_running"
"""Reason codes: what the operators' console, runbooks and clients distinguish refusals by."""


class ServiceError(Exception):
    """A refusal with its HTTP status, texts and reason code; the few bodies that also carry data have ``data``."""

    status = 400
    code = ""

    def __init__(self, *errors: str, data: dict[str, Any] | None = None, code: str = "") -> None:
        super().__init__(*errors)
        self.errors = errors
        self.data = data
        if code:
            self.code = code


class BadRequest(ServiceError):
    """400: the request cannot be carried out as it was sent."""

    status = 400


class Forbidden(ServiceError):
    """403: no token, a token that is not valid, or one whose policies do not allow it."""

    status = 403


class NotFound(ServiceError):
    """404: no such route, or nothing is there; without texts the plain ``{"errors": []}``."""

    status = 404


class UnknownMethod(ServiceError):
    """405: no operation has this method, on whatever path; without a text, as real servers answer it."""

    status = 405


class Unsupported(ServiceError):
    """405: the path exists but not this operation on it."""

    status = 405

    def __init__(self) -> None:
        super().__init__(one_error("unsupported operation"))


class NotThatFar(ServiceError):
    """412: this node has not got what the request says that it must have."""

    status = 412
    code = NOT_THAT_FAR


class TooLarge(ServiceError):
    """413: the request's body is over the limit."""

    status = 413


class WrongMediaType(ServiceError):
    """415: a patch that is not a JSON merge patch."""

    status = 415


class TooMany(ServiceError):
    """429: one request or lease more than a quota allows."""

    status = 429
    code = QUOTA_EXCEEDED


class Internal(ServiceError):
    """500: the two user mistakes that clients' suites expect there (decision C10), and real faults of the store."""

    status = 500


class Forked(Internal):
    """500: a process that was forked uses what its parent made (C18); the text names it and what to do instead."""

    def __init__(self, made: str, instead: str = "make another one here") -> None:
        super().__init__(f"{made} before this process was forked: use it there, or {instead}")


class Unavailable(ServiceError):
    """503: sealed, no active node, or not ready for it yet."""

    status = 503


class Redirect(ServiceError):
    """307: this node is a standby; the Location header names the active one."""

    status = 307
    code = NOT_ACTIVE

    def __init__(self, location: str) -> None:
        super().__init__()
        self.location = location


def one_error(*texts: str) -> str:
    """Wrap refusal texts as the API lists them: ``1 error occurred:`` and a bullet each."""
    head = "1 error occurred:" if len(texts) == 1 else f"{len(texts)} errors occurred:"
    return head + "\n" + "".join(f"\t* {text}\n" for text in texts) + "\n"


def to_response(error: ServiceError) -> Response:
    """Make the Response of a refusal."""
    body: dict[str, Any] = {"errors": list(error.errors)}
    if error.data is not None:
        body["data"] = error.data
    response = respond(error.status, body, error.code)
    if isinstance(error, Redirect):
        response.headers["Location"] = error.location
    return response
