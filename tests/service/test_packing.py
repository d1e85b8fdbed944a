"""Folders that are submitted without having been packed."""

import io
import tarfile

import pytest
from starlette.datastructures import UploadFile

from harness.core.errors import UsageError
from harness.service.pages import forms
from tests.harness import small_class
from tests.service.serving import KINDS, Browser, make_course, open_service, settings_of, work

PACKED = [
    (["a1/engine.py", "a1/readme.txt"], ["engine.py", "readme.txt"]),
    (["engine.py", "readme.txt"], ["engine.py", "readme.txt"]),
    (["a1/engine.py", "a1/util/x.py"], ["engine.py", "util/x.py"]),
    (["engine.py", "util/x.py"], ["engine.py", "util/x.py"]),
    (["util/x.py", "lib/y.py"], ["lib/y.py", "util/x.py"]),
    (["a1/engine.py", "a1/.git/config", "a1/__pycache__/e.pyc", ".DS_Store"], ["engine.py"]),
    (["a1\\engine.py"], ["engine.py"]),
]


def pack(names):
    target = io.BytesIO()
    loose = [UploadFile(io.BytesIO(n.encode()), size=len(n), filename=n) for n in names]
    forms.pack(loose, "assignment1", target)
    return target.getvalue()


@pytest.mark.parametrize(("names", "expected"), PACKED)
def test_what_is_packed(names, expected):
    with tarfile.open(fileobj=io.BytesIO(pack(names))) as tar:
        assert tar.getnames() == [f"assignment1/{name}" for name in expected]
        content = {tar.extractfile(one).read().decode().replace("\\", "/") for one in tar}
    assert content <= {name.replace("\\", "/") for name in names}
    assert pack(names) == pack(names[::-1])


@pytest.mark.parametrize(
    "names", [[], [".git/config"], ["../x"], ["/etc/x"], ["a/../../x"], ["a" * 201]]
)
def test_what_is_not_packed(names):
    with pytest.raises(UsageError):
        pack(names)


@pytest.mark.processes
@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_is_submitted_as_an_archive_is(kind, tmp_path, request, counting):
    with open_service(settings_of(kind, request, tmp_path / "data")) as service:
        course = make_course(service, "student\nada\n", deadline="2999-01-01T00:00")
        ada = Browser(service).enter(course.links["ada"])
        engine = small_class.ENGINE.format(body="return 2 * n").encode()
        files = [
            ("files", ("mine/engine.py", engine)),
            ("files", ("mine/readme.txt", b"Me.\n")),
            ("files", ("mine/.git/HEAD", b"ref")),
        ]
        page = ada.post(f"{course.assignment}/uploads", course.assignment, files)
        assert page.status_code == 200 and "a1.tgz" in page.text
        work(service)
        assert "4 passed" in ada.get(page.url.path).text
        empty = [("file", ("", b"")), ("files", ("", b""))]
        answer = ada.post(f"{course.assignment}/uploads", course.assignment, empty)
        assert answer.status_code == 422 and "hoose an archive or a folder first" in answer.text
        both = [
            ("file", ("old.tgz", b"x")),
            *files,
        ]  # the folder was left out, and nothing said so
        answer = ada.post(f"{course.assignment}/uploads", course.assignment, both)
        assert answer.status_code == 422 and "an archive or a folder, not both" in answer.text
