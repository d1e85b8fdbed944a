"""``gtp-harness match``: engines play games against each other."""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from itertools import takewhile
from pathlib import Path

from harness.cli import engine_options, run
from harness.cli.arguments import add_help
from harness.cli.commandline import Command, refusal, whole
from harness.core.errors import ExitCode, ReportError, UsageError
from harness.core.options import Options
from harness.core.processes import processors
from harness.core.signals import ending_on_signals
from harness.engine.launch import as_typed, split_program
from harness.match.game import Arbiter
from harness.match.ratings import Sprt
from harness.match.records import GO, GOMOKU, KOS, Game, Match, Opening, Player, Rules, TimeControl
from harness.match.referee import check, handicap_opening, read_openings
from harness.match.standings import Standings, game_line, lines
from harness.match.tournament import FORMATS, ROUND_ROBIN, SWISS, Journal, Schedule, Tournament
from harness.report import report_files
from harness.report.reporters import Reporter
from harness.specifications.record import Specification
from oracle.errors import FormatError
from oracle.komi import parse_komi

_PAGE = """\
usage: gtp-harness match [OPTION…] ENGINE ENGINE…

Let engines play against each other. ENGINE is a command, one argument, or
NAME=COMMAND. Every move is judged by the referee: the oracle's rules of Go (area
scoring) and Gomoku, or the reference of an assignment of your own. What an engine
says of the result is only compared. A crash, a hang, an illegal move or a
resignation loses that game. What the harness itself fails at is played again.

Two games in a row have the same opening, with colors exchanged. Each game has
processes and a core of its own, and an engine's clock stands still while it waits
for the processor.

[options]

Exit status:
    0  all games were played; no engine is weaker than --baseline
    1  an engine is weaker than the baseline, or --sprt accepted H0
    2  an engine cannot be started, or the input was bad
    3  games were not played because the harness itself failed
  130  interrupted with Ctrl-C; the games so far are reported

An engine is weaker than the baseline if its rating's 95 % interval lies below. With
--sprt the test decides whether the other engine is stronger than the baseline, which
is the second engine if --baseline does not say. docs/match.md explains the
statistics and says how many games are needed.

Examples:
  gtp-harness match "gnugo --mode gtp --level 1" "gnugo --mode gtp --level 5"
  gtp-harness match new=./engine old=./engine-1.0 --sprt elo0=-10 elo1=0 --games 2000
  gtp-harness match --game gomoku --size 15 --random-moves 4 ./a ./b ./c --output pages
  gtp-harness match --format swiss --journal games.jsonl --sandbox auto ./a ./b ./c ./d"""

_NAMED = re.compile(r"([\w.+-]+)=(.+)", re.DOTALL)
_OF_TEST = re.compile(r"(elo0|elo1|alpha|beta)=(\S+)")
_SIZES = {GO: 9, GOMOKU: 15}
_GAMES = {SWISS: 2}  # of each pairing; otherwise:
_USUAL = 20
_MOST_BY_TEST = 10_000  # games, where a test ends the match

# In the order in which they are written. Each module has ``report(path, standings)``.
REPORTERS = (
    Reporter("output", "DIR", "write pages: the crosstable, plots, and each game on a board",
             "harness.match.pages"),
    Reporter("sgf", "DIR", "write each game as SGF; a game that is declared as GTP commands",
             "harness.match.game_records"),
    Reporter("json", "FILE", "write all results as JSON (-: to standard output)",
             "harness.match.document"),
    Reporter("junit", "FILE", "write JUnit XML: for each engine whether it is weaker than"
             " --baseline, or broke (-: to standard output)", "harness.match.junit"),
)  # fmt: skip


def _run(arguments: argparse.Namespace) -> int:
    if len(arguments.arguments) < 2:
        MATCH.refuse("give two engines or more")
    places = run.report_places(arguments, REPORTERS, {})
    players = _players(arguments.arguments)
    names, sprt, baseline = [player.name for player in players], arguments.sprt, None
    if arguments.baseline:
        if arguments.baseline not in names:
            known = ", ".join(names)
            raise UsageError(f"--baseline: found {arguments.baseline!r}, expected one of {known}")
        baseline = names.index(arguments.baseline)
    if sprt and len(names) != 2:
        raise UsageError(f"--sprt: found {len(names)} engines, expected two")
    rules, declared = _rules(arguments)
    match = Match(players, rules, options=_options(arguments, players), place=str(Path.cwd()))

    def tell(game: Game, games: Mapping[int, Game]) -> None:
        line = game_line(game, match)
        if arguments.verbose:
            print(line, file=sys.stderr, flush=True)
        elif sys.stderr.isatty():
            print(f"\r\x1b[K{len(games)} games; {line}"[:120], end="", file=sys.stderr, flush=True)

    with closing(Arbiter(match, declared)) as arbiter:
        openings = _openings(arguments, arbiter)
        arbiter.match = match = match._replace(openings=openings)
        arbiter.try_engines()
        usual = _MOST_BY_TEST if sprt else _GAMES.get(arguments.format, _USUAL)
        games = arguments.games or usual
        schedule = Schedule(arguments.format, len(players), games, len(openings), arguments.rounds)
        about = {  # what makes games those of one match; their number may grow
            "players": [[player.name, player.command] for player in match.players],
            "rules": match.rules._asdict(),
            "openings": [one._asdict() for one in match.openings],
            "format": [schedule.format, schedule.games if schedule.format == SWISS else 0],
            "limits": match.options.limits._asdict(),
            "sandbox": arguments.sandbox,
        }
        with closing(Journal(arguments.journal, about)) as journal:
            tournament = Tournament(arbiter, schedule, journal, sprt, tell, baseline)
            status = ExitCode.OK
            try:
                with ending_on_signals():
                    tournament.hold()
            except KeyboardInterrupt:
                status = ExitCode.INTERRUPTED
            found = Standings(tournament.result())
    return max(status, _report(found, places))


def _report(standings: Standings, places: Mapping[Reporter, str]) -> ExitCode:
    """Write all reports; return what the games say as an exit status."""
    status = ExitCode.OK
    if standings.result.unplayed:
        status = ExitCode.FAULT
    elif any(one.is_weaker for one in standings.comparisons):
        status = ExitCode.FAILED
    for one, path in places.items():
        try:
            one.write(path, standings)  # type: ignore[arg-type]
        except ReportError as error:
            print(f"gtp-harness: {error}", file=sys.stderr)
            status = ExitCode.FAULT
    if not any(path in report_files.STDOUT for path in places.values()):
        print("\n".join(lines(standings)))
    return status


def _sprt(text: str) -> Sprt:
    """Read ``elo0=0 elo1=10 alpha=0.05 beta=0.05``; what is left out is as it is here."""
    with suppress(ValueError):
        found = Sprt()._replace(**{key: float(value) for key, value in _OF_TEST.findall(text)})
        is_sound = found.elo0 < found.elo1 and 0 < found.alpha < 0.5 and 0 < found.beta < 0.5
        if is_sound and not _OF_TEST.sub("", text).strip():
            return found
    raise refusal(text, "such as elo0=0 elo1=10 alpha=0.05 beta=0.05, with elo0 below elo1")


def _players(engines: Sequence[str]) -> tuple[Player, ...]:
    found: dict[str, Player] = {}
    for text in engines:
        named = _NAMED.fullmatch(text)
        base, command = named.groups() if named else (text, text)
        if named and base in found:
            raise UsageError(f"ENGINE: two are called {base}; give each a name of its own")
        others = (f"{base} ({count})" for count in range(2, len(found) + 2))
        name = next(one for one in (base, *others) if one not in found)
        words = tuple(as_typed(split_program(command)))
        found[name] = Player(name, command, words, seeded="%SRAND" in command)
    return tuple(found.values())


def _rules(arguments: argparse.Namespace) -> tuple[Rules, Specification | None]:
    """Return the rules, and the specification of a declared game."""
    name, size, declared, protocol = arguments.game, arguments.size, None, Rules().protocol
    if name in _SIZES:
        size = size or (_SIZES[name], _SIZES[name])
    else:
        from harness import find_assignment
        from harness.assignments.assignment import specification_of

        found = find_assignment(name)
        declaration, protocol = found.declaration, found.protocol
        declared, name = specification_of(found), found.title
        if declaration is None or declaration.reference is None:
            raise UsageError(
                f"--game {arguments.game}: it declares no [reference] that could referee;"
                " --game go and --game gomoku are played by the oracle's rules"
            )
        check(declaration, arguments.game)
        sizes = declaration.game.sizes
        size = size or sizes[-1]
        if size not in sizes:
            known = ", ".join(f"{columns}x{rows}" for columns, rows in sizes)
            raise UsageError(f"--size: found {size[0]}x{size[1]}, expected one of {known}")
    if name != GO and (arguments.komi or arguments.ko or arguments.handicap):
        raise UsageError("--komi, --ko and --handicap go with --game go")
    komi = arguments.komi or ("0.5" if arguments.handicap else "7.5")
    rules = Rules(name, size, komi, arguments.ko or KOS[0], arguments.handicap,
                  arguments.max_moves, arguments.time, protocol)  # fmt: skip
    return rules, declared


def _openings(arguments: argparse.Namespace, arbiter: Arbiter) -> tuple[Opening, ...]:
    rules = arbiter.match.rules
    if not arguments.openings:
        begun = handicap_opening(rules)
        if arguments.random_moves:
            return arbiter.draw(begun, arguments.random_moves, arguments.drawn, arguments.seed)
        return (begun,)
    if rules.game not in _SIZES or arguments.random_moves or rules.handicap:
        raise UsageError(
            "--openings goes with --game go or gomoku, and neither with --random-moves nor"
            " --handicap"
        )
    found = tuple(read_openings(arguments.openings, rules, arguments.opening_moves))
    for opening in found:
        arbiter.referee(opening)
    return found


def _options(arguments: argparse.Namespace, players: Sequence[Player]) -> Options:
    shown = [
        path
        for player in players
        for path in engine_options.visible_paths(player.command, arguments.sandbox, arguments.show)
    ]
    return Options(
        limits=engine_options.read_limits(arguments),
        box=engine_options.box_limits(arguments),
        sandbox=arguments.sandbox,
        show=tuple(dict.fromkeys(shown)),
        jobs=arguments.concurrency or processors(),
        strict=True,
    )


# --- the command line --------------------------------------------------------------------------


def _size(text: str) -> tuple[int, int]:
    """Read ``9`` or ``7x9``, columns and rows."""
    sides = re.fullmatch(r"(\d{1,2})(?:x(\d{1,2}))?", text)
    found = (int(sides[1]), int(sides[2] or sides[1])) if sides else (0, 0)
    if not all(1 <= side <= 25 for side in found):
        raise refusal(text, "a size such as 9 or 7x9")
    return found


def _time(text: str) -> TimeControl:
    """Read ``300`` or ``60+10/5``: seconds for the game, then seconds for so many moves."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?)/(\d+))?", text)
    if not found or not (float(found[1]) or int(found[3] or 0)):
        raise refusal(
            text,
            "seconds for a game, such as 300, or for the game and then for so many moves, such as"
            " 60+10/5 or 0+5/1",
        )
    return TimeControl(float(found[1]), float(found[2] or 0), int(found[3] or 0))


def _komi(text: str) -> str:
    try:
        parse_komi(text)
    except FormatError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


_COUNT, _FROM_0 = whole(1), whole(0)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("arguments", nargs="*", metavar="PROGRAM", help=argparse.SUPPRESS)
    add = parser.add_argument_group("the game").add_argument
    add("--game", default=GO, metavar="NAME",
        help="go, gomoku, or an assignment of your own, by its folder (default: go)")  # fmt: skip
    add("--size", type=_size, metavar="N",
        help="lines of the board, or columns and rows such as 7x9 (default: 9; gomoku: 15; a"
        " declared game: its largest)")  # fmt: skip
    add("--komi", type=_komi, metavar="N", help="komi (default: 7.5; with a handicap: 0.5)")
    add("--ko", choices=KOS,
        help="which moves repeat too much: simple (a ko is taken back at once) or positional (any"
        " former position) (default: simple)")  # fmt: skip
    add("--handicap", type=_FROM_0, default=0, metavar="N",
        help="stones that Black has at the beginning, on the standard points")  # fmt: skip
    add("--time", type=_time, default=TimeControl(), metavar="TIME",
        help="seconds of each engine for a game, such as 300; or for the game and then for so many"
        " moves, such as 60+10/5 (default: no limit but --timeout)")  # fmt: skip
    add("--max-moves", type=_FROM_0, default=0, metavar="N",
        help="moves after which a game of Go is counted as it stands, and a declared game is a"
        " draw (default: three for each point)")  # fmt: skip
    add("--openings", action="append", default=[], metavar="SGF",
        help="record, or folder of records, with an opening in each game")  # fmt: skip
    add("--opening-moves", type=_FROM_0, default=None, metavar="N",
        help="most moves of a record that are an opening (default: all)")  # fmt: skip
    add("--random-moves", type=_COUNT, default=0, metavar="N",
        help="moves of each opening, drawn from the legal ones (default: none)")  # fmt: skip
    add("--drawn", type=_COUNT, default=50, metavar="N",
        help="openings to draw, used in turn (default: %(default)s)")  # fmt: skip
    add("--seed", default="0", metavar="TEXT",
        help="the same seed draws the same openings (default: %(default)s)")  # fmt: skip
    add = parser.add_argument_group("the match").add_argument
    add("--format", choices=FORMATS, default=ROUND_ROBIN,
        help="who plays whom: everybody everybody, players with as many points each other, or the"
        " first engine all others (default: %(default)s)")  # fmt: skip
    add("--games", type=_COUNT, default=0, metavar="N",
        help=f"games of each pairing, two of them with one opening (default: {_USUAL}; in a Swiss:"
        f" {_GAMES[SWISS]}; with --sprt at most {_MOST_BY_TEST})")  # fmt: skip
    add("--rounds", type=_COUNT, default=0, metavar="N",
        help="rounds of a Swiss (default: two more than a knockout would have)")  # fmt: skip
    add("--concurrency", type=_COUNT, default=0, metavar="N",
        help="games played at a time (default: the number of cores)")  # fmt: skip
    add("--sprt", type=_sprt, metavar="TEST",
        help="end a match of two when this sequential test decides it: elo0=0 elo1=10 alpha=0.05"
        " beta=0.05, or what differs from that")  # fmt: skip
    add("--baseline", metavar="NAME", help="engine that no other may be weaker than")
    add("--journal", metavar="FILE", default="",
        help="keep each game in this file, and do not play again those that it has: the same"
        " command continues a match that was interrupted")  # fmt: skip
    add = parser.add_argument_group("the engines").add_argument
    engine_options.add_limits(add)
    engine_options.add_options(parser)
    add = parser.add_argument_group("output").add_argument
    for one in REPORTERS:
        add(one.option, metavar=one.metavar, help=one.what)
    add("--verbose", action="store_true", help="a line for each game, on standard error")
    add_help(add)


class _MatchCommand(Command):
    """``gtp-harness match``, whose ``--sprt`` has a value of several words."""

    def main(self, words: list[str]) -> int:
        if "--sprt" in words:
            place = words.index("--sprt")
            given = list(takewhile(_OF_TEST.fullmatch, words[place + 1 :]))
            rest = words[place + 1 + len(given) :]
            words = [*words[:place], f"--sprt={' '.join(given)}", *rest]
        return super().main(words)


MATCH = _MatchCommand("match", _PAGE, _add_options, _run)
