"""coverage shows the page, or the endpoints that are asked for."""

from __future__ import annotations

import pytest

from labkit.cli import main
from labkit.reference import page


def test_the_whole_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage"]) == 0
    assert capsys.readouterr().out == page("coverage") + "\n"


def test_endpoints_by_words_of_method_and_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", "post", "secret/data"]) == 0
    shown = capsys.readouterr().out

    assert shown.startswith("POST secret/data/<path>\n\n    200  recorded\n")
    assert shown.count("secret/data") == 1
    assert "    400  recorded       check-and-set parameter did not match the current version\n" in shown


def test_what_no_endpoint_has_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", "post", "sekret"]) == 2
    assert "no endpoint has 'post' and 'sekret' in it" in capsys.readouterr().err
