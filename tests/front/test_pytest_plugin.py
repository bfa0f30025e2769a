"""With the plugin each scenario file is a test, and a failure is reported in the file's words."""

from __future__ import annotations

import ast
import math
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
import yaml

from labkit.cli import main

pytest_plugins = ["pytester"]

Vary = Callable[..., str]
Play = Callable[..., pytest.RunResult]
CHECKOUT = Path(__file__).parents[2]
QUICK = {"refusals.lab.yaml", "split-brain.lab.yaml"}
PLUGIN = CHECKOUT / "labkit" / "front" / "pytest_plugin.py"


class Keeper:
    """Keeps what an inner pytest loaded, which forgets it at its end: a class that is loaded twice is two classes."""

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}

    def pytest_unconfigure(self) -> None:
        self.modules |= {name: module for name, module in sys.modules.items() if not name.startswith("test_")}


@pytest.fixture(autouse=True)
def keeper() -> Iterator[Keeper]:
    """Set up before pytester and torn down after it, which forgets modules once more."""
    keeper = Keeper()
    yield keeper
    for name, module in keeper.modules.items():
        sys.modules.setdefault(name, module)


@pytest.fixture
def play(
    keeper: Keeper, pytester: pytest.Pytester, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> Play:
    """Run pytest over some files; the plugin is there by its entry point, or named where labkit is not installed."""
    for name in ("CI", "BUILD_NUMBER"):  # with them pytest repeats whole failures in its summary
        monkeypatch.delenv(name, raising=False)
    named = [] if pytestconfig.pluginmanager.has_plugin("labkit") else ["-p", "labkit.front.pytest_plugin"]

    def run(*arguments: str, **files: str) -> pytest.RunResult:
        for name, text in files.items():
            (pytester.path / f"{name}.lab.yaml").write_text(text, encoding="utf-8")
        return pytester.runpytest_inprocess(*named, "-p", "no:cacheprovider", *arguments, plugins=[keeper])

    return run


@pytest.mark.slow
def test_each_file_is_one_test(play: Play, vary: Vary) -> None:
    result = play("-v", one=vary(), two=vary(("lost: 0", "lost: 1")))

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["one.lab.yaml::one PASSED*", "two.lab.yaml::two FAILED*"])


def test_both_endings_are_collected(play: Play, pytester: pytest.Pytester, vary: Vary) -> None:
    (pytester.path / "one.lab.yml").write_text(vary(), encoding="utf-8")

    result = play("-v", one=vary())
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["one.lab.yaml::one PASSED*", "one.lab.yml::one PASSED*"])


def test_a_failure_is_reported_without_a_traceback(play: Play, vary: Vary) -> None:
    result = play(two=vary(("lost: 0", "lost: 1")))

    result.stdout.fnmatch_lines(
        [
            "*_ two _*",
            "A small lab: not as expected (seed 7, 10s of lab time)",
            "two.lab.yaml:15:3: of them lost: expected 1, got 0 (broken)",
            "   15 |   lost: 1",
            "      |   ^^^^",
            "the last events:",
            "to run it again: labkit run two.lab.yaml --seed 7",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_a_typo_is_reported_in_a_few_lines(play: Play, vary: Vary) -> None:
    result = play("-q", "--no-header", three=vary(("do: promote", "do: promot")))

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["three.lab.yaml:12:10: step 3, do: expected a verb, got 'promot' — did you mean 'promote'?"]
    )
    assert len(result.outlines) <= 10


def test_what_stays_unknown_fails(play: Play, vary: Vary) -> None:
    result = play(four=vary(("after: 2s", "at: 9900ms"), ("end: 10s", "end: 9900ms"), ("  primary: tokyo\n", "")))

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["A small lab: unknown *", "*step 3: promote tokyo: expected done, got 1 step not begun (unknown)"]
    )


@pytest.mark.slow
def test_an_error_of_labkits_own_shows_its_traceback(play: Play, vary: Vary, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **named: object) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr("labkit.scenario.verdict.judge", fail)
    result = play(five=vary())

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*RuntimeError: a bug of ours"])


def test_a_junit_file_says_seed_losses_and_digest(play: Play, pytester: pytest.Pytester, vary: Vary) -> None:
    play("--junitxml=all.xml", good=vary(), bad=vary(("lost: 0", "lost: 3")))
    tests = ElementTree.parse(pytester.path / "all.xml").iter("testcase")
    found = {test.get("name"): {row.get("name"): row.get("value") for row in test.iter("property")} for test in tests}

    for name, word in (("good", "as expected"), ("bad", "not as expected")):
        digest = found[name].pop("digest")
        assert found[name].items() >= {"seed": "7", "lost": "0", "rpo": "0s", "verdict": word}.items()
        assert digest is not None
        assert re.fullmatch("[0-9a-f]{64}", digest)


def test_other_files_are_left_alone(play: Play, pytester: pytest.Pytester, vary: Vary) -> None:
    (pytester.path / "six.yaml").write_text("not: ours")
    (pytester.path / "seven.lab").write_text("not: ours")
    pytester.makepyfile(test_eight="def test_it(): pass")

    play().assert_outcomes(passed=1)


def test_collecting_reads_no_file(play: Play) -> None:
    result = play("--collect-only", "-q", nine="not: [a scenario")

    assert "nine.lab.yaml::nine" in result.outlines
    assert result.ret == 0


MANY = (
    (
        "lab:\n",
        "seeds: 100\nmatrix:\n  latency: [1ms, 80ms]\n  lost: [0, 1]\n  exclude: [{latency: 1ms, lost: 1}]\nlab:\n",
    ),
    ("latency: 80ms}\n  c", "latency: $(matrix.latency)}\n  c"),
    ("lost: 0", "lost: $(matrix.lost)"),
)
MANY_IDS = [
    f"many[latency={latency}-lost={lost}-seeds {seeds}]"
    for latency, lost in (("1ms", 0), ("80ms", 0), ("80ms", 1))
    for seeds in ("0-49", "50-99")
]


def test_a_file_with_seeds_and_a_matrix_is_an_item_for_each_block(play: Play, vary: Vary) -> None:
    result = play("--collect-only", "-q", many=vary(*MANY))

    assert [line for line in result.outlines if "::" in line] == [f"many.lab.yaml::{name}" for name in MANY_IDS]


def test_a_block_that_fails_names_its_seeds_and_reports_the_first(play: Play, vary: Vary) -> None:
    result = play("-q", "--labkit-seeds", "2", "--junitxml=all.xml", many=vary(*MANY))

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*_ many[[]latency=80ms-lost=1-seeds 0-1[]] _*",
            "A small lab: not as expected in all 2 runs (2 seeds)",
            "seeds that are not as expected: 0, 1",
            "the first of them:",
            "A small lab: not as expected (latency: 80ms, lost: 1, seed 0, 10s of lab time)",
            "*of them lost: expected 1, got 0 (broken)",
            "to run it again: labkit run many.lab.yaml --seed 0 --only latency=80ms-lost=1",
        ]
    )


def test_what_any_run_is_to_show_is_judged_over_all_seeds_in_one_item(play: Play, vary: Vary) -> None:
    text = vary(("lab:\n", "seeds: 3\nsometimes:\n  - {primary: [paris, tokyo]}\nlab:\n"), ("end: 10s", "end: 8s"))
    result = play("-q", seen=text)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*_ seen[[]seeds 0-2[]] _*", "A small lab: not as expected over all 3 runs (3 seeds)"])
    result.stdout.fnmatch_lines(["*true in none of 3 runs *broken"])
    play("-q", "--labkit-seeds", "2", seen=text).assert_outcomes(passed=1)


def test_a_file_with_many_runs_is_read_once(play: Play, vary: Vary, monkeypatch: pytest.MonkeyPatch) -> None:
    from labkit.scenario.documents.yaml_positions import read

    seen = []

    def noted(path: str) -> object:
        seen.append(path)
        return read(path)

    monkeypatch.setattr("labkit.scenario.many.run_blocks.read", noted)
    play("-q", "--labkit-seeds", "1", many=vary(*MANY), one=vary()).assert_outcomes(passed=3, failed=1)

    assert seen == ["many.lab.yaml"]


@pytest.mark.parametrize("head", ["seeds: 0\n", "matrix: {a: []}\n", "seeds: [3\n"])
def test_runs_that_cannot_be_known_are_one_item_that_says_why(head: str, play: Play, vary: Vary) -> None:
    result = play("-v", many=vary(("lab:\n", f"{head}lab:\n")))

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["many.lab.yaml::many FAILED*", "many.lab.yaml:2:*: *expected *"])


@pytest.mark.parametrize("count", ["0", "many", "10001"])
def test_a_number_of_seeds_that_cannot_be_used_is_refused(count: str, play: Play, vary: Vary) -> None:
    assert play("--labkit-seeds", count, many=vary()).ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.slow
def test_another_repository_sees_the_same_items_and_verdicts_in_any_number_of_processes(
    tmp_path: Path, vary: Vary
) -> None:
    (tmp_path / "many.lab.yaml").write_text(vary(*MANY), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTEST_ADDOPTS": ""}
    found = []
    for processes in ("0", "2"):
        named = [] if installed_as_plugin() else ["-p", "labkit.front.pytest_plugin"]
        command = [sys.executable, "-m", "pytest", *named, "-n", processes, "--junitxml=all.xml", "-q", "many.lab.yaml"]
        subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
        tests = ElementTree.parse(tmp_path / "all.xml").iter("testcase")
        found.append(
            {
                str(test.get("name")): (
                    test.find("failure") is None,
                    {row.get("name"): row.get("value") for row in test.iter("property")},
                )
                for test in tests
            }
        )

    assert found[0] == found[1]
    assert sorted(found[0]) == sorted(MANY_IDS)
    assert [found[0][name][0] for name in MANY_IDS] == [True, True, True, True, False, False]
    assert len({found[0][name][1]["digest"] for name in MANY_IDS[:4]}) == 4


def installed_as_plugin() -> bool:
    """Whether pytest finds the plugin by itself."""
    from importlib.metadata import entry_points

    return any(point.name == "labkit" for point in entry_points(group="pytest11"))


def test_only_the_public_names_of_pytest_are_used() -> None:
    tree = ast.parse(PLUGIN.read_text())
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "pytest"
    }

    assert not any(name.startswith("_pytest") for name in imported)
    assert used <= set(pytest.__all__)


def test_the_plugin_loads_the_standard_library_and_pytest_only() -> None:
    code = (
        "import sys, pytest; had = set(sys.modules); import labkit.front.pytest_plugin;"
        "print(*{name.split('.')[0] for name in set(sys.modules) - had} - set(sys.stdlib_module_names), sep=',')"
    )
    output = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True)

    assert set(output.stdout.strip().split(",")) <= {"labkit"}


def test_a_project_without_scenario_files_loads_nothing_more(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): pass")
    code = (
        "import sys, pytest; run = lambda *more: pytest.main(['-q', '-p', 'no:cacheprovider', *more]);"
        "first = run(); had = set(sys.modules) | {'test_it'}; second = run('-p', 'labkit.front.pytest_plugin');"
        "print('loaded', first, second, *sorted(set(sys.modules) - had - set(sys.stdlib_module_names)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    output = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    *_, loaded = output.stdout.splitlines()

    assert loaded == "loaded 0 0 labkit labkit.front labkit.front.pytest_plugin labkit.places"


def test_it_is_what_the_entry_point_names() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]

    assert project["entry-points"]["pytest11"] == {"labkit": "labkit.front.pytest_plugin"}
    assert PLUGIN.is_file()


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.name, marks=[] if path.name in QUICK else pytest.mark.slow)
        for path in sorted((CHECKOUT / "scenarios" / "first").glob("*.lab.yaml"))
    ],
)
@pytest.mark.slow
def test_the_command_line_and_the_plugin_agree(path: Path, play: Play, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["run", "-q", str(path)])
    output = capsys.readouterr().out
    result = play("-q", again=path.read_text(encoding="utf-8"))

    items = math.prod(len(values) for values in (yaml.safe_load(path.read_text()).get("matrix") or {}).values())
    result.assert_outcomes(**{"passed" if code == 0 else "failed": items})
    assert "as expected" in output
    assert ("not as expected" in output) == (code == 1)


def test_the_fixtures_give_each_test_a_world_of_its_own(pytester: pytest.Pytester, play: Play) -> None:
    pytester.makepyfile(
        """
        import urllib.request
        import pytest

        TOKENS = []

        @pytest.mark.parametrize("turn", [1, 2])
        def test_vault(labkit_vault, turn):
            assert labkit_vault.list("secret/metadata").status == 404
            labkit_vault.post("secret/data/app", {"data": {"turn": turn}})
            TOKENS.append(labkit_vault.root_token)
            assert len(set(TOKENS)) == 1

        @pytest.mark.parametrize("turn", [1, 2])
        def test_server(labkit_server, labkit_vault, turn):
            labkit_vault.post("secret/data/app", {"data": {"turn": turn}})
            asked = urllib.request.Request(labkit_server + "/v1/secret/metadata/app")
            asked.add_header("X-Vault-Token", labkit_vault.root_token)
            with urllib.request.urlopen(asked) as answer:
                assert b'"current_version":1' in answer.read()

        def test_lab(labkit_lab, labkit_seed):
            assert (labkit_lab.seed, labkit_seed) == (11, 11)
            assert labkit_lab["paris"].get("sys/health").ok
        """
    )
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def labkit_seed():
            return 11
        """
    )

    play().assert_outcomes(passed=5)


def test_a_project_that_names_no_seed_has_seven(pytester: pytest.Pytester, play: Play) -> None:
    pytester.makepyfile(
        """
        def test_seed(labkit_seed):
            assert labkit_seed == 7
        """
    )

    play().assert_outcomes(passed=1)


def test_a_project_says_what_its_vaults_and_labs_are(pytester: pytest.Pytester, play: Play, vary: Vary) -> None:
    pytester.makepyfile(
        """
        import ssl
        import urllib.request

        def test_contents_and_settings(labkit_vault):
            assert labkit_vault.get("secret/data/app").data["data"] == {"user": "ada"}
            assert "+ent" not in labkit_vault.get("sys/health").body["version"]

        def test_several(labkit_vault, labkit_vaults):
            vaults = [labkit_vault, labkit_vaults(), labkit_vaults(edition="enterprise")]
            assert len({vault.root_token for vault in vaults}) == 3
            assert all(vault.get("secret/data/app").ok for vault in vaults)
            assert [vault.core.settings.edition for vault in vaults] == ["community", "community", "enterprise"]

        def test_tls(labkit_tls_server):
            context = ssl.create_default_context(cafile=labkit_tls_server.authority)
            with urllib.request.urlopen(labkit_tls_server.url + "/v1/sys/health", context=context) as answer:
                assert answer.status == 200

        def test_lab(labkit_lab):
            assert [(one.name, one.nodes) for one in labkit_lab.blueprint.clusters][0] == ("paris", 1)
            assert labkit_lab.scenario is None
        """
    )
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def labkit_settings():
            return {"edition": "community"}

        @pytest.fixture(scope="session")
        def labkit_contents():
            return {"secret/data/app": {"data": {"user": "ada"}}}

        @pytest.fixture(scope="session")
        def labkit_lab_file():
            return "small.lab.yaml"
        """
    )

    play("-k", "test_", small=vary()).assert_outcomes(passed=4, deselected=1)


def test_the_vault_of_a_session_is_reset_after_each_test(pytester: pytest.Pytester, play: Play) -> None:
    pytester.makepyfile(
        """
        import urllib.request
        import pytest

        SEEN = []

        @pytest.fixture
        def program(labkit_session_vault):
            yield labkit_session_vault
            SEEN.append(labkit_session_vault.list("secret/metadata").data["keys"])  # not reset yet

        @pytest.mark.parametrize("turn", [1, 2, 3])
        def test_program(program, turn):
            assert program.list("secret/metadata").data["keys"] == ["app"]
            program.post(f"secret/data/{turn}", {"data": {}})

        def test_it_is_one_vault_and_one_server(labkit_session_server, labkit_session_vault):
            assert SEEN == [["1", "app"], ["2", "app"], ["3", "app"]]
            labkit_session_vault.post("secret/data/x", {"data": {}})
            with urllib.request.urlopen(labkit_session_server + "/v1/sys/health") as answer:
                assert answer.status == 200
        """
    )
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def labkit_contents():
            return {"secret/data/app": {"data": {}}}
        """
    )

    play("-p", "no:randomly").assert_outcomes(passed=4)


CONTENTS = """
import pytest

@pytest.fixture(scope="session")
def labkit_contents():
    return {"secret/data/app": {"data": {"user": "ada"}}}
"""


def test_contents_are_the_same_in_each_fixture(pytester: pytest.Pytester, play: Play) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("turn", [1, 2])
        @pytest.mark.parametrize("name", ["labkit_vault", "labkit_session_vault", "labkit_vaults"])
        def test_vault(request, labkit_session_vault, name, turn):
            vault = request.getfixturevalue(name)
            vault = vault() if name == "labkit_vaults" else vault
            assert len(vault.calls) == 0
            for _ in range(2):
                assert vault.get("secret/data/app").data["data"] == {"user": "ada"}
                vault.delete("secret/metadata/app")
                vault.reset()
        """
    )
    pytester.makeconftest(CONTENTS)

    play().assert_outcomes(passed=6)


def test_contents_that_are_no_mapping_are_refused_in_a_sentence(pytester: pytest.Pytester, play: Play) -> None:
    pytester.makepyfile("def test_vault(labkit_vault): pass")
    pytester.makeconftest(
        CONTENTS.replace('{"secret/data/app": {"data": {"user": "ada"}}}', '[("secret/data/app", {})]')
    )
    result = play()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*contents: expected a mapping of paths to the bodies that are posted there, got a list"]
    )


UNFIRED = """
    import pytest

    def test_typo(labkit_vault):
        labkit_vault.fail_next(503, path="secret/date/*")
        assert labkit_vault.get("secret/data/app").status == 404

    def test_forgotten_with(labkit_vaults):
        labkit_vaults().expect(["GET sys/health"])

    def test_of_the_session(labkit_session_vault):
        labkit_session_vault.drop_next()

    def test_fires(labkit_vault, labkit_session_vault):
        labkit_vault.fail_next(503, times=9)
        assert labkit_vault.get("secret/data/app").status == 503

    def test_fails_anyway(labkit_vault):
        labkit_vault.delay_next("2s")
        assert False, "of its own"

    def test_is_forgiven(labkit_vault):
        labkit_vault.drop_next()
        labkit_vault.reset()
"""


def test_what_was_asked_for_and_did_not_happen_fails_the_test(pytester: pytest.Pytester, play: Play) -> None:
    pytester.makepyfile(UNFIRED)
    result = play()

    result.assert_outcomes(passed=2, failed=4)
    result.stdout.fnmatch_lines(
        [
            "*_ test_typo _*",
            "this was asked for, and did not happen before the test ended:",
            "    Aim(any method secret/date/[*]: answered 503, once)",
            "*_ test_forgotten_with _*",
            "    expect(GET sys/health, …) is for a with: nothing was compared",
            "*_ test_of_the_session _*",
            "    Aim(any method [*]: no answer, dropped before, once)",
            "*_ test_fails_anyway _*",
            "E       AssertionError: of its own",
        ]
    )
    result.stdout.no_fnmatch_line("*wait 2s*")


def test_a_project_lets_aims_be_left(pytester: pytest.Pytester, play: Play) -> None:
    pytester.makepyfile(UNFIRED)
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def labkit_aims_must_fire():
            return False
        """
    )

    play().assert_outcomes(passed=5, failed=1)


def test_the_environment_names_the_vault_and_is_undone(
    pytester: pytest.Pytester, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_ADDR", "https://production.example")
    pytester.makepyfile(
        """
        import os
        import hvac

        def test_inside(labkit_environment, labkit_vault, labkit_server):
            assert labkit_environment is labkit_vault
            assert os.environ["VAULT_ADDR"] == labkit_server
            assert hvac.Client().lookup_token()["data"]["path"] == "auth/token/root"

        def test_outside():
            assert os.environ["VAULT_ADDR"] == "https://production.example"
        """
    )

    play("-p", "no:randomly").assert_outcomes(passed=2)


@pytest.mark.slow
def test_servers_with_tls_lead_to_the_vaults_of_their_fixtures(pytester: pytest.Pytester, play: Play) -> None:
    pytester.makepyfile(
        """
        import pytest
        import requests

        URLS = set()

        def asked(served, vault):
            vault.calls.clear()
            for url in (served.url, served.url.replace("localhost", "127.0.0.1")):
                answer = requests.get(url + "/v1/sys/health", verify=served.authority, timeout=9)
                assert answer.status_code == 200
            assert len(vault.calls) == 2
            URLS.add(served.url)

        @pytest.mark.parametrize("turn", [1, 2])
        def test_vault(labkit_tls_server, labkit_vault, turn):
            asked(labkit_tls_server, labkit_vault)
            assert len(URLS) == 1

        def test_session(labkit_session_tls_server, labkit_session_vault):
            asked(labkit_session_tls_server, labkit_session_vault)
            assert len(URLS) == 2
        """
    )

    play("-p", "no:randomly").assert_outcomes(passed=3)
