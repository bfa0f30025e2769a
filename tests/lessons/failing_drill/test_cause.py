"""Exercise cause: three losses with roots of three kinds, and what is not read as an instant."""

from __future__ import annotations

import pytest

from labkit.lessons.failing_drill.cause import CAUSE, FOLDERS, look, roots_of, start
from labkit.lessons.judging import judge


def test_each_loss_has_a_root_of_its_own_kind():
    lab = start()
    lost = [row.path.split("/")[2] for row in lab.ledger.lost()]

    assert [lost.count(folder) for folder in FOLDERS] == [2, 5, 2]
    firsts = [next(row for row in lab.ledger.lost() if f"/{folder}/" in row.path) for folder in FOLDERS]
    assert [(lab.why(row).origin, lab.why(row).cause.what) for row in firsts] == [
        ("operator", "request"),
        ("fault", "cut"),
        ("fault", "crash"),
    ]
    assert all(
        {round(lab.why(row).steps[-1].at_ns / 1e9, 3) for row in lab.ledger.lost() if f"/{folder}/" in row.path}
        == {round(root, 3)}
        for folder, root in zip(FOLDERS, roots_of(lab), strict=True)
    )


def test_instants_may_be_rounded_to_a_thousandth():
    lab = start()
    assert judge(CAUSE, (lab, [round(instant, 3) for instant in roots_of(lab)])).outcome == "right"
    for apart in (-0.002, -0.001, 0.001, 0.002):
        others = [round(instant, 3) + apart for instant in roots_of(lab)]
        assert not any(look(lab, others).names(number) for number in range(3)), apart
        assert judge(CAUSE, (lab, others)).condition == "red"


def test_an_instant_of_nothing_is_known_from_a_wrong_one():
    lab = start()
    right = list(roots_of(lab))
    cut = next(event.at_ns for event in lab.trace.select("fault", verb="crash", target="tokyo-1")) / 1e9
    rounded = judge(CAUSE, (lab, [round(right[0], 2), *right[1:]]))
    another = judge(CAUSE, (lab, [right[0], cut, right[2]]))

    assert rounded.seen.endswith("an instant is wanted rounded to the millisecond")
    assert (another.condition, another.seen) == (
        "green",
        f"what happened at {cut:.3f} s is not the root of the loss of green",
    )
    assert judge(CAUSE, (lab, dict(zip(FOLDERS, right, strict=True)))).outcome == "right"


def test_the_root_of_another_loss_is_named_as_that():
    lab = start()
    red, green, blue = roots_of(lab)
    swapped = judge(CAUSE, (lab, [green, red, blue]))

    assert swapped.condition == "red"
    assert swapped.seen == f"what happened at {green:.3f} s is the root of the loss of green, not of red"


@pytest.mark.parametrize("given", ["4.6", [1, 2], [True, 1, 2], [1, 2, "3"], None, {"red": 1}])
def test_what_is_no_list_of_three_instants_is_said(given):
    assert look(start(), given).unread
