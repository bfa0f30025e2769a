"""Known findings: a day, a signature and a reason on each line; anything else is refused with its line."""

from __future__ import annotations

import pytest

from labkit.hunt.campaign import FindingGroup
from labkit.hunt.findings import SeedFinding, Signature
from labkit.hunt.known import Known, UnusableKnown, no_longer_found, read_known

SIGNATURE = Signature("one primary", "fault", "flap", ("other",))
LINE = "2026-05-01 one primary, after flap of other # lines of the office flap"


def test_a_file_is_read_without_its_comments():
    assert read_known("known", f"# accepted\n\n{LINE}  \n") == (
        Known("2026-05-01", SIGNATURE.text, "lines of the office flap"),
    )


@pytest.mark.parametrize(
    "line",
    [
        "one primary, after flap of other # no day",
        "2026-05-01 one primary, after flap of other",
        "2026-05-01 one primary, after flap of other #",
        "2026-13-01 one primary # no such day",
        "2026-05-01 # no signature",
        "2026-05-01 # no # signature",
        "01.05.2026 one primary # x",
    ],
)
def test_other_lines_are_refused(line: str):
    with pytest.raises(UnusableKnown, match=r"known:2: expected a line such as 2026-05-01 .*, got"):
        read_known("known", f"{LINE}\n{line}\n")


@pytest.mark.parametrize("name", ["ü#1", "#1", " lead", "two\u2028lines", "x\x85y", "a  b"])
def test_every_name_of_a_condition_can_be_accepted(name: str):
    signature = Signature(name, "fault", "flap", ("other",))
    group = FindingGroup(signature=signature, findings=(SeedFinding(3, signature, 5, "x"),))

    for written in (signature.text, f"{name}, after flap of other"):
        (known,) = read_known("known", f"2026-05-01 {written} # a reason # with a sign\r\n")
        assert (known.signature, known.reason) == (signature.text, "a reason # with a sign")
        assert no_longer_found([known], [group]) == ()


def test_what_did_not_come_up_is_named():
    known = read_known("known", f"{LINE}\n2026-05-02 loss within lag, after crash of primary # x\n")
    group = FindingGroup(signature=SIGNATURE, findings=(SeedFinding(3, SIGNATURE, 5, "x"),))

    assert [one.day for one in no_longer_found(known, [group])] == ["2026-05-02"]
