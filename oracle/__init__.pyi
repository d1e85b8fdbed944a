"""The types of the public interface of ``oracle``."""

from oracle import batch as batch
from oracle import batch_gomoku as batch_gomoku
from oracle import sgf as sgf
from oracle.answers import go_scoring as go_scoring
from oracle.answers import gomoku_policy as gomoku_policy
from oracle.answers import gomoku_rules as gomoku_rules
from oracle.answers import gosensei as gosensei
from oracle.answers import java_go as java_go
from oracle.assignments import engine_for as engine_for
from oracle.boards import Snapshot as Snapshot
from oracle.draw import Diagram as Diagram
from oracle.draw import draw_svg as draw_svg
from oracle.draw import draw_text as draw_text
from oracle.errors import FormatError as FormatError
from oracle.errors import IllegalMove as IllegalMove
from oracle.errors import OracleError as OracleError
from oracle.errors import SgfError as SgfError
from oracle.errors import VertexError as VertexError
from oracle.explanation import Explanation as Explanation
from oracle.explanation import is_underspecified as is_underspecified
from oracle.formats import read_position as read_position
from oracle.games.go import GoGame as GoGame
from oracle.games.gomoku import GomokuGame as GomokuGame
from oracle.gtp.protocol import Engine as Engine
from oracle.position import BLACK as BLACK
from oracle.position import EMPTY as EMPTY
from oracle.position import WHITE as WHITE
from oracle.position import Grid as Grid
from oracle.position import Position as Position
from oracle.position import parse_vertex as parse_vertex

__version__: str

__all__ = [
    "BLACK",
    "EMPTY",
    "WHITE",
    "Diagram",
    "Engine",
    "Explanation",
    "FormatError",
    "GoGame",
    "GomokuGame",
    "Grid",
    "IllegalMove",
    "OracleError",
    "Position",
    "SgfError",
    "Snapshot",
    "VertexError",
    "batch",
    "batch_gomoku",
    "draw_svg",
    "draw_text",
    "engine_for",
    "go_scoring",
    "gomoku_policy",
    "gomoku_rules",
    "gosensei",
    "is_underspecified",
    "java_go",
    "parse_vertex",
    "read_position",
    "sgf",
]
