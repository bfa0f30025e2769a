"""With the plugin each scenario file is a test, and a failure is reported in the file's words."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

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


def test_other_files_are_left_alone(play: Play, pytester: pytest.Pytester, vary: Vary) -> None:
    (pytester.path / "six.yaml").write_text("not: ours")
    (pytester.path / "seven.lab").write_text("not: ours")
    pytester.makepyfile(test_eight="def test_it(): pass")

    play().assert_outcomes(passed=1)


@pytest.mark.parametrize("count", ["0", "many", "10001"])
def test_a_number_of_seeds_that_cannot_be_used_is_refused(count: str, play: Play, vary: Vary) -> None:
    assert play("--labkit-seeds", count, many=vary()).ret == pytest.ExitCode.USAGE_ERROR


def installed_as_plugin() -> bool:
    """Whether pytest finds the plugin by itself."""
    from importlib.metadata import entry_points

    return any(point.name == "labkit" for point in entry_points(group="pytest11"))


@pytest.mark.parametrize("name", ["pytest_plugin.py", "scenario_items.py"])
def test_only_the_public_names_of_pytest_are_used(name: str) -> None:
    tree = ast.parse((PLUGIN.parent / name).read_text())
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
            "this was asked for, and did not happen before the end:",
            "    Aim(any method secret/date/[*]: answered 503, once)",
            "*_ test_forgotten_with _*",
            "    expect(GET sys/health, …) is for a with: nothing was compared",
            "*_ test_of_the_session _*",
            "    Aim(any method [*]: no answer, dropped before, once)",
            "*_ test_fails_anyway _*",
            "E       AssertionError: of its own",
            "*- Captured labkit call -*",
            "    Aim(any method [*]: wait 2s before, once)",
        ]
    )


RAISED = """
    import urllib.error
    import urllib.request

    def test_other_writer(labkit_vault, labkit_server):
        def check():
            assert labkit_vault.get("secret/data/app").status == 200

        labkit_vault.before_next(check)
        try:
            urllib.request.urlopen(labkit_server + "/v1/sys/health")
        except urllib.error.HTTPError as error:
            assert error.code == 500
"""


@pytest.mark.slow
def test_what_was_raised_behind_a_door_fails_the_test(pytester: pytest.Pytester, play: Play) -> None:
    fails = 'assert labkit_vault.get("secret/data/app").status == 200'
    pytester.makepyfile(test_a=RAISED, test_b=RAISED.replace(fails, "import pytest; pytest.fail('by name')"))
    result = play("-p", "no:randomly")

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*> *assert labkit_vault.get*", "E *assert 404 == 200", "E *Failed: by name"])


def test_a_vault_that_is_asked_for_by_its_name_is_reset_and_judged_too(pytester: pytest.Pytester, play: Play) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(params=["labkit_session_vault", "labkit_module_vault"])
        def vault(request):
            return request.getfixturevalue(request.param)

        @pytest.mark.parametrize("turn", [1, 2])
        def test_it_is_empty(vault, turn):
            assert vault.get("secret/data/left").status == 404
            vault.post("secret/data/left", {"data": {}})

        def test_typo(vault):
            vault.fail_next(503, path="secret/date/*")
        """
    )

    play().assert_outcomes(passed=4, failed=2)


def test_a_module_may_say_its_own_seed_to_vaults_with_a_port(pytester: pytest.Pytester, play: Play) -> None:
    pytester.makepyfile(
        """
        import labkit
        import pytest

        @pytest.fixture(scope="module")
        def labkit_seed():
            return 11

        def test_server(labkit_server, labkit_vault, labkit_tls_server, labkit_environment):
            assert labkit_vault.root_token != labkit.Vault.dev(seed=7).root_token
        """
    )

    play().assert_outcomes(passed=1)


def test_machines_and_files_that_were_kept_are_there_after_each_reset(pytester: pytest.Pytester, play: Play) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="session", autouse=True)
        def started(labkit_session_vault):
            vault = labkit_session_vault
            vault.post("auth/cloud/role/web", {"bound_resource_groups": ["web"]})
            assert vault.cloud.vm("web-1").login(vault, role="web").ok
            vault.files.write("/ca.pem", b"made")
            vault.keep_for_reset()

        @pytest.mark.parametrize("turn", [1, 2])
        def test_login(labkit_session_vault, turn):
            vault = labkit_session_vault
            assert vault.cloud.vm("web-1").login(vault, role="web").ok
            assert vault.files.names() == ("/ca.pem",)
            vault.files.write("/mine.pem", b"")
            vault.keystore.generate("mine", "CKM_RSA_PKCS", 2048)
        """
    )

    play().assert_outcomes(passed=2)


def test_a_test_that_is_run_again_is_judged_by_its_last_run(pytester: pytest.Pytester, play: Play) -> None:
    pytester.makeconftest(
        """
        import pytest
        from _pytest.runner import runtestprotocol

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_protocol(item, nextitem):
            runtestprotocol(item, nextitem=nextitem, log=False)
            item._initrequest()
            for report in runtestprotocol(item, nextitem=nextitem, log=False):
                item.ihook.pytest_runtest_logreport(report=report)
            return True
        """
    )
    pytester.makepyfile(
        """
        RUNS = []

        def test_flaky(labkit_vault):
            RUNS.append(1)
            labkit_vault.fail_next(503)
            assert len(RUNS) > 1
            labkit_vault.get("sys/health")
        """
    )

    play().assert_outcomes(passed=1)


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


def test_a_module_has_a_vault_of_its_own_contents(pytester: pytest.Pytester, play: Play) -> None:
    text = """
        import urllib.request
        import pytest

        @pytest.fixture(scope="module")
        def labkit_contents():
            return {"secret/data/NAME": {"data": {}}}

        @pytest.fixture(scope="module")
        def started(labkit_module_vault, labkit_module_server):
            labkit_module_vault.post("secret/data/made-once", {"data": {}})
            labkit_module_vault.keep_for_reset()
            return labkit_module_server

        @pytest.mark.parametrize("turn", [1, 2])
        def test_program(started, labkit_module_vault, turn):
            assert labkit_module_vault.list("secret/metadata").data["keys"] == ["NAME", "made-once"]
            asked = urllib.request.Request(started + "/v1/secret/data/x", b'{"data": {}}')
            asked.add_header("X-Vault-Token", labkit_module_vault.root_token)
            urllib.request.urlopen(asked).close()
        """
    pytester.makepyfile(test_a=text.replace("NAME", "app"), test_b=text.replace("NAME", "bar"))

    play("-p", "no:randomly").assert_outcomes(passed=4)


@pytest.mark.parametrize("scope", ["session", "module"])
def test_a_vault_is_reset_also_where_another_fixture_fails_at_its_end(
    pytester: pytest.Pytester, play: Play, scope: str
) -> None:
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.fixture
        def broken(labkit_{scope}_vault):
            yield labkit_{scope}_vault
            raise RuntimeError("at its end")

        def test_first(broken):
            broken.post("secret/data/app", {{"data": {{}}}})

        def test_second(labkit_{scope}_vault):
            assert labkit_{scope}_vault.get("secret/data/app").status == 404
        """
    )

    play("-p", "no:randomly").assert_outcomes(passed=2, errors=1)
