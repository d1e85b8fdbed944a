"""A class of two hundred submissions, made, with the mark that each must get.

Everybody had to score games of Go, in a language of their choice: :func:`make` writes the
assignment, its public and private cases, a download as Canvas gives it, and the gradebook. The
truth is computed here, from the mistakes themselves and by rules written down once more, never by
what is tested.
"""

from __future__ import annotations

import csv
import functools
import gzip
import io
import itertools
import marshal
import random
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path
from typing import NamedTuple

from harness.core.records import CaseFile
from harness.judging.in_process import answers, failing_lines, mutant_engine
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.specifications.record import reply_of
from oracle.gtp import new_engine
from oracle.mistakes import MISTAKES, Breakdown, Mistake
from oracle.mistakes import find_mistake as mistake_named
from oracle.position import Position, grid, vertex
from tests.harness import archives
from tests.harness.five_points import ARCHIVE, FOLDER, MARKS, log
from tests.harness.hostile_archives import LARGE, ROSTER

ROOT = Path(__file__).parents[2]
OTHERS = ROOT / "tests" / "submissions" / "any-language"
COUNT = 200

ASSIGNMENT = f"""\
title = "Go scoring in any language"
specification = "go-scoring"
{ARCHIVE}
[files]
required = ["readme.txt", "start"]
allowed = ["*.py", "*.c", "*.java", "Makefile", "oracle.zip"]
left_out = ["__pycache__/", "*.pyc", ".DS_Store", "._*", "__MACOSX/"]
forbidden = ["util/"]
log = "presubmission.log"

[build]
steps = ["make -s"]

[engine]
command = "sh {{folder}}/start"

[limits]
timeout = 20
cpu = 1
memory = 268_435_456

{MARKS}"""

LOG = log("sh assignment1/start")

PYTHON = """\
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "oracle.zip"))
from oracle.gtp import serve
{imports}

serve({engine}, lambda: os.read(0, 1 << 16), lambda data: os.write(1, data))
"""


class Case(NamedTuple):
    """A submission, and what must become of it."""

    label: str
    files: tuple[tuple[str, bytes], ...]  # (name as the student gave it, bytes), the latest last
    truth: Fraction | None  # the mark, before what being late costs; None: handed in nothing
    late: bool = False

    @property
    def mark(self) -> Fraction | None:
        """The mark in the gradebook."""
        if self.truth is None:
            return None
        return self.truth * Fraction(8, 10) if self.late else self.truth


# --- the cases of the assignment ---------------------------------------------------------------


def positions(generator: random.Random, count: int) -> Iterator[tuple[Position, str]]:
    """Yield positions in which every chain has a liberty, and a komi."""
    while count:
        size = generator.choice([2, 3, 4, 5, 7, 9])
        shape, full = grid(size), generator.random()
        stones = [0, 0, 0]
        for row in range(size):
            for column in range(size):
                if generator.random() < full:
                    stones[generator.choice([1, 2])] |= shape.bit((row, column))
        position = Position(shape, stones[1], stones[2])
        if all(_lives(position, color) for color in (1, 2)):
            count -= 1
            yield position, generator.choice(["0", "0", "0.5", "6.5", "-2", "1"])


def _lives(position: Position, color: int) -> bool:
    """Whether all chains of a color have a liberty, point by point."""
    shape, empty = position.grid, position.empty
    reached, own = 0, position.stones(color)
    frontier = empty
    while frontier:
        near = 0
        for row, column in shape.points(frontier):
            for point in (
                (row + 1, column),
                (row - 1, column),
                (row, column + 1),
                (row, column - 1),
            ):
                near |= shape.bit(point) if point in shape else 0
        frontier = near & own & ~reached
        reached |= frontier
    return reached == own


def case_text(generator: random.Random, count: int) -> str:
    """Return a case file of some positions to be scored."""
    engine = new_engine("go", 0, 0)
    lines = []
    for number, (position, komi) in enumerate(positions(generator, count), 1):
        setup = [f"boardsize {position.grid.rows}", "clear_board", f"komi {komi}"]
        for color, stones in (("b", position.black), ("w", position.white)):
            setup += [f"play {color} {vertex(p)}" for p in position.grid.points(stones)]
        answer = reply_of([engine.handle(line) for line in (*setup, "score")][-1]).text
        whole = answer.replace("+", r"\+").replace(".", r"\.")
        optional = r"(\.0)?" if "+" in answer and "." not in answer else ""
        lines += [*setup, f"{number * 10} score", f"#? [{whole}{optional}]", ""]
    return "\n".join(lines)


# --- what is handed in -------------------------------------------------------------------------


def tree(*, start: str, readme: bool = True, log: bool = True, **more: bytes) -> dict[str, bytes]:
    """Return the files of a submission by their names in its folder."""
    files = {"start": start.encode(), "Makefile": b"all:\n", **more}
    files |= {"readme.txt": b"Ada Lovelace, ada@example.org\n"} if readme else {}
    return files | ({"presubmission.log": LOG} if log else {})


def tgz(files: dict[str, bytes], folder: str = f"{FOLDER}/", compress: bool = True) -> bytes:
    """Return a ``.tgz``, or a plain tar."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(folder + name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(stream.getvalue(), 1, mtime=0) if compress else stream.getvalue()


def zip_files(files: dict[str, bytes]) -> bytes:
    """Return a ``.zip``."""
    entries = ((f"{FOLDER}/{name}", content) for name, content in files.items())
    return archives.make_zip(entries, zipfile.ZIP_DEFLATED)


@functools.cache
def oracle_zip() -> bytes:
    """Return the oracle's own modules: the engine of the mistaken is a copy of it.

    They are compiled as well, or each of hundreds of engines would compile them; another version
    of Python goes by the sources.
    """
    entries: list[tuple[str, bytes]] = []
    for path in sorted((ROOT / "oracle").rglob("*.py")):
        name, source = path.relative_to(ROOT).as_posix(), path.read_bytes()
        entries += [(name, source), (f"{name}c", _compile(name, source))]
    return archives.make_zip(entries)


def _compile(name: str, source: bytes) -> bytes:
    """Return what a ``.pyc`` holds that counts whatever the time of its source (PEP 552)."""
    unchecked = (1).to_bytes(4, "little")
    code = marshal.dumps(compile(source, name, "exec"))
    return MAGIC_NUMBER + unchecked + source_hash(source) + code


def python(imports: str, engine: str, **options: bool) -> dict[str, bytes]:
    """Return a submission in Python whose engine is an expression over what it imports."""
    text = PYTHON.format(imports=imports, engine=engine).encode()
    start = 'exec python3 "$(dirname "$0")/Go1.py"\n'
    return {**tree(start=start, **options), "Go1.py": text, "oracle.zip": oracle_zip()}


def without_mistake(**options: bool) -> dict[str, bytes]:
    """Return a submission in Python that makes no mistake."""
    return python("from oracle.gtp import new_engine", 'new_engine("go", 0, 0)', **options)


def mistaken(name: str) -> dict[str, bytes]:
    """Return a submission in Python that makes a mistake of the oracle's bank."""
    imports = "from oracle.mistakes import find_mistake, mistaken_engine"
    return python(imports, f"mistaken_engine(find_mistake({name!r}))")


def script(text: str) -> dict[str, bytes]:
    """Return a submission in Python that is one file."""
    return {**tree(start='exec python3 "$(dirname "$0")/Go1.py"\n'), "Go1.py": text.encode()}


def in_c(mistake: int) -> dict[str, bytes]:
    """Return the submission in C; see its source for what the mistakes are."""
    start = 'exec "$(dirname "$0")/engine"\n'
    make = f"all:\n\tcc -O1 -DMISTAKE={mistake} -o engine engine.c\n".encode()
    source = (OTHERS / "c" / "engine.c").read_bytes()
    return tree(start=start) | {"Makefile": make, "engine.c": source}


SHORT = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # for a Java machine that soon ends


def in_java(mistake: int) -> dict[str, bytes]:
    """Return the submission in Java; see its source for what the mistakes are."""
    start = f'exec java {SHORT} -cp "$(dirname "$0")" Engine\n'
    source = (OTHERS / "java" / "Engine.java").read_bytes()
    source = source.replace(b"MISTAKE = 0;", b"MISTAKE = %d;" % mistake)
    make = f"all:\n\tjavac -J{SHORT.replace(' ', ' -J')} Engine.java\n".encode()
    return tree(start=start) | {"Makefile": make, "Engine.java": source}


ANSWERS = """\
import sys
for line in sys.stdin:
    words = line.split()
    id = words.pop(0) if words and words[0].isdigit() else ""
    {body}
    print(f"={{id}} {{text}}\\n", flush=True)
    if words[:1] == ["quit"]:
        break
"""


def says(body: str) -> dict[str, bytes]:
    """Return an engine that answers ``text``, which ``body`` makes of ``words``."""
    return script(ANSWERS.format(body=body.replace("\n", "\n    ")))


# --- the truth ---------------------------------------------------------------------------------


class Marker:
    """Marks by the assignment's rules, from the answers that are known beforehand."""

    def __init__(self, place: Path) -> None:
        self.public = [casefile.read(str(path)) for path in sorted(place.glob("*.gtp"))]
        self.private = [casefile.read(str(path)) for path in sorted(place.glob("private/*.gtp"))]

    def mark(self, failed: Callable[[CaseFile], int], log: int = 1) -> Fraction:
        """Return log and readme 1, public 2, private 2; ``failed`` counts the tests of a file."""
        return log + sum(
            2 * (1 - Fraction(sum(map(failed, cases)), sum(map(tests, cases))))
            for cases in (self.public, self.private)
        )

    def of_mistake(self, mistake: Mistake, goes_on: bool = True) -> Fraction:
        """Return the mark of an engine that makes a mistake; see :func:`failures`."""
        return self.mark(lambda case: failures(case, mistake, goes_on))


def tests(case: CaseFile) -> int:
    """Return how many tests a case file has."""
    return sum(step.is_test for step in case.steps)


def failures(case: CaseFile, mistake: Mistake, goes_on: bool = True) -> int:
    """Return how many tests an engine that makes a mistake fails, or does not come to.

    ``goes_on``: where it hangs it is started again at the next board, with which every test
    begins. Else it has used up its processor time, and the rest of the file is lost.
    """
    if not breaks(case, mistake):
        return len(failing_lines(case, mutant_engine(mistake), find_dialect("gogui")))
    found, broken = 0, False
    for board in boards(case):
        broken = (broken and not goes_on) or breaks(board, mistake)
        found += broken or bool(
            failing_lines(board, mutant_engine(mistake), find_dialect("gogui"))
        )
    return found


def breaks(case: CaseFile, mistake: Mistake) -> bool:
    """Whether an engine that makes a mistake hangs or crashes somewhere."""
    return any(isinstance(raw, Breakdown) for _, raw in answers(case, mutant_engine(mistake)))


def boards(case: CaseFile) -> Iterator[CaseFile]:
    """Yield each test of a case file with the board that it begins with."""
    starts = [i for i, step in enumerate(case.steps) if step.command.startswith("boardsize")]
    for start, end in zip(starts, [*starts[1:], len(case.steps)], strict=True):
        yield case._replace(steps=case.steps[start:end])


# --- the class ---------------------------------------------------------------------------------


# In a whole class alone: the same mistakes as of programs in Python, what comes to the same files
# as another one when it is unpacked, what computes for ever (``test_one_fault.py``) and what is in
# Java (``test_foreign_submissions.py``).
TOLD_BY_OTHERS = {
    "Java",
    "Java, never ends",
    "Java, does not compile",
    "Java, komi",
    "Java, neutral points",
    "C, komi ignored",
    "C, single points",
    "plain tar called tgz",
    "zip",
    "zip called tgz",
    "wrapped",
    "junk",
    "text",
    "no start",
    "says nothing right",
    "tar.gz",
    "odd name",
    "its own util",
    "syntax error",
    "two, the later right",
    "late 0",
    "late, draw-with-fraction",
    "late, integer-division",
    "never answers",
}


def submissions(place: Path, is_whole: bool) -> Iterator[Case]:
    """Yield every kind of submission there is, then right ones.

    ``is_whole``: those without a mistake, and all mistakes; else one of each, and a sample.
    """
    for case in _submissions(Marker(place), is_whole):
        if is_whole or case.label not in TOLD_BY_OTHERS:
            yield case


def _submissions(marker: Marker, is_whole: bool) -> Iterator[Case]:
    full, none = Fraction(5), Fraction(0)

    def one(label: str, content: bytes, truth: Fraction, name: str = "a1.tgz") -> Case:
        return Case(label, ((name, content),), truth)

    right = tgz(without_mistake())
    for mistake in _mistakes(marker, is_whole):
        yield one(mistake.name, tgz(mistaken(mistake.name)), marker.of_mistake(mistake))
    yield from _languages(marker, one)
    yield from _packaging(right, one)
    yield from _hostile_archives(one, is_whole)
    yield from _hostile_engines(marker, one)
    yield one("no readme", tgz(without_mistake(readme=False)), full - 1)
    yield one("no log", tgz(without_mistake(log=False)), full - 1)
    yield one("does not start", tgz(script("import nowhere\n")), none)
    yield one("syntax error", tgz(script("def answer(:\n")), none)
    yield one("no start", tgz({"readme.txt": b"x", "presubmission.log": LOG}), none)
    learnt = _learnt_by_heart(marker)
    yield one("learnt by heart", tgz(says(learnt)), marker.mark(_of_public(marker)))
    yield Case("two, the later right", (("a.tgz", b"oops"), ("a1.tgz", right)), full)
    yield Case("two, the later broken", (("a1.tgz", right), ("a.tgz", right[:1000])), full)
    yield Case("handed in nothing", (), None)
    for mistake in ("komi-ignored", "draw-with-fraction", "integer-division"):
        truth = marker.of_mistake(mistake_named(mistake))
        yield Case(f"late, {mistake}", (("a1.tgz", tgz(mistaken(mistake))),), truth, late=True)
    for number in range(10 if is_whole else 1):
        yield Case(f"late {number}", (("a1.tgz", right),), full, late=True)
    for number in range(COUNT if is_whole else 1):
        yield one(f"right {number}", right, full)


def _mistakes(marker: Marker, is_whole: bool) -> Iterator[Mistake]:
    """Yield all mistakes, or those that break an engine and every sixteenth of the others."""
    own = [one for one in MISTAKES.values() if one.assignment == "go-scoring"]
    for number, mistake in enumerate(own):
        if is_whole or number % 16 == 0 or any(breaks(case, mistake) for case in marker.public):
            yield mistake


def _languages(marker: Marker, one: Callable[..., Case]) -> Iterator[Case]:
    yield one("C", tgz(in_c(0)), Fraction(5))
    yield one("C, komi ignored", tgz(in_c(1)), marker.of_mistake(mistake_named("komi-ignored")))
    single = marker.of_mistake(mistake_named("single-points-only"))
    yield one("C, single points", tgz(in_c(2)), single)
    yield one("C, crashes", tgz(in_c(3)), marker.mark(tests))
    broken = in_c(0)
    broken["engine.c"] = broken["engine.c"].replace(b"strcpy(reply", b"strcpy(replie", 1)
    yield one("C, does not compile", tgz(broken), Fraction(0))
    yield one("Java", tgz(in_java(0)), Fraction(5))
    black = marker.of_mistake(mistake_named("neutral-points-to-black"))
    yield one("Java, neutral points", tgz(in_java(1)), black)
    komi = marker.of_mistake(mistake_named("komi-to-black"))
    yield one("Java, komi", tgz(in_java(2)), komi)
    # It computes for ever, and so until its processor time is used up.
    endless = marker.of_mistake(mistake_named("fill-never-ends-on-empty-board"), goes_on=False)
    yield one("Java, never ends", tgz(in_java(3)), endless)
    broken = in_java(0)
    broken["Engine.java"] = broken["Engine.java"].replace(b"double komi", b"dubble komi", 1)
    yield one("Java, does not compile", tgz(broken), Fraction(0))


def _packaging(right: bytes, one: Callable[..., Case]) -> Iterator[Case]:
    """Yield archives that are odd, and taken all the same."""
    full, files = Fraction(5), without_mistake()
    plain = tgz(files, compress=False)
    yield one("plain tar called tgz", plain, full)
    yield one("zip called tgz", zip_files(files), full)
    yield one("zip", zip_files(files), full, "a1.zip")
    yield one("tar.gz", right, full, "a1.tar.gz")
    yield one("odd name", right, full, "Final version (2) äöü.tgz")
    yield one("wrapped", tgz(files, f"ada/{FOLDER}/"), full)
    junk = {"._readme.txt": b"\0\5\x16\7", ".DS_Store": b"\0\0\0\1Bud1", "__pycache__/a.pyc": b""}
    yield one("junk", tgz({**files, **junk}), full)
    yield one("its own util", tgz({**files, "util/gtp_connection.py": b"changed"}), full)


def _hostile_archives(one: Callable[..., Case], is_whole: bool) -> Iterator[Case]:
    """Yield archives that are refused, and what is no archive.

    ``is_whole``: all of them, else one of sixteen: ``test_receive.py`` has each.
    """
    yield one("empty file", b"", Fraction(0))
    yield one("text", b"I will hand it in tomorrow, I promise.\n", Fraction(0))
    yield one("cut off", tgz(without_mistake())[:2000], Fraction(0))
    chosen = ROSTER if is_whole else [name for name in ROSTER if name not in LARGE][::16]
    for name in chosen:
        hostile = ROSTER[name]
        yield one(f"hostile: {name}", hostile.make(), Fraction(0), f"a1{hostile.suffix}")


def _hostile_engines(marker: Marker, one: Callable[..., Case]) -> Iterator[Case]:
    """Yield engines that break, or try to break out; none gets more than it earns."""
    nothing, log = Fraction(0), Fraction(1)
    # It says nothing: which of its processes comes to words would be another each time.
    bomb = "import os\nos.close(2)\nwhile True: os.fork()\n"
    yield one("fork bomb", tgz(script(bomb)), nothing)
    # With little CPU time for each page, so that it hits the limit of memory, and none beside it.
    hog = (
        "import mmap\n"
        "how = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE\n"
        "block = [mmap.mmap(-1, 8 << 20, flags=how) for _ in range(1000)]\n"
    )
    yield one("memory hog", tgz(script(hog)), nothing)
    yield one("never answers", tgz(script("while True: pass\n")), nothing)
    yield one("noise", tgz(script("while True: print('x' * 1000)\n")), nothing)
    yield one("closes all", tgz(script("import os, time\nos.closerange(0, 99)\n")), nothing)
    yield one("says nothing right", tgz(says("text = 'B+1000'")), log)
    formula = "text = '=HYPERLINK(\"http://x\")<script>alert(1)</script>'"
    yield one("formulas", tgz(says(formula)), log)
    spy = (
        "import glob\n"
        "text = 'B+1000'\n"
        "for above in ('', '/*', '/*/*', '/proc/self/cwd', '/proc/1/cwd', '/proc/1/root/*/*'):\n"
        "    for path in glob.glob(above + '/private/*.gtp') if words[:1] == ['score'] else ():\n"
        "        text = open(path).read()[-20:]"
    )
    yield one("spy", tgz(says(spy)), log)
    prey = (
        "import os, signal\n"
        "text = ''\n"
        "for pid in range(2, 400):\n"
        "    try: os.getppid() != pid != os.getpid() and os.kill(pid, signal.SIGKILL)\n"
        "    except OSError: pass\n"
        "text = 'B+1000'"
    )
    yield one("kills its neighbors", tgz(says(prey)), log)
    leave = (
        "text = 'B+1000'\n"
        "try: open('/tmp/answers', 'a').write('x') and open('/tmp/answers').read()\n"
        "except OSError: pass"
    )
    yield one("leaves notes", tgz(says(leave)), log)


def _learnt_by_heart(marker: Marker) -> str:
    """Return an engine that knows the public tests by their setup, and nothing else."""
    table = {}
    for case in marker.public:
        setup: list[str] = []
        engine = new_engine("go", 0, 0)
        for step in case.steps:
            answer = reply_of(engine.handle(step.text)).text
            setup = [] if step.command.startswith("boardsize") else setup
            if step.command == "score":
                table[" ".join(setup)] = answer
            setup.append(step.command)
    return (
        "known = globals().setdefault('known', [])\n"
        "if words[:1] == ['boardsize']: known.clear()\n"
        f"table = {table!r}\n"
        "text = table.get(' '.join(known), 'B+1000') if words == ['score'] else ''\n"
        "known.append(' '.join(words))"
    )


def _of_public(marker: Marker) -> Callable[[CaseFile], int]:
    known = {case.path for case in marker.public}
    return lambda case: 0 if case.path in known else tests(case)


# --- on disk -----------------------------------------------------------------------------------


class Class(NamedTuple):
    """What :func:`make` wrote."""

    assignment: Path  # the folder with assignment.toml
    download: Path  # the folder of the Canvas download
    gradebook: Path
    cases: tuple[tuple[int, Case], ...]  # (the Canvas id, the submission)


def make(folder: Path, is_whole: bool = True, seed: int = 1) -> Class:
    """Write a class of :data:`COUNT`, or one of each kind, in an order that ``seed`` shuffles."""
    place, download = folder / "any-language", folder / "download"
    (place / "private").mkdir(parents=True)
    download.mkdir()
    (place / "assignment.toml").write_text(ASSIGNMENT)
    generator = random.Random(seed)
    for name in ("first.gtp", "second.gtp", "private/third.gtp"):
        (place / name).write_text(case_text(generator, 8))
    cases = list(itertools.islice(submissions(place, is_whole), COUNT))
    generator.shuffle(cases)
    numbered = tuple(enumerate(cases, 4000))
    for number, case in numbered:
        _hand_in(download, number, case)
    _write_gradebook(folder / "gradebook.csv", numbered)
    return Class(place, download, folder / "gradebook.csv", numbered)


def surname(number: int) -> str:
    """Return a name of letters alone, as Canvas writes it in front of files."""
    return "student" + "".join(chr(ord("a") + int(digit)) for digit in str(number))


def _hand_in(download: Path, number: int, case: Case) -> None:
    late = "LATE_" if case.late else ""
    for attempt, (name, content) in enumerate(case.files):
        stem, dot, suffix = name.partition(".")
        again = f"-{attempt}" if attempt else ""
        attachment = 70_000 + 10 * number + attempt
        given = f"{surname(number)}_{late}{number}_{attachment}_{stem}{again}{dot}{suffix}"
        (download / given).write_bytes(content)


def _write_gradebook(path: Path, numbered: tuple[tuple[int, Case], ...]) -> None:
    head = ["Student", "ID", "SIS Login ID", "Section", "Assignment 1 (771)", "Final Score"]
    rows = [
        [f"{surname(number).title()}, Ada", str(number), f"u{number}", "Lab 1", "", "0.00"]
        for number, _ in numbered
    ]
    points = ["    Points Possible", "", "", "", "5.00", "(read only)"]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, points, *rows])
