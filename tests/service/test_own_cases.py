"""Case files of an engine author's own: sent, replaced, and engines run by them."""

import argparse
import io
import tarfile

import pytest

from harness.assignments import assignment as assignments
from harness.cli import client as commands
from harness.client import Client, suite_of
from harness.service.courses import own_files
from harness.service.storage import courses
from tests.service.serving import BASE, KINDS_AT_LENGTH, work
from tests.service.test_api_submissions import Through
from tests.service.test_engine_runs import BYTES, post
from tests.service.test_suites import Author

ENGINE = b"""\
import pathlib, sys
for line in sys.stdin:
    words = line.split()
    number = words.pop(0) if words[0].isdigit() else ""
    told = "yes"
    if words[0] == "double":
        told = str(2 * int(words[1]))
    if words[0] == "loadsgf":
        told = pathlib.Path(words[1]).read_text()
    print(f"={number} {told}\\n", flush=True)
"""
CASES = {"cases/one.tst": b"10 double 4\n#? [8]\n\n20 double 5\n#? [11]\n"}
COMMAND = "python3 {folder}/engine.py"


def pack_files(files):
    """Return a tar of files, by their names."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return data.getvalue()


def send(asker, suite, files, status=200, command=COMMAND, build=""):
    data = files if isinstance(files, bytes) else pack_files(files)
    query = {"name": "cases.tar", "command": command, "build": build}
    return asker.ask("PUT", f"{suite}/cases", status, params=query, content=data, headers=BYTES)


@pytest.fixture
def ann(service):
    return Author(service, "Ann")


def bench_of(service):
    with service.database.reading() as db:
        (bench,) = courses.ASSIGNMENTS.all(db)
    return bench


@pytest.mark.processes
def test_engines_are_run_by_ones_own_case_files(service, ann):
    suite = ann.suite()
    assert send(ann, suite, CASES)["source"] == own_files.OWN
    first = post(ann, suite, pack_files({"engine/engine.py": ENGINE}))
    work(service)
    found = ann.ask("GET", f"{suite}/runs/{first['id']}")
    assert (found["state"], found["passed"], found["failed"]) == ("done", 1, 1), found
    mended = {"cases/one.tst": CASES["cases/one.tst"].replace(b"[11]", b"[10]")}
    send(ann, suite, mended)
    second = post(ann, suite, pack_files({"engine.py": ENGINE}))
    work(service)
    found = ann.ask("GET", f"{suite}/runs/{second['id']}")
    assert (found["passed"], found["failed"]) == (2, 0)
    assert [one["command"] for one in found["comparison"]["mended"]] == ["20 double 5"]


@pytest.mark.processes
def test_engines_are_built_and_see_the_files_that_tests_load(service, ann):
    suite = ann.suite()
    case = b"loadsgf games/a.sgf\n\n10 double 2\n#? [4]\n"
    send(
        ann,
        suite,
        {"x/a.gtp": case, "x/games/a.sgf": b"(;GM[1]SZ[5];B[aa])"},
        build="mv e engine.py",
    )
    post(ann, suite, pack_files({"e": ENGINE}))
    work(service)
    (found,) = ann.ask("GET", f"{suite}/runs")["items"]
    document = ann.client.get(f"{suite}/runs/{found['id']}/document").text
    assert (found["state"], found["passed"]) == ("done", 1), document


@pytest.mark.long(3)
@pytest.mark.processes
@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_an_expression_that_takes_for_ever_ends(service, ann):
    suite = ann.suite()
    send(ann, suite, {"a.gtp": b"10 echo\n#? [(y|ye|e|s)+x]\n\n20 double 1\n#? [(a+)+b|2]\n"})
    post(ann, suite, pack_files({"engine.py": ENGINE.replace(b'"yes"', b'"yes" * 40')}))
    work(service)
    (found,) = ann.ask("GET", f"{suite}/runs")["items"]
    assert found["state"] == "done" and found["tests"] == 2


def test_limits_are_the_services(service, ann):
    suite = ann.suite()
    send(ann, suite, CASES, command='sh -c "exec {folder}/a \\" é"')
    own = own_files.assignment_of(service.settings, bench_of(service))
    assert own.engine.command == 'sh -c "exec {folder}/a \\" é"'
    assert (own.limits.timeout, own.limits.file) == (60, 300)
    assert not own.engine.packages and own.specification is None


NOT_TAKEN = [
    ({"assignment.toml": b"", "a.gtp": b"1 x\n"}, {}, "assignment.toml is not taken here"),
    ({"a.txt": b"x"}, {}, "found 0 case files, expected 1 to 500"),
    ({f"{n}.gtp": b"1 x\n" for n in range(501)}, {}, "found 501 case files"),
    ({"c/a.gtp": b"10 a\n#? [(]\n"}, {}, "a.gtp:2"),
    ({"c/[a].gtp": b"10 a\n"}, {}, "case files with *, ? or [ in their names: [a].gtp"),
    (CASES, {"command": "python3 engine.py"}, "expected a command with {folder}"),
    (CASES, {"build": "a\nb"}, "build: expected one line"),
    (b"no archive", {}, "the archive is refused"),
]


def test_what_is_not_taken(service, ann):
    suite = ann.suite()
    for files, more, why in NOT_TAKEN:
        answer = send(ann, suite, files, 422, **more)
        assert why in answer["detail"] and str(service.settings.data) not in answer["detail"]
    assert ann.ask("GET", suite)["source"] == ""


@pytest.mark.stored
def test_only_what_differs_is_kept_and_only_the_last_two(service, ann):
    suite = ann.suite()
    for number in (0, 0, 1, 2, 2):
        send(ann, suite, {"a.gtp": b"1 x\n#? [%d]\n" % number})
    bench = bench_of(service)
    assert bench.edition == 2
    folder = service.settings.assignment_folder(bench.id)
    assert sorted(one.name for one in folder.glob("source*")) == ["source-1", "source-2"]
    assert assignments.read(own_files._document(service.settings, bench)).public_cases()
    ann.ask("DELETE", suite, 204)
    assert not folder.exists()


@pytest.mark.stored
@pytest.mark.processes
def test_on_the_page(service, ann):
    page = ann.suite().removeprefix("/api/v1")
    assert "Run engines here" in ann.browser.get(page).text
    files = {"file": ("cases.tar", pack_files(CASES))}
    ann.browser.post(f"{page}/cases", files=files, command=COMMAND)
    assert "Newer case files" in ann.browser.get(page).text
    ann.browser.post(f"{page}/runs", files={"file": ("e.tar", pack_files({"engine.py": ENGINE}))})
    work(service)
    assert "1 of 2" in ann.browser.get(page).text


@pytest.mark.processes
def test_from_the_command_line(service, ann, tmp_path, capsys):
    suite = ann.suite()
    place, token = suite_of(f"{BASE}{suite}"), ann.client.headers["authorization"].split()[1]
    folder = tmp_path / "my cases"
    folder.mkdir()
    (folder / "one.gtp").write_bytes(CASES["cases/one.tst"])
    given = argparse.Namespace(words=[str(folder)], command=COMMAND, build="")
    with Client(BASE, token, transport=Through(service)) as client:
        assert commands.send_cases(client, place, given) == 0
    assert "runs engines with these case files" in capsys.readouterr().out
    own = own_files.assignment_of(service.settings, bench_of(service))
    assert [path.name for path in own.public_cases()] == ["one.gtp"]
