"""The effect of each command, by its name: the one table of it.

The *properties* of a command say what it sets and changes, what its answer depends on, and what
else those must know who send it, follow it or send it again. :data:`STANDARD` has the commands of
the Go Text Protocol (GTP version 2) and what GNU Go, GoGui and programs with boards in files add
to it. An assignment adds its own. Of a command that nobody told of, its name tells a little:
:func:`guess_properties`.

Commands about an engine's clock, strength or chance (``time_settings``, ``level`` …) are left out
on purpose: how many of their settings hold side by side is for the engine to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

Parts = frozenset[str]
# Parts of what an engine remembers; an assignment may have more. Stones and turn belong to a
# board, all others outlive it.
SIZE, STONES, TURN, KOMI = "size", "stones", "turn", "komi"
NOTHING: Parts = frozenset()
MOVED: Parts = frozenset({STONES, TURN})
BOARD: Parts = MOVED | {SIZE}


class CommandProperties:
    """A command's effects; without arguments it asks about the board and changes nothing.

    Attributes: ``sets``, the parts that are as it says then, whatever they were; ``changes``,
    those that it alters, or leaves arbitrary; ``needs``, those that its answer depends on;
    ``initial``, of a setting, the command that makes it as it is before any; ``names_file``,
    whether its first argument is a file's name; ``lays``, whether it puts stones on the board that
    nobody played; ``moves``, whether it plays; ``chooses``, whether the engine decides what;
    ``thinks``, whether it may take long or end when input arrives; ``tells``, whether its reply
    says what it put on the board; ``ends``, whether the engine ends; ``is_known``, whether all of
    this is known, and not only what its name tells.
    """

    def __init__(  # noqa: PLR0913 - a record of independent facts
        self,
        *,
        sets: Parts = NOTHING,
        changes: Parts = NOTHING,
        needs: Parts = BOARD,
        initial: str = "",
        names_file: bool = False,
        lays: bool = False,
        moves: bool = False,
        chooses: bool = False,
        thinks: bool = False,
        tells: bool = False,
        ends: bool = False,
        is_known: bool = True,
    ) -> None:
        self.sets = sets
        self.changes = changes
        self.needs = needs
        self.initial = initial
        self.names_file = names_file
        self.lays = lays
        self.moves = moves
        self.chooses = chooses
        self.thinks = thinks
        self.tells = tells
        self.ends = ends
        self.is_known = is_known

    def needing(self, *parts: str) -> CommandProperties:
        """Return those of a command whose answer depends on more parts."""
        return CommandProperties(**vars(self) | {"needs": self.needs.union(parts)})

    def among(self, parts: Parts) -> CommandProperties:
        """Return those of a command in a game that has no other parts than these."""
        return CommandProperties(**vars(self) | {"needs": self.needs & parts})

    def does_as(self, other: CommandProperties) -> bool:
        """Whether two commands do the same; their answers may depend on different parts."""
        return vars(self) | {"needs": other.needs} == vars(other)

    @property
    def touches(self) -> Parts:
        """The parts that are not as they were."""
        return self.sets | self.changes

    @property
    def renews(self) -> Parts:
        """The parts that are known again after it, whatever was unknown before.

        GTP 2, section 6.3.1, *boardsize*: "board configuration … and move history become
        arbitrary". All engines clear the board.
        """
        return self.sets | BOARD if SIZE in self.sets else self.sets

    @property
    def lasting(self) -> Parts:
        """The parts of those that outlive a board."""
        return self.touches - MOVED

    @property
    def sets_up(self) -> bool:
        """Whether later answers may depend on it."""
        return bool(self.touches)

    @property
    def asks(self) -> bool:
        """Whether nothing but its answer matters."""
        return not (self.touches or self.ends)

    @property
    def says_nothing(self) -> bool:
        """Whether its reply is empty, unless it is refused."""
        return self.sets_up and not self.tells

    @property
    def is_setting(self) -> bool:
        """Whether it makes one setting, which holds until it is made anew."""
        return len(self.lasting) == 1 and not self.begins_board

    @property
    def begins_board(self) -> bool:
        """Whether a new board begins with it."""
        return SIZE in self.sets or STONES in self.sets

    @property
    def loads(self) -> bool:
        """Whether it names a file from which it sets up the board."""
        return self.begins_board and self.names_file

    @property
    def begins_game(self) -> bool:
        """Whether it begins a board and makes no setting beside its size, as records may."""
        return self.begins_board and len(self.lasting) <= 1

    @property
    def clears(self) -> bool:
        """Whether it begins a board on which nothing is arbitrary."""
        return self.begins_game and STONES in self.sets

    @property
    def may_think(self) -> bool:
        """Whether it may take as long as a move: all others only ask, and answer soon."""
        return self.chooses or self.thinks

    @property
    def stands_alone(self) -> bool:
        """Whether nothing else may be sent before its reply has come."""
        return self.thinks or self.ends


_REMEMBERED = 5_000  # commands: moves on a large board, with both colors


class _AloneTable(dict[str, bool]):
    """Whether nothing else may be sent before the reply to a command; found out once for each."""

    def __init__(self, lookup: Callable[[str], CommandProperties]) -> None:
        super().__init__()
        self._at_hand = lookup

    def __missing__(self, command: str) -> bool:
        found = self._at_hand(command.partition(" ")[0]).stands_alone
        if len(self) < _REMEMBERED:  # many come again, but not all
            self[command] = found
        return found


class PropertyTable(dict[str, CommandProperties]):
    """The properties of commands by their names; of others, what their names tell."""

    def __init__(
        self,
        properties: Mapping[str, CommandProperties],
        more: Callable[[], Mapping[str, CommandProperties]] | None = None,
    ) -> None:
        """Take what is known; ``more``: is asked once, for a name not in ``properties``."""
        super().__init__(properties)
        self._more = more
        self.alone = _AloneTable(self.at_hand)

    def __missing__(self, name: str) -> CommandProperties:
        if self._more is not None:
            more, self._more = self._more(), None
            for other, properties in more.items():
                self.setdefault(other, properties)
            return self[name]
        found = self[name] = guess_properties(name)
        return found

    def at_hand(self, name: str) -> CommandProperties:
        """Return the known facts about a command, without asking for more."""
        return self.get(name) or guess_properties(name)


_ASKING = ("gogui-rules_", "oracle-")
# Parts of the names of commands that may change the board …
_SUSPECT = (
    *("genmove", "sgf", "setup", "position", "boardsize", "undo", "play", "clear_board"),
    *("handicap", "load"),
)
# … and of some that do not: questions and settings.
_HARMLESS = (
    *("reg_genmove", "printsgf", "savesgf", "setup_player", "side_to_move", "list_", "known_"),
    *("-rules_", "get_", "query_", "display", "can_play"),
)
# Parts of the names of commands that some engines stop thinking about when input arrives …
_THINKING = ("genmove", "search", "think", "ponder")


def guess_properties(name: str) -> CommandProperties:
    """Return what a name tells of a command."""
    if name.startswith(_ASKING):
        return ASKS
    suspect = any(part in name for part in _SUSPECT)
    return CommandProperties(
        changes=MOVED if suspect and not any(part in name for part in _HARMLESS) else NOTHING,
        chooses="genmove" in name,
        # … and those that run until it does end so.
        thinks=name.endswith("analyze") or any(part in name for part in _THINKING),
        is_known=False,
    )


ASKS = CommandProperties()
SCORES = ASKS.needing(KOMI)
_ABOUT_ENGINE = CommandProperties(needs=NOTHING)
_PLAYS = CommandProperties(changes=MOVED, moves=True)
_GENERATES = CommandProperties(changes=MOVED, moves=True, chooses=True, thinks=True, tells=True)
_TAKES_BACK = CommandProperties(changes=MOVED)
_LAYS = CommandProperties(changes=MOVED, lays=True)

STANDARD = PropertyTable(
    {
        # GTP version 2, section 6.3.
        "protocol_version": _ABOUT_ENGINE,
        "name": _ABOUT_ENGINE,
        "version": _ABOUT_ENGINE,
        "known_command": _ABOUT_ENGINE,
        "list_commands": _ABOUT_ENGINE,
        "quit": CommandProperties(needs=NOTHING, ends=True),
        "boardsize": CommandProperties(sets=frozenset({SIZE}), changes=MOVED),
        "clear_board": CommandProperties(sets=MOVED),
        "komi": CommandProperties(sets=frozenset({KOMI}), initial="komi 0"),
        "play": _PLAYS,
        "genmove": _GENERATES,
        "undo": _TAKES_BACK,
        "fixed_handicap": CommandProperties(changes=MOVED, lays=True, tells=True),
        "place_free_handicap": CommandProperties(
            changes=MOVED, lays=True, tells=True, chooses=True
        ),
        "set_free_handicap": _LAYS,
        "final_score": SCORES,
        "final_status_list": ASKS,
        "loadsgf": CommandProperties(sets=BOARD | {KOMI}, names_file=True, lays=True),
        "reg_genmove": CommandProperties(chooses=True, thinks=True),
        "showboard": ASKS,
        # GNU Go and those who follow it.
        "cputime": _ABOUT_ENGINE,
        "get_komi": CommandProperties(needs=frozenset({KOMI})),
        "black": _PLAYS,
        "white": _PLAYS,
        "gg-undo": _TAKES_BACK,
        "all_legal": ASKS,
        "legal_moves": ASKS,
        "is_legal": ASKS,
        "captures": ASKS,
        "list_stones": ASKS,
        "countlib": ASKS,
        "findlib": ASKS,
        "get_handicap": ASKS,
        "query_boardsize": CommandProperties(needs=frozenset({SIZE})),
        "query_orientation": _ABOUT_ENGINE,
        "kgs-genmove_cleanup": _GENERATES,
        # GoGui.
        "gogui-analyze_commands": _ABOUT_ENGINE,
        "gogui-play_sequence": _PLAYS,
        "gogui-setup": _LAYS,
        "gogui-setup_player": CommandProperties(sets=frozenset({TURN})),
        "gogui-rules_board_size": CommandProperties(needs=frozenset({SIZE})),
        "gogui-rules_side_to_move": CommandProperties(needs=frozenset({TURN})),
        # Programs with boards in files of their own.
        "load_board": CommandProperties(sets=BOARD, names_file=True, lays=True),
    }
)
