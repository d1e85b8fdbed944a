"""The reference pages are as the code is."""

import sys

import pytest

from harness.assignments import assignment
from tests import golden, reference

# From 3.13 on, argparse prints the two names of an option in another way.
SAME_EVERYWHERE = reference.pages().keys() - (
    {"commands.md"} if sys.version_info >= (3, 13) else {}
)


@pytest.mark.parametrize("name", sorted(SAME_EVERYWHERE))
def test_the_page_is_as_the_code_is(name):
    golden.check(reference.FOLDER / name, reference.pages()[name])


def test_there_is_no_other_page():
    assert {path.name for path in reference.FOLDER.iterdir()} == set(reference.pages())


# Keys at the top that are not tables, and one whose keys depend on the adapter.
NOT_TABLES = {"title", "specification", "extends", "does_not_run", "translate", "adapter"}


def test_every_table_has_its_keys():
    tables = {name.strip("[]").partition(".")[0] for name in reference._TABLES if name}
    assert tables == assignment._SCHEMA.keys() - NOT_TABLES
