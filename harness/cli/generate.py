"""``gtp-harness generate``: case files from game records, or from nothing."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import file_system, find_assignment, read_case_file
from harness.assignments.assignment import Assignment, specification_of
from harness.banks import banks as bank_runs
from harness.banks.banks import EngineAsker, EngineBench
from harness.cli import bank
from harness.cli.arguments import CommandParser
from harness.cli.commandline import Command, whole
from harness.declared.declaration import Declaration
from harness.errors import ExitCode, UsageError
from harness.generating import (
    drafts,
    record_reading,
    scene_production,
    scene_text,
    test_production,
)
from harness.generating.drafts import Drafter
from harness.generating.record_reading import Choices, Harvest, records
from harness.generating.scene_production import ProducedScenes, SceneRequest
from harness.generating.test_production import (
    ProducedTests,
    Sources,
    TestRequest,
    describe_shares,
)
from harness.generating.test_production import report as report_production
from harness.processes import processors
from harness.reading import casefile, conversion
from harness.reading.suite import expand
from harness.records import CaseFile
from harness.report import report_files
from harness.specifications.record import Specification
from harness.text import number_of

_HALVES = {"public": False, "private": True, "all": None}

_PAGE = """\
usage: gtp-harness generate [SGF…] --assignment A -o FILE [OPTION…]

Make a case file from game records (SGF: files, folders, collections of any length).
Without game records, or for features that they lack, positions are made at random.
The oracle gives every answer. Every test says where its position comes from, what it
is about, and why its answer is right. What the assignment leaves open is never asked.
No two tests are the same up to a symmetry of the board or an exchange of colors.

The report shows what is covered, what no game had, and which common mistakes are
caught. For each feature it counts the positions of the games that had it, the scenes
(a position and its questions) that could be made, those that were chosen, and how
many of the chosen were made at random; and it shows their answers.

For a game of your own, your reference gives every answer. Conversations are drawn at
random, or continue from game records and from the positions of the cases of --with and
--kill. With wrong programs (--bank, --engine, --mutants), a few tests are chosen that
catch all of them; each program is run.

[options]

Public and private: a hash of their moves (the same for mirrored copies) divides games
into two halves, so that public and private cases never come from the same game. With
--secret the private half is used, positions are turned, and every choice depends on
the secret. Nobody can guess the cases without it, even with this program, the games
and the public cases. PLACE is a file, or env:NAME for an environment variable, with
at least 16 bytes (head -c 32 /dev/urandom | base64 > secret). The same options, games
and secret give the same file.

Exit status:
    0  the file is written
    1  the file is written, but has fewer tests than asked for, or does not catch some
       mistake (with --with or --kill) or some engine
    2  the input was bad; nothing is written

Examples:
  gtp-harness generate games/ --assignment go-scoring -n 24 -o public.gtp
  gtp-harness generate games/ --assignment go-scoring -n 16 -o private.gtp \\
      --secret env:SECRET --with @go-scoring
  gtp-harness generate --assignment java-go --kill @java-go -o more.gtp
  gtp-harness generate --assignment nogo --bank former -n 40 -o nogo/public.gtp"""


def _run(given: Namespace) -> int:
    if not given.assignment or not given.output:
        GENERATE.refuse("give --assignment and -o")
    assignment = find_assignment(given.assignment)
    file_system.make(Path(given.output).parent)
    report_files.try_to_write(given.output)
    secret = record_reading.read_secret(given.secret) if given.secret else None
    chosen = record_reading.choices(given.seed, secret)
    if assignment.declaration and not assignment.declaration.extends:
        return _own_game(given, assignment, chosen)
    request = _request(given, chosen, is_secret=secret is not None)
    wanted = _options(given, chosen, request)
    with _progress() as progress, _bench(given, assignment, request) as bench:
        request = request._replace(bench=bench)
        harvest = _harvest(given, wanted, progress)
        produced = scene_production.produce(request, harvest, progress.step)
    if not produced.scenes:
        return _report_nothing(given, request, produced)
    _write(given, request, produced)
    print("\n".join(_report_coverage(request, harvest, produced)))
    return _status(request, produced)


def _own_game(
    arguments: Namespace, assignment: Assignment, chosen: record_reading.Choices
) -> ExitCode:
    """Make cases for a game that is declared."""
    with _progress() as progress:
        own = OwnGame(arguments, assignment, chosen)
        return own.run(
            _cases, _HALVES[_half(arguments)], progress.step, _heading(arguments, assignment.key)
        )


@contextmanager
def _bench(
    arguments: Namespace, assignment: Assignment, request: scene_production.SceneRequest
) -> Iterator[bank_runs.EngineBench | None]:
    """Give the wrong engines that are named; None if there are none."""
    if not bank.are_known(arguments, assignment):
        yield None
        return
    with (
        TemporaryDirectory(prefix="gtp-harness-") as room,
        bank.wrong_engines(arguments, assignment) as engines,
    ):
        Path(room).chmod(0o755)  # an engine in a sandbox is another user
        own = request.specification
        protocol = assignment.protocol
        asker = bank_runs.EngineAsker(
            own.commands, arguments.sandbox, protocol=protocol, strict=False
        )
        yield bank_runs.EngineBench(engines, own, Path(room), asker)


def _half(arguments: Namespace) -> str:
    return arguments.half or ("private" if arguments.secret else "public")


def _request(
    arguments: Namespace, chosen: record_reading.Choices, *, is_secret: bool
) -> scene_production.SceneRequest:
    specification = specification_of(find_assignment(arguments.assignment))
    beside = _cases([*arguments.beside, *arguments.kill])
    sizes = arguments.sizes or specification.kind.sizes
    most = arguments.tests or (40 if arguments.kill else 16)
    excluded = _cases(arguments.exclude)
    return scene_production.SceneRequest(
        specification, chosen, sizes, most, is_secret, beside, excluded, bool(arguments.kill)
    )


def _cases(names: Sequence[str]) -> tuple[CaseFile, ...]:
    return tuple(read_case_file(path) for path in expand(names))


def _options(
    arguments: Namespace, chosen: record_reading.Choices, request: scene_production.SceneRequest
) -> record_reading.HarvestOptions:
    after = record_reading.parse(arguments.moves) if arguments.moves else record_reading.Moves()
    kind, half = request.specification.kind, _HALVES[_half(arguments)]
    return record_reading.HarvestOptions(
        kind, chosen, after, request.sizes, half, strict=arguments.strict
    )


def _harvest(
    arguments: Namespace, options: record_reading.HarvestOptions, progress: GenerateProgress
) -> record_reading.Harvest:
    if not arguments.games:
        return record_reading.Harvest.empty()
    found = record_reading.records(arguments.games)
    jobs = arguments.jobs or processors()
    progress.begin(record_reading.weight(found))
    return record_reading.harvest(found, options, jobs, progress.read)


def _write(
    arguments: Namespace,
    request: scene_production.SceneRequest,
    produced: scene_production.ProducedScenes,
) -> None:
    """Write the case file, and beside it the board files that it loads."""
    folder = Path(arguments.output).parent
    for name, content in scene_text.files(produced.scenes).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        report_files.write(str(folder / name), [content])
    own = request.specification
    text = scene_text.case_file(
        own.kind, produced.scenes, _heading(arguments, arguments.assignment), own.commands
    )
    report_files.write(arguments.output, [text])


def _heading(arguments: Namespace, name: str) -> list[str]:
    secret = ", with a secret" if arguments.secret else ""
    return [
        f"{name}: generated cases",
        f"Made by gtp-harness generate with the seed {arguments.seed}{secret}.",
    ]


def _report_nothing(
    arguments: Namespace,
    request: scene_production.SceneRequest,
    produced: scene_production.ProducedScenes,
) -> ExitCode:
    """Say why there is no test, and leave no empty file."""
    path = Path(arguments.output)
    if path.exists() and not path.stat().st_size:
        path.unlink()
    if request.only_survivors and not produced.survivors:
        print("these cases catch every mistake: no test is needed, and no file is written")
        return ExitCode.OK
    raise UsageError("nothing can be asked with these options; no file is written")


def _status(
    request: scene_production.SceneRequest, produced: scene_production.ProducedScenes
) -> ExitCode:
    tests = sum(len(one.asked) for one in produced.scenes)
    too_few = tests < request.most and not request.only_survivors
    is_alive = bool(produced.survivors and (request.beside or request.bench))
    return ExitCode.FAILED if too_few or is_alive else ExitCode.OK


def _add_options(parser: CommandParser) -> None:
    add = parser.add_argument
    add("games", nargs="*", metavar="SGF", help="game records, folders of them")
    add("--assignment", metavar="A",
        help="the assignment, by name or folder")  # fmt: skip
    add("-n", "--tests", type=whole(1, "a number of tests"), metavar="N",
        help="most tests to choose (default: 16; with --kill 40)")  # fmt: skip
    add("-o", "--output", metavar="FILE", help="the case file to write")
    add("--moves", metavar="LIST",
        help="positions after these moves, such as 10,20-60/10,end "
        "(default: the end, and where something happens)")  # fmt: skip
    add("--sizes", type=_sizes, metavar="A-B", help="board sizes (default: all of the assignment)")
    add("--strict", action="store_true",
        help="use a game only as far as SGF and the rules of the game allow, and no other spelling"
        " of sizes and points than SGF's")  # fmt: skip
    add("--seed", type=whole(0, "a whole number"), default=0, metavar="N",
        help="random seed (default: %(default)s)")  # fmt: skip
    add("--secret", metavar="PLACE",
        help="make private cases with this secret: a file, or env:NAME")  # fmt: skip
    add("--half", choices=tuple(_HALVES),
        help="which half of the games to use (default: public; with --secret"
        " private)")  # fmt: skip
    add("--with", dest="beside", nargs="+", action="extend", default=[], metavar="CASES",
        help="complete these case files: catch what they miss first; repeat none of their"
        " tests")  # fmt: skip
    add("--kill", nargs="+", action="extend", default=[], metavar="CASES",
        help="choose only tests that catch what these case files miss")  # fmt: skip
    add("--exclude", nargs="+", action="extend", default=[], metavar="CASES",
        help="repeat none of the tests of these case files")  # fmt: skip
    add("--jobs", type=whole(1, "a number of processes"), metavar="N",
        help="processes that read games (default: the number of cores)")  # fmt: skip
    bank.add_wrong_engines(parser)


def _sizes(text: str) -> range:
    from argparse import ArgumentTypeError

    first, _, last = text.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal()):
        raise ArgumentTypeError(f"found {text!r}, expected such as 9 or 5-9")
    return range(int(first), int(last or first) + 1)


# --- while it lasts ----------------------------------------------------------------------------


class GenerateProgress:
    """Shows on standard error, if that is a terminal, how far the reading and choosing is."""

    def __init__(self) -> None:
        self._live: object = None
        self._show: Callable[..., None] = lambda **changes: None
        if sys.stderr.isatty():
            from harness.report.progress import bars

            live = bars()
            task = live.add_task("", total=None)
            self._show = lambda **changes: live.update(task, **changes)
            self._live = live
            live.start()

    def begin(self, total: int) -> None:
        """Tell how much there is to read, in bytes."""
        self._show(total=total, completed=0)

    def read(self, done: int, games: int) -> None:
        """Tell how many bytes and games have been read."""
        self._show(completed=done, description=f"{games} games")

    def step(self, what: str) -> None:
        """Tell what is going on after the reading."""
        self._show(total=None, completed=0, description=what)

    def stop(self) -> None:
        """Take the lines away."""
        if self._live is not None:
            self._live.stop()  # type: ignore[attr-defined]


@contextmanager
def _progress() -> Iterator[GenerateProgress]:
    progress = GenerateProgress()
    try:
        yield progress
    finally:
        progress.stop()


# --- ``gtp-harness generate`` for a declared game: from play, game records and given positions ---


_ANSWERS, _GTP = ".txt", ".gtp"  # endings of names of case files


class OwnGame:
    """One call of the command, for a game that is declared."""

    def __init__(self, arguments: Namespace, assignment: Assignment, chosen: Choices) -> None:
        specification, declaration = assignment.specification, assignment.declaration
        assert specification is not None
        assert declaration is not None
        self._given = arguments
        self._found = assignment
        self._choices = chosen
        self._specification: Specification = specification
        self._declaration = _of_sizes(declaration, arguments.sizes)

    def run(
        self,
        cases: Callable[[Sequence[str]], tuple[CaseFile, ...]],
        private: bool | None,
        on_step: Callable[[str], None],
        heading: Iterable[str],
    ) -> ExitCode:
        """Make the cases, write them, and tell the result.

        ``cases``: reads case files. ``private``: which half of the game records; None: all.
        """
        given = self._given
        beside, excluded = cases([*given.beside, *given.kill]), cases(given.exclude)
        found = drafts.Records(
            self._specification,
            self._declaration,
            self._choices,
            private=private,
            strict=given.strict,
        )
        positions = [
            *found.openings(records(given.games)),
            *drafts.of_cases(beside, self._declaration),
        ]
        drafter = Drafter(
            self._specification, self._declaration, self._found.place, positions,
            refusals=not given.output.endswith(_ANSWERS),
        )  # fmt: skip
        with bank.wrong_engines(given, self._found) as engines:
            commands, protocol = self._specification.commands, self._found.protocol
            asker = EngineAsker(commands, given.sandbox, protocol=protocol, strict=False)
            bench = EngineBench(engines, self._specification, self._found.place, asker)
            request = self._request(bench, beside, (*beside, *excluded))
            produced = test_production.produce(request, drafter, bench, on_step)
        sources = Sources(found.counts, len(positions), drafter.unsaid)
        return self._report(produced, sources, list(heading))

    def _request(
        self, bench: EngineBench, beside: Sequence[CaseFile], excluded: Sequence[CaseFile]
    ) -> TestRequest:
        given = self._given
        identities = {
            one for case in excluded for one in drafts.identities(case, self._declaration)
        }
        is_chosen_for = given.kill or bank.are_known_wrong(given, self._found)
        most = given.tests or (40 if is_chosen_for else 16)
        return TestRequest(
            self._choices, most, identities, bench.find_caught(beside), bool(given.kill)
        )

    def _report(
        self,
        produced: ProducedTests,
        sources: Sources,
        heading: list[str],
    ) -> ExitCode:
        if not produced.drafts and self._given.kill and not produced.survivors:
            print("these cases catch every engine: no test is needed, and no file is written")
            return ExitCode.OK
        if not produced.drafts:
            raise UsageError("nothing can be asked with these options; no file is written")
        self._copy_files(produced)
        text = test_production.case_file(produced.drafts, heading)
        report_files.write(self._given.output, [self._in_format(text)])
        print("\n".join(report_production(produced, sources)))
        return ExitCode.FAILED if produced.survivors else ExitCode.OK

    def _copy_files(self, produced: ProducedTests) -> None:
        """Copy the files that tests name beside the case file, unless they are there."""
        place, beside = self._found.place, Path(self._given.output).parent
        for name in test_production.find_named_files(produced.drafts, self._declaration, place):
            content = (place / name).read_bytes()
            if not (beside / name).exists():
                (beside / name).parent.mkdir(parents=True, exist_ok=True)
                (beside / name).write_bytes(content)
            elif (beside / name).read_bytes() != content:
                raise UsageError(
                    f"{beside / name} differs from the file of that name in {place}, and tests"
                    " need the latter: move it, or write the cases elsewhere"
                )

    def _in_format(self, text: str) -> str:
        """Return a case file in the format that the ending of its name says."""
        if not self._given.output.endswith(_ANSWERS):
            return text
        return conversion.to_answers(casefile.parse(text.encode(), self._given.output + _GTP))


def _of_sizes(declaration: Declaration, sizes: range | None) -> Declaration:
    """Return the declaration with those boards alone that are wanted."""
    if sizes is None:
        return declaration
    kept = tuple(one for one in declaration.game.sizes if set(one) <= set(sizes))
    if not kept:
        raise UsageError("--sizes: the game has no board with such sides")
    return declaration._replace(game=declaration.game._replace(sizes=kept))


GENERATE = Command("generate", _PAGE, _add_options, _run)


# --- The report on what a generated set covers, and what it does not -----------------------------


_USED = ("files", "games", "used", "positions")


def _report_coverage(
    request: SceneRequest, harvest: Harvest, produced: ProducedScenes
) -> Iterator[str]:
    """Yield the lines of the report."""
    yield from _read(harvest)
    yield from _features(request, harvest, produced)
    sizes = Counter(one.scene.find.moment.size for one in produced.scenes)
    if sizes:
        yield "sizes: " + ", ".join(f"{size} ({sizes[size]})" for size in sorted(sizes))
    yield from _section("Left out", produced.left_out)
    yield from _strength(produced)


def _read(harvest: Harvest) -> Iterator[str]:
    counts = harvest.counts
    if not counts["files"]:
        yield "no game was read: all positions are made"
        return
    yield (
        f"{number_of(counts['files'], 'file')}, "
        f"{number_of(counts['games'], 'game')}, {counts['used']} used, {counts['positions']}"
        " positions looked at"
    )
    rest = Counter({name: number for name, number in counts.items() if name not in _USED})
    yield from _section("Not used", rest)
    yield from _section("Odd, but used", harvest.notes)


def _section(heading: str, counts: Counter[str]) -> Iterator[str]:
    if counts:
        yield f"\n{heading}:"
        yield from (f"{number:6}  {name}" for name, number in counts.most_common())


def _features(request: SceneRequest, harvest: Harvest, produced: ProducedScenes) -> Iterator[str]:
    """Yield a row for each feature: positions that had it, and the scenes and tests chosen."""
    width = max(len(feature.name) for feature in request.specification.kind.features)
    yield f"\n{'':{width}}  {'in games':>8}  {'usable':>6}  {'chosen':>6}  {'made':>4}  answers"
    for feature in request.specification.kind.features:
        able = [one for one in produced.candidates if one.scene.find.feature == feature.name]
        taken = [one for one in produced.scenes if one.scene.find.feature == feature.name]
        made = sum(not one.scene.find.moment.origin.game for one in taken)
        answers = ", ".join(sorted({one.scene.find.answer for one in taken}))
        yield (
            f"{feature.name:{width}}  {harvest.seen[feature.name]:8}  {len(able):6}"
            f"  {len(taken):6}  {made:4}  {answers}"
        ).rstrip()
    absent = [
        one.name for one in request.specification.kind.features if not harvest.seen[one.name]
    ]
    if harvest.counts["games"] and absent:
        yield f"no position of a game had: {', '.join(absent)}"
    chosen = {one.scene.find.feature for one in produced.scenes}
    missing = [one.name for one in request.specification.kind.features if one.name not in chosen]
    if missing:
        yield f"not in the set: {', '.join(missing)}"


def _strength(produced: ProducedScenes) -> Iterator[str]:
    tests = sum(len(one.asked) for one in produced.scenes)
    scenes = len(produced.scenes)
    total, engines = len(produced.mistakes), len(produced.engines)
    alive = [one.name for one in produced.survivors]
    away = sum(one in produced.engines for one in produced.survivors)
    caught = total - (len(alive) - away)
    yield f"\n{number_of(tests, 'test')} in {number_of(scenes, 'scene')}"
    yield f"kill rate {int(1000 * caught / total) / 10:g} % ({caught} of {total} mistakes)"
    if engines:
        yield f"{engines - away} of {number_of(engines, 'engine')} caught"
    yield from describe_shares(produced.caught_beside, produced.caught, alive)
