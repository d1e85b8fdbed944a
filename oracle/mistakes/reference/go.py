"""The ``score`` of go-scoring.txt in parts: points, komi, text."""

from __future__ import annotations

from oracle.answers.go_scoring import NEUTRAL, Region, empty_regions
from oracle.komi import exact, plain_text
from oracle.mistakes.bank import Route, part
from oracle.position import BLACK, WHITE, Position

TYPE_CHECKING = False

if TYPE_CHECKING:
    from decimal import Decimal

    from oracle.gtp.go import GoSession
    from oracle.gtp.protocol import Command
    from oracle.komi import Komi

SIGNS = {BLACK: 1, WHITE: -1, NEUTRAL: 0}


def is_shared(region: Region) -> bool:
    """Whether a region touches both colors."""
    return bool(region.borders[BLACK] and region.borders[WHITE])


# --- points: above 0 for Black, below 0 for White ----------------------------------------------


@part()
def stones(session: GoSession, position: Position) -> int:
    """Return Black's stones minus White's."""
    return position.black.bit_count() - position.white.bit_count()


@part()
def regions(session: GoSession, position: Position) -> list[Region]:
    """Return the empty regions, by their lowest point."""
    return empty_regions(position)


@part()
def owned(session: GoSession, position: Position, region: Region) -> int:
    """Return the worth of a region that touches one color, or none."""
    return SIGNS[region.owner] * len(region.points)


@part()
def shared(session: GoSession, position: Position, region: Region) -> int:
    """Return the worth of a region that touches both colors."""
    return 0


@part(owned, shared)
def worth(session: GoSession, position: Position, region: Region) -> int:
    """Return the worth of a region."""
    kind = shared if is_shared(region) else owned
    return int(kind(session, position, region))


@part(regions, worth)
def territory(session: GoSession, position: Position) -> int:
    """Return the worth of all regions."""
    return sum(worth(session, position, region) for region in regions(session, position))


@part(stones, territory)
def lead(session: GoSession, position: Position) -> int:
    """Return Black's points minus White's, on the board."""
    return int(stones(session, position) + territory(session, position))


# --- komi and text -----------------------------------------------------------------------------


@part()
def komi(session: GoSession, value: Komi) -> Komi:
    """Return what is taken from Black's lead, told the komi."""
    return value


@part()
def number(session: GoSession, value: Decimal) -> str:
    """Return a lead without its color."""
    return plain_text(abs(value))


@part()
def draw(session: GoSession) -> str:
    """Return the text of a draw."""
    return "0"


@part(number, draw)
def text(session: GoSession, value: Decimal) -> str:
    """Return the text of Black's lead."""
    if not value:
        return str(draw(session))
    return ("B+" if value > 0 else "W+") + str(number(session, value))


def score(right: Command, session: GoSession, words: list[str]) -> str:
    """Answer by the parts."""
    on_board = lead(session, session.game.position)
    return str(text(session, exact().subtract(on_board, komi(session, session.komi))))


_SCORE = Route(score, (lead, komi, text))
ROUTES = {"score": _SCORE, "final_score": _SCORE}
