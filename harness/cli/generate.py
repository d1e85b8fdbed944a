"""``gtp-harness generate``: case files from game records, or from nothing."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import find_assignment, read_case_file
from harness.assignments.assignment import Assignment, specification_of
from harness.banks.banks import EngineAsker, EngineBench
from harness.cli import bank
from harness.cli.commandline import Command, refusal, whole
from harness.core import file_system
from harness.core.errors import ExitCode, UsageError
from harness.core.processes import processors
from harness.core.records import CaseFile
from harness.generating import drafts, record_reading, scene_text, test_production
from harness.generating.record_reading import Choices, Harvest, HarvestOptions
from harness.generating.scene_production import produce as produce_scenes
from harness.reading import casefile, conversion
from harness.reading.suite import expand
from harness.report import report_files
from harness.specifications.record import Specification

_HALVES = {"public": False, "private": True, "all": None}  # whether the games are private
_FEW, _MANY = 16, 40  # tests, if nobody says how many; the latter to catch wrong engines
_ANSWERS, _GTP = ".txt", ".gtp"  # endings of names of case files

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


def _run(arguments: Namespace) -> int:
    if not arguments.assignment or not arguments.output:
        GENERATE.refuse("give --assignment and -o")
    assignment = find_assignment(arguments.assignment)
    file_system.make(Path(arguments.output).parent)
    report_files.try_to_write(arguments.output)
    secret = record_reading.read_secret(arguments.secret) if arguments.secret else None
    chosen = record_reading.choices(arguments.seed, secret)
    half = arguments.half or ("private" if arguments.secret else "public")
    arguments.is_private = _HALVES[half]
    if assignment.declaration and not assignment.declaration.extends:
        return _generate_declared(arguments, assignment, chosen)
    return _generate(arguments, assignment, chosen)


def _cases(names: Sequence[str]) -> tuple[CaseFile, ...]:
    return tuple(read_case_file(path) for path in expand(names))


def _heading(arguments: Namespace, name: str) -> list[str]:
    secret = ", with a secret" if arguments.secret else ""
    return [
        f"{name}: generated cases",
        f"Made by gtp-harness generate with the seed {arguments.seed}{secret}.",
    ]


def _report_nothing(noun: str, *, is_complete: bool) -> ExitCode:
    """Report why no test was made; ``noun``: a mistake or an engine, which tests catch."""
    if not is_complete:
        raise UsageError("nothing can be asked with these options; no file is written")
    print(f"these cases catch every {noun}: no test is needed, and no file is written")
    return ExitCode.OK


def _generate(arguments: Namespace, assignment: Assignment, choices: Choices) -> ExitCode:
    own = specification_of(assignment)
    sizes = arguments.sizes or own.kind.sizes
    request = scene_text.SceneRequest(
        own,
        choices,
        sizes,
        most=arguments.tests or (_MANY if arguments.kill else _FEW),
        secret=bool(arguments.secret),
        existing_cases=_cases([*arguments.beside, *arguments.kill]),
        excluded=_cases(arguments.exclude),
        only_survivors=bool(arguments.kill),
    )
    moves = record_reading.parse(arguments.moves) if arguments.moves else record_reading.Moves()
    options = HarvestOptions(
        own.kind, choices, moves, sizes, arguments.is_private, strict=arguments.strict
    )
    with (
        _progress() as show,
        TemporaryDirectory(prefix="gtp-harness-") as room,
        _open_bench(arguments, assignment, own, Path(room))
        if bank.are_known(arguments, assignment)
        else nullcontext() as bench,
    ):
        Path(room).chmod(0o755)  # an engine in a sandbox is another user
        request, harvest = request._replace(bench=bench), Harvest.empty()
        if arguments.games:
            found = record_reading.records(arguments.games)
            show(total=record_reading.weight(found), completed=0)
            harvest = record_reading.harvest(
                found,
                options,
                arguments.jobs or processors(),
                lambda done, games: show(completed=done, description=f"{games} games"),
            )
        produced = produce_scenes(
            request, harvest, lambda what: show(total=None, completed=0, description=what)
        )
    if not produced.scenes:
        is_complete = request.only_survivors and not produced.survivors
        return _report_nothing("mistake", is_complete=is_complete)
    for name, content in scene_text.files(produced.scenes).items():  # that the case file loads
        path = Path(arguments.output).parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        report_files.write(str(path), [content])
    heading = _heading(arguments, arguments.assignment)
    text = scene_text.case_file(own.kind, produced.scenes, heading, own.commands)
    report_files.write(arguments.output, [text])
    print("\n".join(scene_text.report(request, harvest, produced)))
    tests = sum(len(one.asked) for one in produced.scenes)
    too_few = tests < request.most and not request.only_survivors
    is_alive = produced.survivors and (request.existing_cases or request.bench)
    return ExitCode.FAILED if too_few or is_alive else ExitCode.OK


@contextmanager
def _open_bench(
    arguments: Namespace, assignment: Assignment, own: Specification, folder: Path
) -> Iterator[EngineBench]:
    """Give the wrong engines that are named; ``folder``: where the files lie that tests name."""
    sandbox, protocol = arguments.sandbox, assignment.protocol
    asker = EngineAsker(own.commands, sandbox, protocol=protocol, strict=False)
    with bank.wrong_engines(arguments, assignment) as engines:
        yield EngineBench(engines, own, folder, asker)


# --- a declared game: from play, game records and given positions --------------------------------


def _generate_declared(arguments: Namespace, assignment: Assignment, choices: Choices) -> ExitCode:
    declaration = assignment.declaration
    assert declaration
    own, place = specification_of(assignment), assignment.place
    if arguments.sizes is not None:  # those boards alone
        game = declaration.game
        kept = tuple(one for one in game.sizes if set(one) <= set(arguments.sizes))
        if not kept:
            raise UsageError("--sizes: the game has no board with such sides")
        declaration = declaration._replace(game=game._replace(sizes=kept))
    beside, excluded = _cases([*arguments.beside, *arguments.kill]), _cases(arguments.exclude)
    found = drafts.Records(
        own, declaration, choices, private=arguments.is_private, strict=arguments.strict
    )
    positions = [
        *found.openings(record_reading.records(arguments.games)),
        *drafts.of_cases(beside, declaration),
    ]
    refusals = not arguments.output.endswith(_ANSWERS)
    drafter = drafts.Drafter(own, declaration, place, positions, refusals=refusals)
    is_chosen_for = arguments.kill or bank.are_known_wrong(arguments, assignment)
    with _progress() as show, _open_bench(arguments, assignment, own, place) as bench:
        request = test_production.TestRequest(
            choices,
            arguments.tests or (_MANY if is_chosen_for else _FEW),
            {one for case in (*beside, *excluded) for one in drafts.identities(case, declaration)},
            bench.find_caught(beside),
            bool(arguments.kill),
        )
        produced = test_production.produce(
            request, drafter, bench, lambda what: show(total=None, completed=0, description=what)
        )
    if not produced.drafts:
        is_complete = bool(arguments.kill) and not produced.survivors
        return _report_nothing("engine", is_complete=is_complete)
    for name in test_production.find_named_files(produced.drafts, declaration, place):
        content, target = (place / name).read_bytes(), Path(arguments.output).parent / name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        elif target.read_bytes() != content:
            raise UsageError(
                f"{target} differs from the file of that name in {place}, and tests"
                " need the latter: move it, or write the cases elsewhere"
            )
    text = test_production.case_file(produced.drafts, _heading(arguments, assignment.key))
    if not refusals:
        text = conversion.to_answers(casefile.parse(text.encode(), arguments.output + _GTP))
    report_files.write(arguments.output, [text])
    told = test_production.report(produced, found.counts, len(positions), drafter.unsaid)
    print("\n".join(told))
    return ExitCode.FAILED if produced.survivors else ExitCode.OK


@contextmanager
def _progress() -> Iterator[Callable[..., None]]:
    """Give what shows on standard error, if that is a terminal, how far it is.

    Its arguments are those of a task of rich.progress.
    """
    if not sys.stderr.isatty():
        yield lambda **changes: None
        return
    from harness.report.progress import bars

    with bars() as live:
        task = live.add_task("", total=None)
        yield lambda **changes: live.update(task, **changes)


def _add_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("games", nargs="*", metavar="SGF", help="game records, folders of them")
    add("--assignment", metavar="A", help="the assignment, by name or folder")
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
    add("--seed", type=whole(0), default=0, metavar="N",
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
    first, _, last = text.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal()):
        raise refusal(text, "such as 9 or 5-9")
    return range(int(first), int(last or first) + 1)


GENERATE = Command("generate", _PAGE, _add_options, _run)
