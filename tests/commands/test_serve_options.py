"""What serve takes: on its command line, in a file, and not together."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from labkit.commands.serve_options import FLAGS, READERS, add_arguments, judge_together, read_config


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return read_config(parser.parse_args(arguments))


def test_every_option_can_stand_in_a_file() -> None:
    assert {*READERS, *FLAGS, "config"} == set(vars(parsed()))


def test_a_file_gives_what_the_command_line_leaves_open(tmp_path: Path) -> None:
    config = tmp_path / "serve.toml"
    config.write_text('port = 8300\ntls = true\nmax-request-size = "1KiB"\nspeed = 0.5\nlab = "x"\nfips = false\n')

    given = parsed("--config", str(config), "--port", "0", "--json")

    assert (given.port, given.tls, given.json, given.fips) == (0, True, True, False)
    assert (given.max_request_size, given.speed, given.lab) == (1_024, 0.5, "x")


def test_names_are_given_several_times_and_in_a_file_as_a_list(tmp_path: Path) -> None:
    config = tmp_path / "serve.toml"
    for written, names in (('"A.example"', ["a.example"]), ('["a", "[::1]"]', ["a", "[::1]"])):
        config.write_text(f"host-name = {written}\n")
        assert parsed("--config", str(config)).host_name == names
    assert parsed("--host-name", "B", "--host-name", "192.0.2.1").host_name == ["b", "192.0.2.1"]
    for refused in (["--host-name", "a:80"], ["--max-request-size", "1025MiB"], ["--max-request-size", "999999999MiB"]):
        with pytest.raises(SystemExit):
            parsed(*refused)


def test_other_machines_control_only_what_they_can_reach() -> None:
    judge_together(parsed("--control", "--control-remote", "--allow-remote"))
    judge_together(parsed("--lab", "x", "--control-remote", "--allow-remote"))
    for refused in (["--control-remote", "--control"], ["--control-remote", "--allow-remote"]):
        with pytest.raises(ValueError, match="--control-remote goes with --allow-remote"):
            judge_together(parsed(*refused))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("host-name = 'a b'", "host-name: expected a host's name or address without a port"),
        ("host-name = [true]", "host-name: expected a text or a number, got True"),
        ("prot = 1", "expected an option, got 'prot'; there are: allow-remote, audit-dir"),
        ("config = 'x'", "expected an option, got 'config'"),
        ("port = 'x'", "port: expected a port from 0 to 65535, got 'x'"),
        ("port = true", "port: expected a text or a number, got True"),
        ("port = [1]", "port: expected a text or a number"),
        ("tls = 1", "tls: expected true or false, got 1"),
        ("edition = 'free'", "edition: expected enterprise or community, got 'free'"),
        ("speed = -1", "speed: expected a number from 0 to 1000000"),
        ("seed = 1.5", "seed: expected a whole number"),
        ("port = ", "Invalid value"),
        ("[server]\nport = 1", "expected an option, got 'server'"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    config = tmp_path / "serve.toml"
    config.write_text(text)
    with pytest.raises(ValueError, match=r"expected|Invalid") as raised:
        parsed("--config", str(config))

    assert str(config) in str(raised.value)
    assert said in str(raised.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff")
    for name in ("none", "bytes"):
        with pytest.raises(ValueError, match=name):
            parsed("--config", str(tmp_path / name))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--lab", "x", "--data", "y"], "--data goes without --lab"),
        (["--lab", "x", "--contents", "y"], "--contents goes without --lab"),
        (["--lab", "x", "--fips"], "--fips goes without --lab"),
        (["--lab", "x", "--audit-dir", "y"], "--audit-dir goes without --lab"),
        (["--lab", "x", "--service-version", "1.2.3"], "--service-version goes without --lab"),
        (["--speed", "0"], "--speed goes with --lab"),
        (["--seed", "7", "--data", "y"], "--seed goes without --data"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments: list[str], said: str) -> None:
    with pytest.raises(ValueError, match="goes") as raised:
        judge_together(parsed(*arguments))

    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    "wrong",
    [("port", "99999"), ("port", "٣"), ("speed", "nan"), ("speed", "1e3"), ("speed", "2000000"), ("seed", "1e9")],
)
def test_a_number_that_cannot_be_is_refused(wrong: tuple[str, Any]) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected"):
        READERS[wrong[0]](wrong[1])
