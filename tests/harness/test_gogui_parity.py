r"""Verdicts as gogui-regress itself gave them, and GNU Go's regress.awk.

Each row is a case file, the engine's replies to its commands, and what the real program (GoGui
1.5 on Java 17; regress.awk on gawk) said of its tests, in file order. In the real program's
words: passed, PASSED (unexpectedly), failed (as expected), FAILED. Where it knows no verdict, the
row has the error.
"""

import pytest

from harness.core.errors import CaseError
from harness.core.records import FileResult, Outcome
from harness.engine.replies import Splitter
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.report import gogui
from harness.running.file_runner import not_run


def judge_replies(text: bytes, replies: bytes, dialect: str = "gogui") -> FileResult:
    """Return the result of a case file whose commands were answered so."""
    case = casefile.parse(text, "case.tst", find_dialect(dialect))
    split = Splitter().split(replies)
    assert len(split) == len(case.steps)
    outcomes = [
        Outcome(index, find_dialect(dialect).verdict(step.pattern, reply), reply)
        for index, (step, reply) in enumerate(zip(case.steps, split, strict=True))
        if step.is_test
    ]
    settled = find_dialect(dialect).settle_outcomes(case.steps, outcomes)
    return not_run(case)._replace(outcomes=tuple(settled))


def verdicts(text: bytes, replies: bytes, dialect: str = "gogui") -> str:
    """Return ``id:verdict`` for each test of a case file."""
    file = judge_replies(text, replies, dialect)
    return " ".join(f"{file.case.steps[step].id}:{v.value}" for step, v, *_ in file.outcomes)


FILES = [
    # which lines are tests
    (b"00 a\n#? [x]\n007 a\n#? [x]\n", b"= x\n\n= x\n\n", "0:passed 7:passed"),
    (b"+5 a\n#? [x]\n-0 a\n#? [x]\n", b"= x\n\n= x\n\n", "5:passed 0:passed"),
    (b"2147483647 a\n2147483648 a\n", b"= x\n\n? x\n\n", "2147483647:passed"),
    (b"12\n12abc\n1.5 a\n", b"= x\n\n= x\n\n= x\n\n", ""),
    (b"12\n#? [x]\n12abc\n#? [x]*\n", b"= x\n\n= x\n\n", "-1:passed -1:PASSED"),
    (b"1 a\n2 a\n3 a\n#?\na\n#?\n", b"= x\n\n? x\n\n? x\n\n? x\n\n", "1:passed 2:FAILED 3:FAILED"),
    (b"1 a\n1 a\n#? [x]\n1 a\n#? [y]\n", b"? x\n\n= x\n\n= x\n\n", "1:FAILED 1:passed 1:FAILED"),
    # lines and blanks
    (b"1\ta\n#?\t[x]\n \t2  a \n\t#?[x]\t\n", b"= x\n\n= x\n\n", "1:passed 2:passed"),
    (b"1 a\r#? [x]\r\r2 a\r\n#? [x]\r\n3 a\n#? [x]", b"= x\n\n" * 3, "1:passed 2:passed 3:passed"),
    # bytes, whatever the encoding; one of Latin-1 spoils no UTF-8 elsewhere
    (
        b"# \xe9\n1 a\n#? [\xe9|x.]\n2 a\n#? [\xc3\xa9]\n",
        b"= \xe9\n\n= \xc3\xa9\n\n",
        "1:passed 2:passed",
    ),
    (b"1 a\n#? [\xc3\xa9]\n2 a\n#? [\xe9]\n", b"= \xe9\n\n= \xc3\xa9\n\n", "1:FAILED 2:FAILED"),
    # the reply
    (b"1 a\n#? [x]\n2 a\n#? [!y]\n3 a\n#? [x]*\n", b"? x\n\n" * 3, "1:FAILED 2:FAILED 3:failed"),
    (b"1 a\n#? [x]\n2 a\n#? [x]\n", b"=1 x\n\n=77 x\n\n", "1:passed 2:passed"),
    (b"1 a\n#? [x]\n2 a\n#? []\n", b"=1 \t x \n\n=x\n\n", "1:passed 2:passed"),
    (b"1 a\n#? [c]\n2 a\n#? [b\\nc]\n", b"=a\nb c\n\n= b\nc\n\n", "1:passed 2:passed"),
    (b"1 a\n#? [x]\n2 a\n#? [x]\n", b"y\n\n y = z\n= x\n\n\n\n= x\r\n\r\n", "1:passed 2:passed"),
    (b"1 a\n#? [x]\n2 a\n#?\n", b"= x\n\n\n? x\n\n\n", "1:passed 2:FAILED"),
    (b"1 a\n#? [x\\n \\ny]\n2 a\n#? [= x]\n", b"= x\n \ny\n\n= = x\n\n", "1:passed 2:passed"),
]


@pytest.mark.parametrize(("case", "replies", "expected"), FILES)
def test_gogui(case: bytes, replies: bytes, expected: str) -> None:
    assert verdicts(case, replies) == expected


PATTERNS = [
    # its ends
    ("[]", "", "passed"),
    ("[ ]*", "", "PASSED"),
    ("[!]", "", "FAILED"),
    ("[!]", "x", "passed"),
    ("[\t!x ]", "x", "FAILED"),
    ("[! x]", "x", "passed"),
    ("[x*]", "xxx", "passed"),
    ("[x]]*", "x]", "PASSED"),
    ("[\u00a0x]", "\u00a0x", "passed"),
    ("[x]", "\u00a0x", "FAILED"),
    # the whole text, with its lines, and a dot for line ends too
    ("[A|B]", "B", "passed"),
    ("[A|B]", "AB", "FAILED"),
    ("[a.b]", "a\nb", "passed"),
    ("[a$\\n^b]", "a\nb", "passed"),
    ("[^x]", "x", "passed"),
    ("[^$]", "", "FAILED"),
    ("[^.*$]*", "", "failed"),
    # plain texts need no regular expression
    ("[\\|\\|]", "||", "passed"),
    ("[\\|\\-]", "|-", "passed"),
    ("[B\\+1\\.5|\\[0\\]]", "[0]", "passed"),
    # what Python has under another name, or for something else
    ("[x\\z]", "x", "passed"),
    ("[a\\hb]", "a\u2003b", "passed"),
    ("[a\\vb]", "a\nb", "passed"),
    ("[a[\\v]b]", "a\nb", "passed"),
    ("[\\Qa.b\\E+]", "a.bb", "passed"),
    ("[(?<n>a)\\k<n>]", "aa", "passed"),
    ("[\\0101\\x{41}\\u0041]", "AAA", "passed"),
    ("[[^]x]]", "a", "passed"),
    ("[[]x]]", "]", "passed"),
    ("[a*+]", "aa", "passed"),
    # letters are ASCII's
    ("[é]", "é", "passed"),
    ("[\\w]", "é", "FAILED"),
    ("[(?i)É]", "é", "FAILED"),
]


@pytest.mark.parametrize(("pattern", "reply", "expected"), PATTERNS)
def test_gogui_pattern(pattern: str, reply: str, expected: str) -> None:
    assert verdicts(f"1 a\n#? {pattern}\n".encode(), f"= {reply}\n\n".encode()) == f"1:{expected}"


# Printed by the plain form, and by --long.
LINES = [
    (b"1 a\n#? [x]\n", b"= x\n\n", "", "1 passed"),
    (b"1 a\n#? [ x ]*\n", b"= x\n\n", "1 unexpected PASS!", "1 PASSED"),
    (b"1 a\n#? [ !x ]*\n", b"=1  x \n\n", "", "1 failed: Correct '!x', got 'x'"),
    (
        b"a\n#? [x]\n",
        b"= y\nz\n\n",
        "-1 unexpected FAIL: Correct 'x', got 'y\nz'",
        "-1 FAILED: Correct 'x', got 'y\nz'",
    ),
    (b"1 a\n", b"= x\n\n", "", ""),
    (b"a\n#?\n", b"? x\n\n", "", ""),
    *(
        (b"1 a\n", reply, line, line)
        for reply, line in [
            (b"? x\n\n", "1 unexpected FAIL: 'x'"),
            (b"?\n\n", "1 unexpected FAIL"),
            (b"?1  x \ny\n\n", "1 unexpected FAIL: ' x \ny'"),
            (b"?12\n\n", "1 unexpected FAIL: '12'"),
        ]
    ),
]


@pytest.mark.parametrize(("case", "replies", "plain", "long"), LINES)
def test_lines(case: bytes, replies: bytes, plain: str, long: str) -> None:
    file = judge_replies(case, replies)
    assert "\n".join(gogui.lines(file, prefix=False)) == plain
    *lines, _summary = gogui.lines(file, prefix=False, long=True)
    assert "\n".join(lines) == long


# What gogui-regress refuses; here with the line, and nothing of the file is run.
REFUSED = [
    (b"#? [x]\n", 1, "belongs to no command"),
    (b"1 a\n\n#? [x]\n", 3, "belongs to no command"),
    (b"1 a\n# x\n#? [x]\n", 3, "belongs to no command"),
    (b"1 a\n#? [x]\n#? [x]\n", 3, "second pattern"),
    (b"1 a\n#?\n#? [x]\n", 3, "second pattern"),
    (b"1 a\n#? x\n", 2, r"expected '\['"),
    (b"1 a\n#? *\n", 2, r"expected '\['"),
    (b"1 a\n#? [x\n", 2, "expected ']'"),
    (b"1 a\n#? [*\n", 2, "expected ']'"),
    (b"1 a\n#? [x]**\n", 2, "expected ']'"),
    (b"1 a\n#? [x] *\n", 2, "expected ']'"),
    (b"1 a\n#? [x]&\n", 2, "expected ']'"),
    (b"1 a\n#? [(]\n", 2, "not a regular expression"),
    (b"1 a\n#? [a**]\n", 2, "not a regular expression"),
]


@pytest.mark.parametrize(("case", "line", "message"), REFUSED)
def test_refused(case: bytes, line: int, message: str) -> None:
    with pytest.raises(CaseError, match=message) as error:
        casefile.parse(case, "case.tst")
    assert error.value.line == line


GNUGO = [
    (b"0 a\n#? [x]\n", b"=0 x\n\n", "0:passed"),
    (b"1 a\n#? [A|B]\n2 a\n#? [A|B]\n", b"=1 Ax\n\n=2 xB\n\n", "1:passed 2:passed"),
    (b"1 a\n#? [x]\n2 a\n#? [!x]\n", b"?1 x\n\n?2 y\n\n", "1:passed 2:passed"),
    (b"1 a\n#? [x]\n", b"=1 x\ny\n\n", "1:passed"),
    (b"1 a\n#? [x]&\n2 a\n#? [x]*&\n", b"=1 y\n\n=2 y\n\n", "1:ignored 2:ignored"),
    (b"1 a\n#? [(]&\n", b"=1 y\n\n", "1:ignored"),
    (b"1 a\n#? [x\n2 a\n#? x]*\n", b"=1 x\n\n=2 x\n\n", "1:passed 2:PASSED"),
    (b"1 a\n#? [x]\n1 a\n#? [y]\n", b"=1 x\n\n=1 y\n\n", "1:passed 1:passed"),
    (b"1 a\n\n#? [x]\n2 a\n# c\n#? []\n", b"=1 x\n\n=2 \n\n", "1:FAILED 2:passed"),
    (b"1 a\n2 a\na\n#? [x]\n", b"=1 x\n\n=2 \n\n= x\n\n", "1:FAILED 2:passed"),
    (b"1 a\n#? [x]\n#? [y]\n", b"=1 y\n\n", "1:passed"),
    (b"1 a\n#? [x]\n2 a\n #? [x]\n", b"=1 x \n\n=2 x\n\n", "1:FAILED 2:FAILED"),
]


@pytest.mark.parametrize(("case", "replies", "expected"), GNUGO)
def test_gnugo(case: bytes, replies: bytes, expected: str) -> None:
    assert verdicts(case, replies, "gnugo") == expected


# What --long prints: of a reply, what was judged.
GNUGO_LINES = [
    (b"1 a\n#? [y]\n", b"=1 x \ny\n\n", "1 FAILED: Correct 'y', got 'x '"),
    (b"1 a\n#? [ !x]*\n", b"?1  x\n\n", "1 failed: Correct ' !x', got 'x'"),
    (b"1 a\n#? [x]&\n", b"=1 x \ny\n\n", "1 x "),
    (b"1 a\n#? [x]&\n", b"=1 \n\n", "1 "),
    (b"1 a\n#? [!x\n", b"=1 x\n\n", "1 FAILED: Correct '!x', got 'x'"),
]


@pytest.mark.parametrize(("case", "replies", "expected"), GNUGO_LINES)
def test_gnugo_lines(case: bytes, replies: bytes, expected: str) -> None:
    line, _summary = gogui.lines(judge_replies(case, replies, "gnugo"), prefix=False, long=True)
    assert line == expected
