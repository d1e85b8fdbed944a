#!/usr/bin/env python3
# ruff: noqa - as others write
"""Spread: a stone takes over all adjacent stones of the other color. A player with dice. GTP."""

import random
import re
import sys


class IllegalMove(Exception):
    pass


class State:
    def __init__(self, size=5):
        self.size = size
        self.cells = {}
        self.to_move = "B"

    def neighbors(self, column, row):
        for dc, dr in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if 1 <= column + dc <= self.size and 1 <= row + dr <= self.size:
                yield column + dc, row + dr

    def empty(self):
        both = range(1, self.size + 1)
        return [(c, r) for r in both for c in both if (c, r) not in self.cells]

    def put(self, color, point):
        if point not in self.empty():
            raise IllegalMove("illegal move")
        self.cells[point] = color
        for near in self.neighbors(*point):
            if near in self.cells:
                self.cells[near] = color
        self.to_move = "W" if color == "B" else "B"


def to_text(point):
    return "ABCDEFGHJKLMNOPQRST"[point[0] - 1] + str(point[1])


def to_point(text):
    if not re.fullmatch("[A-HJ-T][0-9]+", text.upper()):
        raise IllegalMove("invalid coordinate")
    return "ABCDEFGHJKLMNOPQRST".index(text[0].upper()) + 1, int(text[1:])


def to_color(text):
    if text.upper() not in ("B", "W", "BLACK", "WHITE"):
        raise IllegalMove("invalid color")
    return text[0].upper()


state = State()


def cmd_boardsize(size):
    if not 2 <= int(size) <= 19:
        raise IllegalMove("unacceptable size")
    state.__init__(int(size))


def cmd_clear_board():
    state.__init__(state.size)


def cmd_play(color, vertex):
    if to_color(color) != state.to_move:
        raise IllegalMove("not this player's turn")
    state.put(to_color(color), to_point(vertex))


def cmd_genmove(color):
    if to_color(color) != state.to_move:
        raise IllegalMove("not this player's turn")
    if not state.empty():
        return "pass"
    point = random.choice(state.empty())
    state.put(state.to_move, point)
    return to_text(point)


def cmd_stones(color):
    return " ".join(to_text(p) for p, c in sorted(state.cells.items()) if c == to_color(color))


def cmd_score():
    black = list(state.cells.values()).count("B")
    return f"{black} {len(state.cells) - black}"


def cmd_game_over():
    return "false" if state.empty() else "true"


def cmd_policy(name):
    if name not in ("random", "greedy"):
        raise IllegalMove("no such policy")


def cmd_list_commands():
    return "\n".join(sorted(name[4:] for name in globals() if name.startswith("cmd_")))


def cmd_quit():
    return ""


while True:
    line = sys.stdin.readline()
    if not line:
        break
    words = line.split()
    if not words:
        continue
    number = words.pop(0) if words[0].isdigit() else ""
    try:
        function = globals().get("cmd_" + words[0])
        if function is None:
            raise IllegalMove("unknown command")
        text, status = function(*words[1:]), "="
    except (IllegalMove, TypeError, ValueError) as error:
        text, status = error, "?"
    sys.stdout.write(f"{status}{number} {'' if text is None else text}\n\n")
    sys.stdout.flush()
    if words[0] == "quit":
        break
