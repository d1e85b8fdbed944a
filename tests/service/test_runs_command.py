"""``gtp-harness runs``: from a run on this machine to what the service says of it."""

import argparse
import json

import pytest

from harness.cli import client as commands
from harness.client import Client, suite_of
from harness.core.errors import UsageError
from tests.service.serving import BASE
from tests.service.test_api_submissions import Through
from tests.service.test_suites import Author, F, J, P, document


@pytest.fixture
def ask(service, tmp_path, capsys):
    """Return what runs an action against a new suite: exit status and lines."""
    ann = Author(service, "Ann")
    suite = suite_of(f"{BASE}{ann.suite()}")
    token = ann.client.headers["authorization"].split()[1]

    def run_action(action, *words, revision=""):
        given = argparse.Namespace(words=[str(one) for one in words], revision=revision)
        with Client(BASE, token, transport=Through(service), pause=lambda _: None) as client:
            status = commands._ACTIONS[action][0](client, suite, given)
        return status, capsys.readouterr().out.splitlines()

    return run_action


@pytest.fixture
def run_file(tmp_path):
    """Return what writes the document of a run."""

    def write_document(*verdicts):
        path = tmp_path / f"run{len(list(tmp_path.iterdir()))}.json"
        path.write_bytes(document(verdicts))
        return path

    return write_document


def test_runs_are_posted_listed_and_compared(ask, run_file, monkeypatch):
    monkeypatch.setenv("GITHUB_SHA", "c0ffee")
    status, lines = ask("push", run_file(P, P))
    assert status == 0
    assert lines[0].endswith("c0ffee  2 of 2 passed, 0 FAILED")
    assert lines[1].startswith(f"Page: {BASE}/suites/")
    status, lines = ask("push", run_file(P, F), revision="v2")
    assert status == 1
    assert lines[2:4] == ["Compared with run 1:", "  broke (1)"]
    assert lines[4].endswith("2 test  passed → FAILED")
    assert ask("push", run_file(P, F))[1][2:] == [
        "Compared with run 2:",
        "  all verdicts are the same",
    ]
    status, lines = ask("list")
    assert status == 0
    assert [one.split()[1] for one in lines] == ["1", "2", "3"]
    assert ask("compare", 3)[0] == 0
    assert ask("compare", 3, 1)[0] == 1
    with pytest.raises(UsageError, match="unknown run 9"):
        ask("compare", 9)


def test_a_run_in_which_the_engine_failed_says_so(ask, tmp_path):
    found, file = json.loads(document([J])), tmp_path / "run.json"
    found["files"][0]["failure"] = {"message": "The engine could not be started."}
    file.write_text(json.dumps(found))
    assert ask("push", file, revision="r")[1][0].endswith("the engine failed in 1 file")


def test_without_a_commit_the_program_itself_tells_its_builds_apart(ask, tmp_path, monkeypatch):
    for name in commands._COMMITS:
        monkeypatch.delenv(name, raising=False)
    engine, file = tmp_path / "engine", tmp_path / "run.json"
    found = json.loads(document([P])) | {"program": str(engine)}
    file.write_text(json.dumps(found))
    said = []
    for build in ("one", "two", "two"):
        engine.write_text(build)
        said.append(ask("push", file)[1][0].split("  ")[3])
    assert said[0] != said[1] == said[2]


def test_a_file_that_is_no_run_is_refused_before_it_is_sent(ask, tmp_path):
    file = tmp_path / "x.json"
    file.write_text("{}")
    with pytest.raises(UsageError, match="was not written by --json"):
        ask("push", file)
    with pytest.raises(UsageError, match="cannot read"):
        ask("push", tmp_path / "none.json")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "expected push ADDRESS FILE"),
        (["push"], "expected push ADDRESS FILE"),
        (["push", f"{BASE}/suites/12"], "push: found 0 words after ADDRESS"),
        (["list", f"{BASE}/suites/12", "x"], "list: found 1 words after ADDRESS"),
        (["list", f"{BASE}/suites/12", "--revision", "x"], "--revision goes with push"),
        (["list", f"{BASE}/courses/12"], "expected the address of a suite's page"),
    ],
)
def test_a_wrong_command_line_says_what_is_expected(words, said):
    with pytest.raises(UsageError) as error:
        commands.RUNS.main(words)
    assert said in str(error.value)


@pytest.mark.parametrize("end", ["", "/"])
@pytest.mark.parametrize("api", ["", "/api/v1"])
def test_the_address_of_a_page_leads_to_its_suite(api, end):
    expected = ("https://a.org", "/suites/1f", "/suites/1f/runs")
    assert suite_of(f"https://a.org{api}/suites/1f{end}") == expected
