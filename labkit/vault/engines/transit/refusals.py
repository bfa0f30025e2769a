"""Refusals of one item of work: outside a batch they refuse the request, in a batch they are that item's ``error``."""

from __future__ import annotations

from labkit.service.errors import BadRequest, one_error


class ListedRefusal(BadRequest):
    """A refusal in the API's list shape outside a batch, and as plain text within one."""

    def __init__(self, text: str) -> None:
        super().__init__(one_error(text))
        self.text = text


def item_text(error: BadRequest) -> str:
    """Return a refusal's text as an item of ``batch_results`` carries it."""
    return error.text if isinstance(error, ListedRefusal) else str(error.errors[0])
