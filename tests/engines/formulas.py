"""Replies with formulas, for spreadsheets, and with the lines of TAP, JSON and YAML."""

from common import answer, serve

FORMULAS = (
    '=cmd|"/c calc"!A0\n+1+1\n-2+3\n@SUM(1;1)\n\t=1,"2"\nnot ok 1\n1..0\nBail out!\n  ...\n"}]}'
)
serve(lambda id_, name: answer(id_, FORMULAS))
