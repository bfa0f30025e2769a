"""help lists the pages, shows one, or shows an entry of one."""

from __future__ import annotations

import pytest

from labkit.cli import main
from labkit.commands import help as help_command
from labkit.reference import TOPICS


def test_help_lists_the_pages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    assert [line.split()[:3] for line in capsys.readouterr().out.splitlines()] == [
        ["labkit", "help", topic] for topic in TOPICS
    ]


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["rules"], "# Rules and decisions"),
        (["rules", "R4"], "R4 One step, one transaction"),
        (["architecture"], "# Architecture"),
        (["differences", "transit"], "transit\n\n**batches**\n    a failed item"),
        (["differences", "wrapping"], "tokens\n\n**wrapping tokens in JWT form**\n"),
        (["words", "guard"], "**guard**\n    short form"),
        (["lab"], "# A lab\n"),
        (["lab", "faults"], "faults\n\n```python\nlab.crash("),
        (
            ["lab", "crash"],
            "**Lab.crash**(target)\n    Take a node, or all nodes of a cluster, down; their memory is lost.",
        ),
        (["vault", "reset"], "**Vault.reset**()\n    Go back to how `dev` made it"),
        (["verbs", "crash"], "crash: Take a node, or all nodes of a cluster, down"),
    ],
)
def test_help_shows_a_page_or_an_entry(arguments: list[str], first: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", *arguments]) == 0
    assert capsys.readouterr().out.startswith(first)


def test_the_page_of_a_class_lists_its_names(capsys: pytest.CaptureFixture[str]) -> None:
    main(["help", "lab"])
    page = capsys.readouterr().out

    assert page.index("## every name of Lab") < page.index("**Lab.crash**") < page.index("## every name of Cluster")
    main(["help", "lab", "clusters"])
    assert "**Lab.clusters**\n    `list(lab.clusters)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "hint"), [(["rulez"], "did you mean rules?"), (["rules", "rs"], "no entry of rules is called 'rs'")]
)
def test_an_unknown_page_is_refused_in_a_line(
    arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["help", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert hint in shown.err
    assert len(shown.err.splitlines()) == 1


@pytest.mark.parametrize(("width", "widest"), [("60", 60), ("200", 100)])
def test_on_a_terminal_a_page_is_wrapped_and_goes_to_the_pager(
    width: str, widest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    paged: list[str] = []
    monkeypatch.setattr(help_command, "show_page", paged.append)
    monkeypatch.setenv("COLUMNS", width)
    assert main(["help", "words"]) == 0
    monkeypatch.delenv("COLUMNS")
    assert main(["help", "words"]) == 0
    wrapped, as_kept = paged

    assert widest - 20 < max(map(len, wrapped.split("\n"))) <= widest
    assert max(map(len, as_kept.split("\n"))) > 100
    assert wrapped.split() == as_kept.split()
