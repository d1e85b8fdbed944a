"""TOML files are refused in the same words, whatever they are for."""

from pathlib import Path

import pytest

from harness.assignments import assignment
from harness.banks import banks
from harness.core.errors import AssignmentError
from harness.declared import declaration
from harness.engine import translation

READERS = {
    "assignment.toml": assignment.read,
    "declaration.toml": declaration.read,
    "translation.toml": lambda path: translation.read(str(path)),
    banks.FILE: lambda path: banks.read(path.parent),
}
WRONG = {
    b'title = "caf\xe9"': "is not UTF-8 text",
    b"title = 1\ntitle = 2": "is not TOML: Cannot overwrite a value",
    b"title = " + b"1" * 5000: "is not TOML: Exceeds the limit",
    b"title = " + b"[" * 5000: "is not TOML: ",
    None: "cannot be read: Is a directory",
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(("data", "reason"), WRONG.items())
def test_a_file_that_is_not_toml_is_named_with_the_reason(
    name: str, data: bytes | None, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if data is None:
        path.mkdir()
    else:
        path.write_bytes(data)
    with pytest.raises(AssignmentError) as caught:
        READERS[name](path)
    assert str(caught.value).startswith(f"{path}: {reason}")
