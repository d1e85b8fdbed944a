"""``gtp-harness verify --format``: what code hosts and editors are given."""

import json
from pathlib import Path

import pytest

from harness.cli import main, verify
from harness.core.errors import CaseError, UsageError
from harness.reading import casefile
from harness.verifying.expectation_judge import CaseFinding, FindingKind
from oracle import __version__
from tests import golden

GOLDEN = Path(__file__).parent / "golden" / "verify"
CASES = {
    "mine.gtp": "# Half a point decides.\nboardsize 3\nclear_board\nkomi 0.5\nplay B B2\n"
    "10 score\n#? [B\\+8.5]\nkomi 2\n30 score\n#? [B\\+8(\\.0)?]\n",
    "of two/100%,é.gtp": "boardsize 2\nclear_board\nplay B A1\nplay W A1\n10 score\n#? [0]\n",
    "broken.gtp": "10 score\n#? [0\n",
}


@pytest.fixture
def room(tmp_path, monkeypatch):
    for name, text in CASES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", verify.FORMATS)
def test_what_is_written_is_as_somebody_saw_it(name, room, capsys):
    assert main(["verify", ".", "--assignment", "go-scoring", "--format", name]) == 2
    told = capsys.readouterr()
    assert "broken.gtp:2: " in told.err
    out = told.out.replace(room.as_uri(), "file:///ROOM").replace(f'"{__version__}"', '"VERSION"')
    golden.check(GOLDEN / f"{name}.txt", out)


def test_with_nothing_found_nothing_is_said(room, capsys):
    (room / "good.gtp").write_text("boardsize 2\nclear_board\n10 score\n#? [0]\n")
    words = ["verify", "good.gtp", "--assignment", "go-scoring", "--format"]
    assert main([*words, "github"]) == 0
    assert capsys.readouterr().out == ""
    assert main([*words, "lsp-lines"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == {"uri": (room / "good.gtp").as_uri(), "diagnostics": []}


# --- SARIF -------------------------------------------------------------------------------------


UNREAD = CaseError("found a second pattern", "b.gtp", 7)


def finding(kind, path, line=1, text="10 score"):
    return CaseFinding(kind, path, line, text, "it is odd\x1b[1m")


def log(*found, errors=(), folder=Path("/work")):
    (text,) = verify.sarif(verify.VerifiedText((), found, errors, folder))
    read = json.loads(text)
    return read["runs"][0]


def test_a_log_is_as_the_standard_has_it():
    run = log(*(finding(kind, "a.gtp", 7) for kind in FindingKind), errors=[UNREAD])
    rules = run["tool"]["driver"]["rules"]
    assert [rules[one["ruleIndex"]]["id"] for one in run["results"]] == [
        one["ruleId"] for one in run["results"]
    ]
    assert len({one["ruleId"] for one in run["results"]}) == len(FindingKind) + 1
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "\x1b" not in json.dumps(run["results"], ensure_ascii=False)


NAMES = [
    ("a.gtp", "a.gtp", "%SRCROOT%"),
    ("./of two/é#?.gtp", "of%20two/%C3%A9%23%3F.gtp", "%SRCROOT%"),
    ("/work/a.gtp", "a.gtp", "%SRCROOT%"),
    ("../a b.gtp", "file:///a%20b.gtp", None),
    ("/elsewhere/a.gtp", "file:///elsewhere/a.gtp", None),
]


@pytest.mark.parametrize(("path", "uri", "base"), NAMES)
def test_names_are_addresses_below_the_folder_if_they_can_be(path, uri, base):
    (result,) = log(finding(FindingKind.WRONG, path))["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert (place["uri"], place.get("uriBaseId")) == (uri, base)


# --- the others ---------------------------------------------------------------------------------


def test_nothing_in_a_file_ends_or_begins_a_command_of_github():
    hostile = finding(
        FindingKind.WRONG, "a,b:c\n::error::x.gtp", 3, "10 x\r\n::set-output name=a::b%0A"
    )
    (line,) = verify.github(verify.VerifiedText((), [hostile], (), Path("/work")))
    title = "title=gtp-harness verify%3A wrong"
    assert line.startswith(f"::error file=a%2Cb%3Ac%0A%3A%3Aerror%3A%3Ax.gtp,line=3,{title}::")
    assert len(line.splitlines()) == 1
    assert "%250A" in line


def test_a_range_is_counted_in_utf_16():
    case = casefile.parse("10 say 𝄞é\n#? [a]\n".encode(), "a.gtp")
    checked = verify.VerifiedText([case], [finding(FindingKind.LOOSE, "a.gtp")], (), Path("/work"))
    (line,) = verify.lsp_lines(checked)
    (one,) = json.loads(line)["diagnostics"]
    assert one["range"]["end"] == {"line": 0, "character": 10}
    assert (one["severity"], one["code"]) == (2, "too loose")


def test_a_file_that_cannot_be_read_is_shown_in_place():
    """An editor would show what it showed before, or nothing."""
    nobodys = UsageError("--ids 3 selects no test")
    checked = verify.VerifiedText((), (), (UNREAD, nobodys), Path("/work"))
    assert [*verify.github(checked)] == [
        "::error file=b.gtp,line=7,title=gtp-harness verify::found a second pattern",
        "::error title=gtp-harness verify::--ids 3 selects no test",
    ]
    (line,) = verify.lsp_lines(checked)
    published = json.loads(line)
    (one,) = published["diagnostics"]
    assert published["uri"] == "file:///work/b.gtp"
    assert (one["range"]["start"]["line"], one["severity"]) == (6, 1)
    assert one["message"] == "found a second pattern"
    run = log(errors=(UNREAD, nobodys))
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "b.gtp"
    assert place["region"] == {"startLine": 7}
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert [one["message"]["text"] for one in notes] == [
        "b.gtp:7: found a second pattern",
        "--ids 3 selects no test",
    ]


def test_a_name_cannot_add_lines_to_the_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a\n\x1b[31m1 test.gtp").write_text("10 score\n#? [W+5]\n")
    assert main(["verify", "--assignment", "go-scoring", "."]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.endswith("a ⏎ \\x1b[31m1 test.gtp:1")
