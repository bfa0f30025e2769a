"""Histories: what contents hold of the commits that they come from, and what a continued one contains."""

from __future__ import annotations

from labkit.lab.records.histories import Continued, Held, Histories, Inherited

A, B, C = b"a" * 20, b"b" * 20, b"c" * 20


def holding(contents: dict[str, bytes]) -> Held:
    return lambda key: contents.get(key)


def joined() -> Histories:
    """Paris wrote history 0; tokyo was wiped and follows it."""
    histories = Histories()
    histories.history_of("paris")
    histories.wipe("tokyo")
    histories.follow("tokyo", "paris")
    return histories


def test_a_commit_is_held_when_each_key_has_what_it_left_or_what_a_later_one_left():
    histories = joined()
    for changes in ((("x", A),), (("x", B), ("y", B)), (("x", C),), (("y", C),)):
        histories.add("paris", ((1, changes),))
    held = {"x": B, "y": B}

    assert histories.continue_alone("tokyo", holding(held)) == Continued(0, 4, frozenset([2, 3]))


def test_what_was_deleted_and_is_absent_is_held():
    histories = joined()
    histories.add("paris", ((1, (("x", A),)),))
    histories.add("paris", ((2, (("x", None),)),))
    histories.add("paris", ((3, (("y", A),)),))
    histories.add("paris", ((4, (("z", None),)),))

    assert histories.continue_alone("tokyo", holding({"z": A})) == Continued(0, 4, frozenset([2, 3]))


def test_one_key_that_is_missing_is_enough():
    histories = joined()
    histories.add("paris", ((1, (("x", A), ("y", A))),))
    histories.add("paris", ((2, (("x", B),)),))

    assert histories.continue_alone("tokyo", holding({"x": B})) == Continued(0, 2, frozenset([0]))


def test_a_survivor_goes_on_with_what_it_held_and_the_old_primary_alone_with_the_rest():
    histories = joined()
    histories.add("paris", ((1, (("x", A),)),))
    histories.add("paris", ((2, (("y", A),)),))
    histories.continue_alone("tokyo", holding({"x": A}))
    histories.add("paris", ((3, (("z", A),)),))
    histories.add("tokyo", ((1, (("w", A),)),))
    histories.wipe("lima")
    histories.follow("lima", "tokyo")

    assert histories.histories[histories.history_of("tokyo")].inherited == (Inherited(0, 2, frozenset([1])),)
    continued = histories.continue_alone("lima", holding({"w": A}))
    assert continued is not None
    assert continued.missing == frozenset([0]), "of paris only what tokyo held, of tokyo all"


def test_who_follows_none_goes_on_with_its_own():
    histories = joined()
    histories.own("tokyo")

    assert histories.continue_alone("paris", holding({})) is None
    assert histories.continue_alone("tokyo", holding({})) is None
    assert histories.history_of("paris") == 0


def test_a_former_primary_that_was_not_level_yet_has_its_own_commits_still():
    histories = joined()
    histories.add("paris", ((1, (("x", A),)),))
    histories.continue_alone("tokyo", holding({}))
    histories.add("tokyo", ((1, (("w", A),)),))
    histories.follow("paris", "tokyo")
    continued = histories.continue_alone("paris", holding({"x": A}))
    histories.wipe("lima")
    histories.follow("lima", "paris")

    assert continued is not None
    assert continued.missing == frozenset([1]), "tokyo never had x: that is no loss of this promotion"
    again = histories.continue_alone("lima", holding({}))
    assert again is not None
    assert again.missing == frozenset([0])


def test_another_history_after_a_disable_contains_the_one_before():
    histories = joined()
    histories.add("paris", ((1, (("x", A),)),))
    histories.enable_again("paris")
    histories.add("paris", ((0, (("y", A),)),))
    histories.wipe("lima")
    histories.follow("lima", "paris")

    lost = histories.continue_alone("lima", holding({})), histories.continue_alone("tokyo", holding({}))
    assert [continued and continued.missing for continued in lost] == [frozenset([0, 1]), frozenset([0])]


def test_behind_are_the_commits_after_the_last_applied_entry():
    histories = joined()
    for number, entry in enumerate((0, 1, 2, 0, 0)):
        histories.add("paris", ((entry, ((str(number), A),)),))
    continued = histories.continue_alone("tokyo", holding({}))
    histories.add("paris", ((3, (("late", A),)),))

    assert continued is not None
    assert [histories.behind(continued, applied) for applied in (0, 1, 2, 9)] == [5, 3, 2, 2]


def test_its_state_is_plain_and_brings_it_back():
    histories = joined()
    histories.add("paris", ((1, (("x", A),)),))
    again = Histories(histories.state())

    assert again.state() == histories.state()
    assert again.continue_alone("tokyo", holding({})) == histories.continue_alone("tokyo", holding({}))
    assert repr(again) == "Histories(1 commits of 3 histories)"


def test_a_value_that_was_damaged_counts_as_what_it_was():
    histories = joined()
    histories.add("paris", ((1, (("x", A),)),))
    histories.add("paris", ((2, (("y", B),)),))
    histories.damage("x", A, B)
    histories.damage("x", B, C)
    histories.damage("x", C, A)  # undone by the third
    histories.damage("y", B, C)
    again = Histories(histories.state())

    assert [again.undamaged("x", held) for held in (A, B, C, None)] == [A, A, A, None]
    assert [again.undamaged("y", held) for held in (A, B, C)] == [A, B, B]


def test_the_newest_commit_of_a_value_is_found_in_one_history():
    histories = joined()
    for number, value in enumerate((b"v", b"w", b"v", b"")):
        histories.add("paris", ((number, ((str(number), A),)),), value)
    histories.continue_alone("tokyo", holding({"0": A, "1": A}))
    histories.add("paris", ((5, (("5", A),)),), b"w")
    own = histories.history_of("tokyo")
    assert histories.newest_of(own, frozenset([b"v", b"w", b"x"])) == {b"v": 0, b"w": 1}
    histories.add("tokyo", ((1, (("6", A),)),), b"v")

    assert histories.newest_of(own, frozenset([b"v"])) == {b"v": 5}


def test_what_was_made_and_removed_again_and_never_arrived_is_no_part_of_what_goes_on():
    histories = joined()
    for changes in ((("mounts", A),), (("x", A),), (("mounts", B), ("x", None)), (("y", A),)):
        histories.add("paris", ((1, changes),))
    held = {"y": A}

    assert histories.continue_alone("tokyo", holding(held)) == Continued(0, 4, frozenset([0, 2]))
    histories.wipe("lima")
    histories.follow("lima", "tokyo")
    assert histories.continue_alone("lima", holding(held)) == Continued(2, 4, frozenset())


def test_what_a_later_one_that_lasts_has_left_is_a_part_of_what_goes_on():
    histories = joined()
    for changes in ((("x", A), ("y", A)), (("x", B),), (("x", C),), (("y", None),)):
        histories.add("paris", ((1, changes),))
    histories.continue_alone("tokyo", holding({"x": C}))

    assert histories.histories[histories.history_of("tokyo")].inherited == (Inherited(0, 4, frozenset()),)


def test_who_follows_a_history_or_went_on_with_some_of_it_may_hold_something_of_it():
    histories = joined()
    histories.history_of("lima")
    histories.add("paris", ((1, (("x", A),)),))
    assert [histories.holds_any(name, 0) for name in ("paris", "tokyo", "lima", "oslo")] == [True, True, False, False]
    histories.continue_alone("tokyo", holding({"x": A}))

    assert histories.holds_any("tokyo", 0)
