"""What holds of the service holds on SQLite and on PostgreSQL: each of its tests runs on both.

It is read from their text: a test that opens a service, by itself or by what it asks for, does so
with every kind of database.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.postgresql import USER
from tests.service.serving import KINDS, open_service, settings_of

HERE = Path(__file__).parent
OPENERS = {"open_service", "Database", "Service", "settings_of", "Running"}
BOTH = {"KINDS", "KINDS_AT_LENGTH"}  # a part of them, as ``KINDS[:1]``, is not both
SERVER = "postgresql"
_WORDS = "the provider's words are judged before anything is read or written"
_FILE = "a backup is files, whatever the service's database is"
_SETTINGS = "no database is opened"
# Tests on one database alone, with the reason.
ALONE = {
    "test_backup::test_a_backup_in_which_a_row_was_edited_does_not_hold": _FILE,
    "test_backup::test_a_spoiled_backup_is_refused_and_nothing_is_made": _FILE,
    "test_backup::test_a_backup_is_for_its_owner_alone": _FILE,
    "test_backup::test_what_is_there_is_not_written_over": _FILE,
    "test_limits_of_people::test_no_honest_student_meets_the_limits": _SETTINGS,
    "test_logs::test_lines_of_a_log_that_cannot_be_written_are_lost_and_nothing_else":
        "the log is files, and what is asked for reads no database",
    "test_logs::test_the_password_of_a_database_is_not_in_the_log":
        "the database is taken away, and the address of a server is in its place",
    "test_mail::test_nothing_is_said_in_the_clear_to_another_machine": _SETTINGS,
    "test_mail::test_one_signs_in_on_an_encrypted_connection_alone":
        "what the mail server and we say to each other; that mails wait is shown on both",
    "test_mail::test_settings_name_a_server": _SETTINGS,
    "test_mail::test_without_a_name_for_the_server_there_is_none": _SETTINGS,
    "test_oidc::test_a_provider_that_says_something_else_of_itself_is_not_used": _WORDS,
    "test_oidc::test_a_token_that_another_key_signed_lets_nobody_in": _WORDS,
    "test_oidc::test_a_token_that_does_not_hold_lets_nobody_in": _WORDS,
    "test_oidc::test_a_token_without_a_claim_lets_nobody_in": _WORDS,
    "test_oidc::test_an_address_that_is_not_verified_is_nobodys": _WORDS,
    "test_oidc::test_without_a_provider_there_is_no_such_way":
        "a route is there or not; no database is asked",
    "test_storage::test_who_waits_too_long_for_its_turn_is_told":
        "a server lets threads write at once; that they take turns is shown on both",
    "test_operating::test_a_damaged_database_and_a_lost_key":
        "a file is damaged; a server that is away is the test after it",
    "test_operating::test_a_database_that_is_gone_is_told_to_anybody_without_its_name":
        "the file is removed; the answer is the same for a server that is away",
    "test_operating::test_a_server_that_is_not_there_and_its_password_is_not_told":
        "a server is away; a file that cannot be used is the test of a damaged one",
    "test_queue::test_a_machine_whose_clock_is_wrong_takes_no_lease_and_keeps_none":
        "a file is on one machine, which has one clock",
}  # fmt: skip


class Module(NamedTuple):
    """The text of a module of tests: its functions, and what is assigned in it."""

    functions: dict[str, ast.FunctionDef]
    values: dict[str, ast.expr]

    @classmethod
    def read(cls, text: str) -> "Module":
        body = ast.parse(text).body
        return cls(
            {one.name: one for one in body if isinstance(one, ast.FunctionDef)},
            {
                target.id: one.value
                for one in body
                if isinstance(one, ast.Assign)
                for target in one.targets
                if isinstance(target, ast.Name)
            },
        )

    def tests(self) -> list[str]:
        return [name for name in self.functions if name.startswith("test_")]

    def used(self, name: str) -> set[str]:
        """Return a function, the fixtures it asks for, and what these and it call, of here."""
        found, left = set(), [name]
        while left:
            function = self.functions[left.pop()]
            found.add(function.name)
            asks = function.name.startswith("test_") or function.decorator_list  # for fixtures
            named = {one.arg for one in function.args.args} if asks else set()
            named |= set(_list_calls(function))
            left += (named & set(self.functions)) - found
        return found

    def opens(self, name: str) -> bool:
        """Whether a test makes a service, or the tables of one."""
        used = [self.functions[one] for one in self.used(name)]
        return any(one in OPENERS for function in used for one in _list_calls(function))

    def is_on_both(self, name: str) -> bool:
        """Whether a test takes every kind of database: by its own word, or by its fixtures'."""
        own = [one for one in map(self._says, self.functions[name].decorator_list) if one]
        if own:
            return "both" in own
        used = [self.functions[one] for one in self.used(name) - {name}]
        return any(
            self._says(one) == "both" for function in used for one in function.decorator_list
        )

    def _says(self, decorator: ast.expr) -> str:
        """Return ``both`` or ``one`` of a decorator that names kinds of databases."""
        values = decorator.args + [one.value for one in decorator.keywords] if isinstance(
            decorator, ast.Call) else []  # fmt: skip
        if any(isinstance(one, ast.Name) and one.id in BOTH for one in values):
            return "both"
        texts = {one for value in values for one in self._texts(value)}
        if SERVER in texts:
            return "both"
        return "one" if texts & {"sqlite", *BOTH} else ""

    def _texts(self, value: ast.expr) -> Iterator[str]:
        """Yield the strings and the names of a value, and those of what is assigned to a name."""
        for node in ast.walk(value):
            if isinstance(node, ast.Constant):
                yield str(node.value)
            if isinstance(node, ast.Name):
                yield node.id
                if node.id in self.values:
                    yield from self._texts(self.values[node.id])


def _list_calls(function: ast.FunctionDef) -> Iterator[str]:
    calls = (one.func for one in ast.walk(function) if isinstance(one, ast.Call))
    return (one.id for one in calls if isinstance(one, ast.Name))


def alone(module: Module) -> list[str]:
    """Return the tests of a module that open a service on one database."""
    return [one for one in module.tests() if module.opens(one) and not module.is_on_both(one)]


def test_every_test_that_opens_a_service_does_so_on_both_databases():
    modules = {path.stem: Module.read(path.read_text()) for path in HERE.glob("test_*.py")}
    found = {f"{name}::{one}" for name, module in modules.items() for one in alone(module)}
    assert found == set(ALONE)


SHARED = """
@pytest.fixture(params=KINDS)
def kind(request): return request.param
@pytest.fixture
def settings(kind): return settings_of(kind)
@pytest.fixture
def service(settings): yield open_service(settings)
def helper(settings): open_service(settings)
def put(kind): return kind
"""
# With whether the test is on one database alone.
TESTS = [
    ("def test_a(service): pass", False),
    ("def test_a(kind): open_service(kind)", False),
    ("def test_a(): open_service(settings_of('sqlite', None, x))", True),
    ("def test_a(): helper(1)", True),
    ("def test_a(): settings = settings_of(1); put(settings)", True),
    ("def test_a(): read('x')", False),
    ("@pytest.mark.parametrize('kind', KINDS)\ndef test_a(kind): Database(kind)", False),
    ("@pytest.mark.parametrize('kind', KINDS[:1])\ndef test_a(kind): Database(kind)", True),
    ("@pytest.mark.parametrize('kind', ['sqlite'])\ndef test_a(kind): open_service(kind)", True),
    ("@pytest.mark.parametrize('kind', ALL)\ndef test_a(kind): open_service(kind)", False),
    (
        "@pytest.mark.parametrize('settings', KINDS[:1], indirect=True)\n"
        "def test_a(service): pass",
        True,
    ),
    ("@pytest.mark.parametrize('word', [1])\ndef test_a(service, word): pass", False),
]


@pytest.mark.parametrize(("text", "is_alone"), TESTS)
def test_the_reader_of_tests(text, is_alone):
    module = Module.read(f"ALL = ['sqlite', 'postgresql']\n{SHARED}\n{text}")
    assert alone(module) == (["test_a"] if is_alone else [])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("has_tables", [True, False])
def test_two_services_of_one_test_have_databases_of_their_own(kind, has_tables, request, tmp_path):
    for number in range(2):
        settings = settings_of(kind, request, tmp_path / str(number), has_tables=has_tables)
        assert (f"//{USER}:" in settings.database) == (kind == "postgresql")
        with open_service(settings) as service, service.database.reading() as db:
            assert [*service.database.log.entries(db)] == []
