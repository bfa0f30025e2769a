"""Request verbs: the rows of what an operator asks in full, and of what is kept of the answers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from labkit.lab.operations.operator_requests import MAX_REPEAT, OPTIONS
from labkit.lab.operations.runbooks import METHODS
from labkit.scenario.value_types import Name, NodeName
from labkit.scenario.verb import RUNBOOK, Parameter, Text, Verb, cluster_parameter, known_as

Paths = dict[Text, Any]


class AnswerPart(BaseModel):
    """What is expected of an answer."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    status: int | None = Field(None, ge=200, le=599, description="a status such as 403; a success unless given")
    says: Text | None = Field(None, description="words that its errors or warnings contain")
    has: Paths = Field(
        {}, description="a mapping of paths to values such as {data.keys.0: app}; in a list, one item of it"
    )
    lacks: Paths = Field({}, description="a mapping of paths to values that it does not have")


_KEEP = Parameter("keep", Name, "a name for it, to be used as $(name) in later steps", "as")

REQUEST_VERBS = (
    Verb(
        "ask",
        RUNBOOK,
        "Send one request of the API to a cluster, with its root token.",
        (
            cluster_parameter("gets the request"),
            Parameter("method", Annotated[str, known_as("a method", METHODS)], ", ".join(METHODS)),
            Parameter("path", Text, "a path of the API such as secret/data/app"),
            Parameter("body", dict[str, Any], "a mapping, sent as JSON", "", None, shown=False),
            Parameter("node", NodeName, "one of its nodes, when not the active one is meant", "at", ""),
            Parameter(
                "token", Text, "$(name) of a kept token, or none; the root token unless given", "", None, shown=False
            ),
            Parameter("headers", dict[Text, Text], "a mapping of headers, sent too", "", None, shown=False),
            Parameter(
                "keep",
                dict[Name, Text],
                "a mapping of names to paths in the answer such as {user: auth.client_token}; $(user) is it then",
                "",
                None,
                shown=False,
            ),
            Parameter(
                "answer",
                AnswerPart,
                "what is expected of it, a mapping such as {status: 403, says: denied, has: {data.n: 1}}",
                "",
                None,
                shown=False,
            ),
            Parameter(
                "repeat",
                Annotated[int, Field(ge=1, le=MAX_REPEAT)],
                f"a number from 1 to {MAX_REPEAT:,} of times that it is sent, one after another",
                "repeated",
                None,
            ),
        ),
        options=OPTIONS,
    ),
    Verb(
        "operation-token",
        RUNBOOK,
        "Generate an operation token of a secondary from its key shares, and keep it.",
        (cluster_parameter("is a secondary"), _KEEP),
    ),
    Verb(
        "decode",
        RUNBOOK,
        "Decode an encoded token with its one-time password, and keep it.",
        (
            Parameter("value", Text, "$(name) of a kept encoded_token", "", shown=False),
            Parameter("otp", Text, "$(name) of the one-time password of its attempt", "", shown=False),
            _KEEP,
        ),
    ),
)
