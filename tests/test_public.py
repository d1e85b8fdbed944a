"""The public interface of both packages: what it has, what its types say, what a consumer gets."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import harness
import oracle
from harness.cli.gradescope import wheel
from tests import consumer
from tests.documents import DOCUMENTS, RECIPES, ROOT, blocks, read
from tests.harness import small_class
from tests.harness.small_class import CLASS

PAGE = read(ROOT / "docs" / "library.md")
PACKAGES = {"harness": harness, "oracle": oracle}
USERS = [path for path in DOCUMENTS if blocks(read(path), "python") and path != RECIPES]


def stub(package):
    """Return what the stub of a package says: its ``__all__``, and where each name is from."""
    tree = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {
        one.asname or one.name: (node.module, one.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
    (listed,) = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    return ast.literal_eval(listed), homes


@pytest.mark.parametrize("package", [harness, oracle], ids=lambda one: one.__name__)
def test_the_types_are_those_of_what_there_is(package):
    listed, homes = stub(package)
    assert set(listed) == set(package.__all__) == set(homes)
    for name, (home, own) in homes.items():
        module = import_module(home)
        meant = import_module(f"{home}.{own}") if module is package else getattr(module, own)
        assert getattr(package, name) is meant, name
    assert (Path(package.__file__).parent / "py.typed").exists()


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'harness' has no attribute 'rum'"):
        _ = harness.rum
    assert set(harness.__all__) <= set(dir(harness))


# "None" in sys.modules: as if it were not installed.
_WITHOUT_EXTRAS = """
import sys
sys.modules |= dict.fromkeys(("httpx", "jinja2", "markupsafe", "sqlalchemy"))
from harness import *
try:
    Client("https://tests.example.org", "gtph_")
except UsageError as error:
    print(error)
"""


@pytest.mark.processes
def test_all_names_can_be_imported_without_extras():
    """``import *``, tools that list names, and the documentation, which has no httpx."""
    words = [sys.executable, "-c", _WITHOUT_EXTRAS]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Client needs httpx: pip install ")


def test_every_error_that_is_public_is_a_harness_error():
    errors = [name for name in harness.__all__ if name.endswith("Error")]
    assert all(issubclass(getattr(harness, name), harness.HarnessError) for name in errors)


def list_used(source):
    """Return the names that a program takes from both packages, and the modules it enters."""
    names, entered = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            entered |= {node.module} - set(PACKAGES)
            names |= {(node.module, one.name) for one in node.names}
        elif isinstance(node, ast.Import):
            entered |= {one.name for one in node.names if one.name.split(".")[0] in PACKAGES}
            entered -= set(PACKAGES)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names |= {(node.value.id, node.attr)} if node.value.id in PACKAGES else set()
    return names, entered


@pytest.mark.parametrize("path", [*USERS, Path(consumer.__file__)], ids=lambda one: one.name)
def test_documents_and_the_consumer_use_public_names_only(path):
    text = read(path)
    sources = [text] if path.suffix == ".py" else blocks(text, "python")
    for names, entered in map(list_used, sources):
        assert entered == set()
        assert {name for of, name in names if name not in PACKAGES[of].__all__} == set()


def test_methods_that_the_page_names_are_of_public_classes():
    named = set(re.findall(r"`([A-Z]\w+)\.\w+\(", PAGE))
    assert named
    assert named <= {*harness.__all__, *oracle.__all__}


@pytest.mark.processes
def test_a_consumer_runs_case_files():
    found = consumer.verdicts("gtp-oracle gtp", ["@go-scoring/komi"])
    assert found == {harness.Verdict.PASSED: 4}


@pytest.mark.processes
def test_a_consumer_grades_a_class(tmp_path):
    """Twice: the second time all is in the ledger."""
    room = small_class.make(tmp_path, CLASS[2:3])
    for _ in range(2):
        found = consumer.marks(str(room / "counting"), room / "submissions", room / "graded")
        assert found == {"wrongcyd_100": "4 of 5", "emptyivy_101": "0 of 5"}, found


def test_a_consumer_asks_the_oracle(tmp_path):
    board = tmp_path / "board.txt"
    board.write_text("0 1\n1 1\n")
    assert consumer.score(str(board)).endswith("The score is B+3.5.")


@pytest.mark.slow
@pytest.mark.processes
def test_mypy_has_nothing_to_say_to_a_consumer_of_the_wheel(tmp_path):
    """A checker that finds no types in what is installed says so."""
    name, content = wheel()
    (tmp_path / name).write_bytes(content)
    (tmp_path / "consumer.py").write_text(Path(consumer.__file__).read_text())
    for number, recipe in enumerate(blocks(PAGE, "python")):
        (tmp_path / f"recipe_{number}.py").write_text(recipe)
    python = tmp_path / "venv" / "bin" / "python"
    install = ["-m", "pip", "--python", str(python), "install", "-q", str(tmp_path / name)]
    programs = sorted(path.name for path in tmp_path.glob("*.py"))
    mypy = ["-m", "mypy", "--strict", "--python-executable", str(python), *programs]
    for words in (["-m", "venv", "--without-pip", str(tmp_path / "venv")], install, mypy):
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
