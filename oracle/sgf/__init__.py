"""Game records in SGF, read through sgfmill and written by it.

sgfmill splits a file into tokens, unescapes text and writes files. What it makes of a game is not
used, because it is silent where a reader must know: it takes the first game of a collection, knows
no game but Go, reads a missing or lower-case ``SZ`` as 19, drops the second move of a node, lets
illegal moves pass, and refuses stones that are set up after the first node.

The way of a file: bytes, text and trees of nodes (:mod:`~oracle.sgf.tree`); the game, its header,
the chosen line and what its nodes do to the board (:mod:`~oracle.sgf.replay`, or
:mod:`~oracle.sgf.load` as engines do it). :mod:`~oracle.sgf.write` goes the other way.

Source: SGF FF[4], https://www.red-bean.com/sgf/
"""

from oracle.errors import SgfError
from oracle.sgf.replay import read_sgf
from oracle.sgf.tree import Node, SgfGame, games
from oracle.sgf.write import write_sgf

__all__ = ["Node", "SgfError", "SgfGame", "games", "read_sgf", "write_sgf"]
