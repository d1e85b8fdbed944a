"""``--game gomoku``: the gomoku-rules and gomoku-policy assignments, and a game for GoGui."""

from __future__ import annotations

from oracle.answers import gomoku_policy, gomoku_rules
from oracle.color import NAMES, color_of, opponent
from oracle.errors import GtpError, VertexError
from oracle.games.gomoku import GomokuGame
from oracle.gtp import arguments, common, loading, questions
from oracle.gtp.protocol import Engine
from oracle.gtp.session import Session
from oracle.vertex import parse_vertex, vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.gtp.protocol import Table
    from oracle.gtp.questions import Questions
    from oracle.position import Position
