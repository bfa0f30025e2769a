"""A mistake is one small change, where the module says it is; what no test can see is left alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants import __main__ as mutants
from tests.mutants.__main__ import Mutant, draw, mirrored
from tests.mutants.mutations import mutate, sites


def mistakes(source: str) -> list[str]:
    return [str(mutate(source, site)) for site in sites(source)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("a < b", ["1: a < b -> (a <= b)"]),
        ("a < b == c", ["1: a < b == c -> (a <= b == c)", "1: a < b == c -> (a < b != c)"]),
        ("a is not b", ["1: a is not b -> (a is b)"]),
        ("a or b or c", ["1: a or b or c -> (a and b and c)"]),
        ("not a", ["1: not a -> (a)"]),
        ("a + b", ["1: a + b -> (a - b)"]),
        ("a | 4", ["1: a | 4 -> (a & 4)", "1: 4 -> (5)"]),
        ("a = 64", ["1: 64 -> (128)"]),
        ("a = False", ["1: False -> (True)"]),
        ("a = b if c else d", ["1: b if c else d -> (d if c else b)"]),
        ("[a for a in b if c]", ["1: [a for a in b if c] -> ([a for a in b])"]),
        ("f(a)", ["1: f(a) -> pass"]),
        ("a.b = c", ["1: a.b = c -> pass"]),
        ("a += b", ["1: a += b -> pass"]),
        ("del a[b]", ["1: del a[b] -> pass"]),
        ("raise a", ["1: raise a -> pass"]),
        ("if a:\n    f(b)", ["1: a -> (not a)", "2: f(b) -> pass"]),
        ("while a:\n    break", ["1: a -> (not a)", "2: break -> continue"]),
        ("def f():\n    return a", ["2: return a -> return None"]),
    ],
)
def test_a_mistake_is_one_change(source: str, found: list[str]) -> None:
    assert mistakes(source) == found


@pytest.mark.parametrize(
    "source",
    [
        '"""A text: 1 < 2."""',
        "assert a < 1",
        "a: Literal[1] = b",
        "def f(a: Literal[1]) -> Literal[2]: ...",
        "if TYPE_CHECKING:\n    f(1)",
        "Effect = Send | Wait",
        "Table = dict[Literal[1], int]",
        'a = "b" + c',
        'a = f"{1 < 2}"',
        "a = b\na, b = c",
        "return",
        "return None",
    ],
)
def test_what_no_test_can_see_is_left_alone(source: str) -> None:
    assert mistakes(source) == []


def test_a_mistake_keeps_the_rest_of_the_text() -> None:
    source = 'x = "ä"  # a < b\nif (a\n    < b):  # why\n    y = "ö"\n'
    (site,) = sites(source)

    assert mutate(source, site).source == 'x = "ä"  # a < b\nif ((a <= b)):  # why\n    y = "ö"\n'


@pytest.mark.parametrize("room", ["sim", pytest.param("service", marks=pytest.mark.slow)])
def test_every_mistake_in_the_package_can_be_read(room: str, checkout: Path) -> None:
    drawn = draw(checkout, room, 3, 60)

    assert len(drawn) == 60
    for module, mutation in drawn:
        ast.parse(mutation.source)
        assert mutation.source != (checkout / module).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_modules_beside_the_packages_are_a_room(checkout: Path) -> None:
    assert {module.parent for module, _ in draw(checkout, "root", 1, 60)} == {Path("labkit")}
    assert set(mutants.ROOMS) >= {"root", "service", "vault", "cloud", "sim", "lab", "doors", "proof", "views"}


@pytest.mark.slow
def test_a_seed_draws_the_same_again_and_another_draws_others(checkout: Path) -> None:
    def named(seed: int) -> list[Mutant]:
        return draw(checkout, "sim", seed, 30)

    assert named(1) == named(1)
    assert len({*named(1)} & {*named(2)}) < 10


@pytest.mark.slow
def test_a_module_is_judged_by_the_test_that_mirrors_it(checkout: Path) -> None:
    assert mirrored(Path("labkit/sim/delivery.py")) == Path("tests/sim/test_delivery.py")
    assert mirrored(Path("labkit/vault/storage/__init__.py")) == Path("tests/vault/test_storage.py")
    assert mirrored(Path("labkit/__init__.py")) == Path("tests/test_labkit.py")
    for room in mutants.ROOMS:
        drawn = draw(checkout, room, 1, 200)
        assert drawn
        assert [module for module, _ in drawn if not (checkout / mirrored(module)).is_file()] == []


@pytest.fixture
def sums(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A checkout of one package and a test that can be better."""
    (tmp_path / "labkit/sums").mkdir(parents=True)
    (tmp_path / "tests/sums").mkdir(parents=True)
    (tmp_path / "tests/conftest.py").write_text("import hypothesis\n\nhypothesis.settings.register_profile('whole')\n")
    (tmp_path / "labkit/sums/add.py").write_text("def add(a, b):\n    return a + b + 0\n")
    (tmp_path / "tests/sums/test_add.py").write_text(
        "import runpy\n\n\ndef test_add():\n    assert runpy.run_path('labkit/sums/add.py')['add'](1, 1) == 2\n"
    )
    monkeypatch.setattr(mutants, "CHECKOUT", tmp_path)
    return tmp_path


@pytest.mark.slow
def test_what_is_noticed_is_counted_and_the_rest_is_printed(sums: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (sums / "labkit/sums/add.py").read_text()

    assert mutants.main(["sums", "--count", "40"]) == 1
    assert capsys.readouterr().out.splitlines()[:-1] == [
        "survived: labkit/sums/add.py:2: a + b + 0 -> (a + b - 0)",
        "sums: 3 of 4 noticed, 75 %",
    ]
    assert (sums / "labkit/sums/add.py").read_text() == before


@pytest.mark.slow
def test_a_share_that_is_reached_is_enough(sums: Path) -> None:
    assert mutants.main(["sums", "--count", "1", "--under", "0"]) == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "def test_add():\n    assert 1 == 2, 'words\\nand more'\n",
            "tests/sums/test_add.py::test_add: AssertionError: words",
        ),
        pytest.param("import nothing\n", "::tests.sums.test_add: collection failure", marks=pytest.mark.slow),
        pytest.param("", "  status 5", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_what_fails_without_a_mistake_is_named(sums: Path, text: str, reason: str) -> None:
    (sums / "tests/sums/test_add.py").write_text(text)

    with pytest.raises(SystemExit) as refused:
        mutants.main(["sums"])
    heading, *reasons, command = str(refused.value).splitlines()
    assert heading.startswith("the tests fail without any mistake")
    assert len(reasons) == 1
    assert reason in reasons[0]
    assert command.endswith("python -m pytest tests/sums/test_add.py")


@pytest.mark.slow
def test_tests_that_do_not_end_are_stopped(sums: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (sums / "tests/sums/test_add.py").write_text("def test_add():\n    while True:\n        pass\n")
    place = mutants.Copy(sums, tmp_path_factory.mktemp("copies") / "one")

    assert place.run([Path("tests/sums/test_add.py")], 0.5) == -1


def test_a_copy_has_what_tests_read_and_nothing_that_tools_wrote(
    sums: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in (".github", ".venv", "dist"):
        (sums / name).mkdir()
    place = mutants.Copy(sums, tmp_path_factory.mktemp("copies") / "one")

    assert sorted(path.name for path in place.folder.iterdir()) == [".github", "labkit", "tests"]
