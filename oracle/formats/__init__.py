"""Positions as text: every format the oracle reads, and :func:`read_position` to read any of them.

=============  ==============================================================  ====================
name           what it is                                                      module
=============  ==============================================================  ====================
``sgf``        a game record (FF 1 to 4), any game, move and variation         :mod:`oracle.sgf`
``text``       rows of 0, 1 and 2 (java-go.txt, "Sample game board file")      :mod:`oracle.boards`
``gosensei``   one stone on each line (gosensei.txt, "Go Board Configuration   :mod:`oracle.boards`
               File")
``picture``    the board as gosensei.txt displays it                           :mod:`oracle.boards`
``diagram``    the board as ``sgfmill.ascii_boards`` prints it                 :mod:`oracle.boards`
``drawing``    rows of ``.``, ``X`` and ``O``, as comments of case files       :mod:`oracle.boards`
               draw them, with or without ``#``
``gtp``        a case file's position before one of its lines or tests         ``cases``
=============  ==============================================================  ====================
"""

from __future__ import annotations

from oracle.boards.snapshot import Snapshot, SnapshotChoice
from oracle.formats.detect import FORMATS, read_position

__all__ = ["FORMATS", "Snapshot", "SnapshotChoice", "read_position"]
