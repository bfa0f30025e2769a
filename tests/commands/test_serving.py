"""What serving a vault and a lab have in common: signals, TLS files, the log."""

from __future__ import annotations

import argparse
import os
import signal

import pytest

from labkit.commands import serving


def test_signals_ask_for_the_end_and_for_files_to_be_opened_again() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    reopened: list[str] = []
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 0)):
        with serving.until_stopped(lambda: reopened.append("again")) as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop.is_set()
            os.kill(os.getpid(), number)
            serving.wait(stop)
            assert stop.exit_code == code

    assert reopened == ["again", "again"]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_without_files_sighup_is_left_as_it_is() -> None:
    before = signal.getsignal(signal.SIGHUP)
    with serving.until_stopped():
        assert signal.getsignal(signal.SIGHUP) is before


def test_it_listens_on_loopback_unless_it_is_asked_for_more(capsys: pytest.CaptureFixture[str]) -> None:
    given = argparse.Namespace(allow_remote=False, max_request_size=None, control=True, cloud_port=8201)
    given.host_name, given.control_remote = ["drill.example"], False
    settings = serving.settings_of(given, None, lambda: None)

    assert (settings.host, settings.control, settings.cloud_port) == ("127.0.0.1", True, 8201)
    given.allow_remote = True
    assert serving.settings_of(given, None, lambda: None).host == "0.0.0.0"
    serving.log("a line")
    assert capsys.readouterr() == ("", "a line\n")
