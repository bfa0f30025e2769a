"""Refusals: each class has its status, and texts keep the API's shape."""

from __future__ import annotations

import pytest

from labkit.service import errors
from labkit.service.errors import to_response

STATUSES = {
    errors.BadRequest: 400,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.TooLarge: 413,
    errors.WrongMediaType: 415,
    errors.Internal: 500,
    errors.Unavailable: 503,
}


@pytest.mark.parametrize(("kind", "status"), STATUSES.items())
def test_a_refusal_has_its_status_and_texts(kind, status):
    answer = to_response(kind("first", "second"))

    assert (answer.status, answer.body) == (status, {"errors": ["first", "second"]})


def test_a_plain_not_found_has_an_empty_list():
    assert to_response(errors.NotFound()).body == {"errors": []}


def test_an_unsupported_operation_is_405():
    answer = to_response(errors.Unsupported())

    assert (answer.status, answer.errors) == (405, ["1 error occurred:\n\t* unsupported operation\n\n"])


def test_a_redirect_names_the_active_node():
    answer = to_response(errors.Redirect("http://paris-2:8200/v1/secret/data/a"))

    assert answer.status == 307
    assert answer.headers["Location"] == "http://paris-2:8200/v1/secret/data/a"


def test_data_rides_along_where_there_is_any():
    assert to_response(errors.NotFound(data={"a": 1})).body == {"errors": [], "data": {"a": 1}}


def test_several_texts_are_counted():
    assert errors.one_error("a", "b") == "2 errors occurred:\n\t* a\n\t* b\n\n"


def test_a_reason_code_travels_beside_the_body():
    class Coded(errors.Unavailable):
        code = "of-the-class"

    assert (to_response(errors.BadRequest("a")).code, to_response(Coded("a")).code) == ("", "of-the-class")
    answer = to_response(Coded("a", code="of-the-case"))
    assert (answer.code, answer.body) == ("of-the-case", {"errors": ["a"]})
    assert Coded("b").code == "of-the-class", "the class is not changed"
