"""The read log: versions and readings in order, plain and shared when saved."""

from __future__ import annotations

from labkit.lab.records.read_log import AnsweredRead, ReadLog, VersionMade, VersionsHidden
from labkit.lab.wire.seen_versions import HiddenVersions, SeenVersion

SEEN = SeenVersion("secret/data/a", 2, "then")


def test_it_keeps_what_was_made_and_read():
    log = ReadLog()
    log.make(7, SEEN)
    log.read((1, 2), ("shop-1", "paris"), SEEN, (0, 8))

    assert list(log.versions) == [VersionMade(7, "secret/data/a", 2, "then")]
    assert list(log.reads) == [AnsweredRead(1, 2, "shop-1", "paris", "secret/data/a", 2, "then", 0, 8)]
    assert repr(log) == "ReadLog(1 reads of 1 versions)"


def test_its_state_is_plain_and_brings_it_back():
    log = ReadLog()
    log.make(7, SEEN)
    again = ReadLog(log.state())
    again.make(9, SEEN)
    again.hide(11, HiddenVersions("secret/data/a", (2,), True))

    assert log.state() == {"versions": (((7, "secret/data/a", 2, "then"),),), "reads": ()}
    assert list(ReadLog(again.state()).hidden) == [VersionsHidden(11, "secret/data/a", (2,), True)]
    assert [made.commit for made in again.versions] == [7, 9]
    assert len(log.versions) == 1


def test_a_reading_of_an_earlier_version_of_the_log_showed_data():
    earlier = {"reads": (((1, 2, "shop-1", "paris", "secret/data/a", 2, "then", 0, 8),),)}

    assert ReadLog(earlier).reads[0].with_data
