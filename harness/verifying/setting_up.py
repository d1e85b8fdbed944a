"""What commands of a set-up decide, and what a refused one leaves unknown. Pure."""

from __future__ import annotations

from oracle.formats.cases import may_change

_SIZE, _STONES, _TURN, _KOMI, _POLICY = "size", "stones", "turn", "komi", "policy"
_BOARD = (_SIZE, _STONES, _TURN)
_SETS = {
    "boardsize": _BOARD,
    "clear_board": (_STONES, _TURN),
    "load_board": _BOARD,
    "loadsgf": (*_BOARD, _KOMI),
    "gogui-setup_player": (_TURN,),
    "komi": (_KOMI,),
    "policy": (_POLICY,),
}
# Commands whose answers depend on less than the board, or on more.
_NEEDS = {
    **dict.fromkeys(("name", "version", "protocol_version", "list_commands", "known_command"), ()),
    "is_valid": (),
    "gogui-rules_board_size": (_SIZE,),
    "score": (*_BOARD, _KOMI),
    "final_score": (*_BOARD, _KOMI),
    "genmove": (*_BOARD, _POLICY),
    "policy_moves": (*_BOARD, _POLICY),
}


def sets_up(name: str) -> bool:
    """Return whether later answers depend on a command, told by its name."""
    return name in _SETS or may_change(name)


class Unknown:
    """What is not known of a game because a command of its set-up was refused."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}  # what is not known, and the line of the refused command

    def refused(self, name: str, line: int) -> None:
        """Forget what a command would have set; of a move or an unknown command, the stones."""
        if sets_up(name):
            for part in _SETS.get(name, (_STONES, _TURN)):
                self._since.setdefault(part, line)

    def accepted(self, name: str, line: int) -> None:
        """Know again what a command has set."""
        for part in _SETS.get(name, ()):
            self._since.pop(part, None)

    def line(self, name: str) -> int:
        """Return the line that keeps a command's right answer from being known; 0 if none does."""
        needed = _NEEDS.get(name, _BOARD)
        return min((self._since[part] for part in needed if part in self._since), default=0)
