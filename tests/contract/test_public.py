"""What programs import and what teachers write: public names, keys of assignment.toml."""

from __future__ import annotations

import inspect
import tomllib
from datetime import datetime
from fractions import Fraction
from pathlib import Path

import pytest

import harness
import oracle
from tests.contract.product import check, dump


def describe(one: object, public: set[str]) -> object:
    """Return what a name is: the parameters of a function, the fields or members of a record."""
    if inspect.isclass(one):
        if issubclass(one, BaseException):
            return f"an error: {[base.__name__ for base in one.__mro__ if is_told(base, public)]}"
        if fields := getattr(one, "_fields", None):
            defaults = one._field_defaults
            return [f"{name}{' = …' if name in defaults else ''}" for name in fields]
        if members := getattr(one, "__members__", None):
            return {name: str(member.value) for name, member in members.items()}
        return sorted(name for name in vars(one) if not name.startswith("_"))
    if inspect.isfunction(one):
        return [describe_parameter(item) for item in inspect.signature(one).parameters.values()]
    if inspect.ismodule(one):
        own = inspect.getmembers(one, inspect.isfunction)
        return [name for name, value in own if name[0] != "_" and value.__module__ == one.__name__]
    return repr(one)


def is_told(base: type, public: set[str]) -> bool:
    """Whether a base of an error is one that others know."""
    return base.__name__ in public or base.__module__ == "builtins"


def describe_parameter(one: inspect.Parameter) -> str:
    is_plain = isinstance(one.default, str | int | float | tuple | None)
    default = repr(one.default) if is_plain else "…"
    by_name = "" if one.kind is one.POSITIONAL_OR_KEYWORD else f" ({one.kind.description})"
    return f"{one.name}{'' if one.default is one.empty else f' = {default}'}{by_name}"


@pytest.mark.parametrize("package", [harness, oracle], ids=lambda one: one.__name__)
def test_public_names(package):
    public = sorted(package.__all__)
    found = {name: describe(getattr(package, name), set(public)) for name in public}
    check(f"public/{package.__name__}.json", dump(found))


# --- assignment.toml ---------------------------------------------------------------------------

# Every key, with a value that it takes.
WHOLE = """\
title = "Whole"
specification = "go-scoring"
does_not_run = 0.5
translate = "words.toml"

[archive]
name = "a1.tgz"
folder = "assignment1"

[files]
required = ["Go1.py"]
allowed = ["*.py"]
left_out = ["*.pyc"]
forbidden = ["util/"]
log = "presubmission.log"

[build]
steps = ["make"]
makes = ["go"]
time = 60.5
memory = 1048576
output = 1024
needs = ["make"]
files = ["Makefile"]

[engine]
command = "python3 {folder}/Go1.py"
overlay = "util"
packages = ["numpy==2.0.0"]
needs = ["python3"]
starts_in = "cases"

[cases]
public = ["*.gtp"]
private = ["private/*.gtp"]
private_visible = "everything"
restart = false

[limits]
timeout = 1
startup = 2
file = 3
total = 4
max_output = 5
max_total_output = 6
quit = 7
max_stderr = 8
memory = 9
address_space = 10
cpu = 11
processes = 12
threads = 13
open_files = 14
scratch = 15
scratch_files = 16
file_size = 17

[[marks]]
name = "public"
points = 2.5
judged_by = "public"
rule = "share"
weights = { "a.gtp:10" = 0.5 }
commands = ["score"]

[[marks]]
name = "private"
points = 1
judged_by = "private"
rule = "all"

[late]
deadline = 2026-01-29T23:55:00
refused_after = 2026-02-01T23:55:00
deduction = 20
grace_minutes = 5
"""


# Of a game of one's own: each of its tables.
DECLARED = """\
[reference]
command = "python3 nogo.py"

[game]
sizes = [2, 3]

[game.over]
ask = "winner"
is = "black"

[[command]]
name = "winner"

[[wrong]]
command = "python3 wrong.py"
"""


def tables(value, name=""):
    """Yield each table of a document, with its name."""
    yield name, value
    for key, one in value.items():
        for table in one if isinstance(one, list) else [one]:
            if isinstance(table, dict) and key != "weights":
                yield from tables(table, f"{name}{key}.")


def test_every_key_is_read(tmp_path):
    (tmp_path / "assignment.toml").write_text(WHOLE)
    (tmp_path / "words.toml").write_text('[names]\nscore = "final_score"\n')
    (tmp_path / "a.gtp").write_text("boardsize 2\n10 score\n#? [0]\n")
    found = harness.find_assignment(str(tmp_path))
    text = dump(values(found)).replace(str(tmp_path), "FOLDER").replace(tmp_path.name, "NAME")
    check("public/assignment.json", text)


def values(one: object) -> object:
    """Return what was read, without the names of fields; what is no plain value is left out."""
    if isinstance(one, list | tuple):
        return [values(part) for part in one]
    if isinstance(one, dict):
        return {str(key): values(part) for key, part in one.items()}
    is_plain = isinstance(one, str | int | float | Path | Fraction | datetime | None)
    return str(one) if is_plain else "…"


TABLES = [(text, name) for text in (WHOLE, DECLARED) for name, _ in tables(tomllib.loads(text))]


@pytest.mark.parametrize(("text", "name"), TABLES, ids=[name or "top" for _, name in TABLES])
def test_a_key_that_there_is_not_is_told(text, name, tmp_path):
    """In whichever table; with all keys that there are."""
    head = next((one for one in (f"[{name[:-1]}]\n", f"[[{name[:-1]}]]\n") if one in text), "")
    changed = text.replace(head, f"{head}nothing = 1\n", 1) if name else f"nothing = 1\n{text}"
    (tmp_path / "assignment.toml").write_text(changed)
    (tmp_path / "nogo.py").touch()
    with pytest.raises(harness.AssignmentError) as told:
        harness.find_assignment(str(tmp_path))
    said = str(told.value).replace(str(tmp_path), "FOLDER")
    check(f"public/keys-{name.strip('.') or 'top'}.txt", f"{said}\n")
