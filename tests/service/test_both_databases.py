"""What holds of the service holds on SQLite and on PostgreSQL: its tests run on both."""

import ast
from pathlib import Path

import pytest

from tests.postgresql import USER
from tests.service.serving import KINDS, opened, settings_of

HERE = Path(__file__).parent
OPENERS = {"opened", "Database", "Service", "settings_of"}
BOTH = {"KINDS", "KINDS_AT_LENGTH"}  # a part of them, as ``KINDS[:1]``, is not both
# Modules on one database alone, with the reason.
ALONE: dict[str, str] = {}


def opens(tree):
    """Whether a module makes a service, or the tables of one."""
    called = {node.func.id for node in ast.walk(tree) if _calls(node)}
    return bool(called & OPENERS)


def is_on_both(tree):
    """Whether tests of a module, or what they share, take every kind of database."""
    return any(
        isinstance(value, ast.Name) and value.id in BOTH
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for value in (*node.args, *(one.value for one in node.keywords))
    )


def _calls(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def test_every_module_that_opens_a_service_does_so_on_both_databases():
    trees = {path.name: ast.parse(path.read_text()) for path in HERE.glob("test_*.py")}
    alone = {name for name, tree in trees.items() if opens(tree) and not is_on_both(tree)}
    assert alone == set(ALONE)


MODULES = [
    ("@pytest.fixture(params=KINDS)\ndef service(request): opened(x)", True, True),
    ("@pytest.fixture(scope='module', params=KINDS[:1])\ndef service(r): opened(x)", True, False),
    ("@pytest.mark.parametrize('kind', KINDS)\ndef test_a(kind): Database(kind)", True, True),
    ("def test_a(): opened(settings_of('sqlite', None, x))", True, False),
    ("def test_a(): read('x')", False, False),
]


@pytest.mark.parametrize(("text", "is_one", "both"), MODULES)
def test_the_reader_of_modules(text, is_one, both):
    tree = ast.parse(text)
    assert (opens(tree), is_on_both(tree)) == (is_one, both)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("has_tables", [True, False])
def test_two_services_of_one_test_have_databases_of_their_own(kind, has_tables, request, tmp_path):
    for number in range(2):
        settings = settings_of(kind, request, tmp_path / str(number), has_tables=has_tables)
        assert (f"//{USER}:" in settings.database) == (kind == "postgresql")
        with opened(settings) as service, service.database.reading() as db:
            assert [*service.database.log.entries(db)] == []
