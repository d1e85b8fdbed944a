"""The reference pages are as the code is."""

import pytest

from tests import golden, reference


@pytest.mark.parametrize("name", reference.pages())
def test_the_page_is_as_the_code_is(name):
    golden.check(reference.FOLDER / name, reference.pages()[name])


def test_there_is_no_other_page():
    assert {path.name for path in reference.FOLDER.iterdir()} == set(reference.pages())
