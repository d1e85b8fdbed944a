#!/usr/bin/env python3
# ruff: noqa - as others write
# Cram on any rectangle: a domino covers two empty cells; who cannot place one loses.
# GTP without list_commands; "boardsize W H", "play A1 B1"; a refusal begins with "=".
import sys

W, H, used, turn = 3, 3, set(), 1


def cell(text):
    return ord(text[0].lower()) - ord("a"), int(text[1:]) - 1


def text(one):
    return "abcdefghij"[one[0]] + str(one[1] + 1)


def inside(one):
    return 0 <= one[0] < W and 0 <= one[1] < H


def free():
    return [(x, y) for y in range(H) for x in range(W) if (x, y) not in used]


def places():
    found = []
    for x, y in free():
        for one in ((x + 1, y), (x, y + 1)):
            if inside(one) and one not in used:
                found.append(((x, y), one))
    return found


def place(direction, vertex):
    global turn
    if direction not in ("h", "v"):
        return f'illegal move: "{direction}" wrong direction'
    try:
        first = cell(vertex)
    except ValueError:
        return f'illegal move: "{vertex}" wrong coordinate'
    second = (first[0] + 1, first[1]) if direction == "h" else (first[0], first[1] + 1)
    if not inside(first) or not inside(second):
        return f'illegal move: "{vertex}" off board'
    if first in used or second in used:
        return f'illegal move: "{vertex}" occupied'
    used.update((first, second))
    turn = 3 - turn
    return ""


def answer(name, words):
    global W, H, turn
    if name == "boardsize":
        W, H = int(words[0]), int(words[1])
    if name in ("boardsize", "clear_board"):
        used.clear()
        turn = 1
        return ""
    if name == "play":
        return place(*words)
    if name == "free":
        return " ".join(map(text, free()))
    if name == "count":
        return str(len(places()))
    if name == "loser":
        return "none" if places() else f"player {turn}"
    if name == "quit":
        return ""
    return None


for line in sys.stdin:
    number, words = "", line.split()
    if words and words[0].isdigit():
        number = words.pop(0)
    if not words:
        continue
    try:
        said = answer(words[0], words[1:])
    except Exception as error:
        said = None
    print(f"?{number} unknown command\n" if said is None else f"={number} {said}\n", flush=True)
    if words[0] == "quit":
        break
