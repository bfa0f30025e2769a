"""when: tables and exit codes, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labkit.cli import main
from tests.hunt.no_return.conftest import TEXT

Capsys = pytest.CaptureFixture[str]
Write = Callable[[str, str], str]


@pytest.mark.slow
def test_a_point_of_no_return_is_found(written: Write, capsys: Capsys) -> None:
    path = written("x.lab.yaml", TEXT)

    assert main(["when", path, "--branches", "16", "--seed", "5"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Lost with its primary: not as expected (seed 5, ")
    assert "point of no return: after step 3 (promote tokyo) lost breaks anyway" in said


def test_where_nothing_decides_that_is_unknown(texts: dict[int, str], written: Write, capsys: Capsys) -> None:
    assert main(["when", written("x.lab.yaml", texts[0]), "--branches", "16", "--of", "lost"]) == 3
    assert "luck changes nothing: it breaks in none of 16 branches" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.lab.yaml"], "none.lab.yaml: cannot be read"),
        (["first/failver"], "did you mean 'first/failover'?"),
        (["x.lab.yaml", "--of", "lots"], "--of: expected a key of the verdict, got 'lots'"),
        (["x.lab.yaml", "--only", "x=1"], "expected no --only x=1, since the file has no matrix"),
        (["bad.lab.yaml"], "did you mean 'seal'?"),
    ],
)
def test_what_cannot_be_used(
    arguments: list[str], said: str, texts: dict[int, str], written: Write, capsys: Capsys
) -> None:
    written("x.lab.yaml", texts[0])
    written("bad.lab.yaml", texts[2])

    assert main(["when", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x", "--branches", "15"], "expected a number of branches from 16 to 100,000, got '15'"),
        (["x", "--branches", "x"], "expected a number of branches"),
        (["x", "--seed", "-1"], "expected"),
    ],
)
def test_arguments_that_cannot_be_read(arguments: list[str], said: str, capsys: Capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["when", *arguments])

    assert ended.value.code == 2
    assert said in capsys.readouterr().err
