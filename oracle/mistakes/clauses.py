"""The settled clauses of each assignment, and the mistakes of the bank that break them.

A clause is what a document says, or what settles that it leaves open (``cases/README.md``, "What a
case may ask"). Every mistake of the bank whose answers are wrong beyond doubt breaks one.
So a set of case files tests a clause if it catches one of its mistakes.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple


class Clause(NamedTuple):
    """One clause."""

    name: str
    sentence: str
    source: str  # the section of the assignment's document
    mistakes: tuple[str, ...]  # names of those that break it


SETTLED = "cases/README.md: What a case may ask"
_Row = tuple[str, str, str, str]  # a clause with the names of its mistakes in one text


def _clauses(*rows: _Row) -> tuple[Clause, ...]:
    return tuple(
        Clause(name, sentence, source, tuple(mistakes.split()))
        for name, sentence, source, mistakes in rows
    )


CLAUSES: dict[str, tuple[Clause, ...]] = {
    "go-scoring": _clauses(
        ("stones", "Each stone on the board is a point.", "More Detailed Example",
         "stones-not-counted"),
        ("territory", "Each empty point of a region that one color surrounds is its point.",
         "More Detailed Example",
         "territory-not-counted single-points-only region-is-one-point"
         " region-once-for-every-stone only-first-region single-region-counts-nothing"
         " ko-point-not-counted"),
        ("neutral", "A region that both colors touch counts for nobody.", "More Detailed Example",
         "neutral-points-to-white neutral-points-to-black neutral-points-to-first-neighbor"
         " neutral-points-to-majority"),
        ("components", "Regions are connected along rows and columns, up to the edge.",
         "Assignment Overview", "diagonal-fill wrap-around border-regions-dropped"),
        ("empty-board", "The empty board counts for nobody.", SETTLED,
         "empty-board-to-white fill-never-ends-on-empty-board"),
        ("komi", "The komi is added to White's points, whatever its value.",
         "More Detailed Example",
         "komi-to-black komi-twice komi-ignored komi-cut-to-whole negative-komi-ignored"),
        ("winner", "A lead of Black is B+n, one of White W+n, n not rounded.",
         "GTP Command for Scoring", "colors-exchanged integer-division minus-sign"),
        ("draw", "A draw is 0.", "GTP Command for Scoring", "draw-with-fraction draw-with-winner"),
        ("read-only", "score may be asked again, and leaves the board as it is.",
         "Details - Read Them All!", "board-changed-by-score points-add-up"),
        ("sizes", "The board has a size from 2 to 9.", "GTP Commands for Setup",
         "wrong-at-size-2"),
        ("new-board", "boardsize and clear_board empty the board.", "GTP Commands for Setup",
         "state-kept-after-clear-board"),
        ("play", "play puts a stone of the named color, and captures.", "GTP Commands for Setup",
         "captured-stones-stay colors-must-alternate"),
    ),
    "gomoku-rules": _clauses(
        ("five", "Five or more stones of one color in a row win.", "Rules of Gomoku",
         "exactly-five four-wins stones-of-both-colors-in-line nobody-wins only-black-wins"
         " five-seen-from-its-end-only"),
        ("lines", "A row is horizontal, vertical or diagonal, anywhere on the board.",
         "Rules of Gomoku",
         "only-one-diagonal no-diagonals only-rows diagonal-of-knight-steps wrap-around-the-edge"
         " last-row-and-column-missed"),
        ("no-captures", "There is no capturing, no suicide and no ko.",
         "Some Implementation Differences between Go and Gomoku",
         "captures-as-in-go suicide-refused-as-in-go genmove-refuses-suicide"),
        ("new-game", "clear_board and boardsize begin a new game, and Black begins.",
         "GTP Commands",
         "winner-kept-on-new-board winner-kept-after-boardsize turn-kept-on-new-board"),
        ("play", "play puts a stone of the named color; then it is the other color's turn.",
         SETTLED, "play-keeps-the-turn turn-must-be-kept"),
        ("coordinates", "Columns skip I, and rows may have two digits.", "GTP Commands",
         "i-is-a-column row-above-9-not-read"),
        ("play-errors", "An illegal move is told by a reply with the wrong argument and why.",
         "Details of the play command",
         "error-copies-both-arguments errors-fail errors-silent occupied-not-checked"),
        ("error-order", "The first reason that holds is told: color, coordinate, occupied.",
         "Details of the play command", "error-order"),
        ("errors-change-nothing", "An illegal move does not change the game.",
         "Details of the play command", "turn-lost-by-an-error"),
        ("legal-moves", "The legal moves are all empty points, sorted.",
         "Details of the gogui-rules_legal_moves command",
         "sorted-by-rows legal-moves-from-the-top occupied-points-listed"),
        ("no-moves", "When the game is over the list of legal moves is empty.",
         "Details of the gogui-rules_legal_moves command",
         "moves-after-the-end brackets-for-an-empty-list"),
        ("result", "While the game goes on the result is unknown; later it stays.",
         "Details for the gogui-rules_final_result command",
         "no-winner-is-draw result-crashes-on-empty-board winner-not-remembered"),
        ("draw", "A full board without five in a row is a draw, and not before it is full.",
         "Details for end of game", "draw-one-move-early full-board-unknown"),
        ("genmove", "genmove plays a legal move of the named color.", "Details for end of game",
         "genmove-does-not-place genmove-plays-for-side-to-move genmove-crashes-on-empty-board"),
        ("resign", "After the opponent's five genmove answers resign.", "Details for end of game",
         "resign-for-the-wrong-side never-resigns"),
        ("pass", "On a full board that is a draw genmove answers pass.",
         "Details for end of game", "resigns-a-draw genmove-crashes-on-full-board"),
    ),
    "gomoku-policy": _clauses(
        ("win", "Win: every point that completes five or more.", "Win",
         "win-not-seen win-by-exactly-five gapped-fours-missed first-threat-only"),
        ("block-win", "BlockWin: every point that stops a five, even if not all can be stopped.",
         "BlockWin", "one-end-blocked hopeless-not-blocked"),
        ("lines", "Lines run in four directions and end at the edge.", SETTLED,
         "rows-wrap-around falling-diagonals-missed"),
        ("open-four", "OpenFour: every point that makes four stones with two empty ends.",
         "OpenFour",
         "open-four-without-empty-end gapped-open-fours-missed diagonal-open-fours-missed"
         " one-of-two-open-fours edge-as-empty ends-of-split-three-listed"
         " open-three-is-open-four"),
        ("block-open-four", "BlockOpenFour: ..OOO.. is blocked beside the stones.",
         "BlockOpenFour", "random-where-block-exists outer-points-block"),
        ("third-block", "X.OOO.. is blocked on three points, at the edge and mirrored as well.",
         "BlockOpenFour",
         "one-sided-three-not-seen third-block-lost third-block-lost-at-the-edge"
         " third-block-lost-beside-a-stone third-block-lost-below third-block-lost-above"
         " third-block-answered-is-lost"),
        ("split-three", ".OO.O. is blocked on three points, mirrored as well.", "BlockOpenFour",
         "split-three-gap-alone split-three-not-seen split-three-lone-end-lost"
         " split-three-pair-end-lost mirrored-split-three-end-lost"
         " blocks-of-the-edge-and-gaps-alone"),
        ("order", "Only the first type that has a move counts, in the order of the list.",
         "rule-based policy",
         "own-open-four-before-block block-before-win block-before-open-four"),
        ("to-play", "The moves are those of the color to play, and asking changes nothing.",
         "policy_moves", "always-for-black policy-moves-passes-the-turn"),
        ("random", "Under policy random the type is Random, with every empty point.",
         "policy_moves", "random-policy-ignored random-policy-has-no-type"),
        ("policy", "A policy holds from then on, on new boards, too; at first it is random.",
         "policy policytype",
         "policy-lost-on-new-board rule-based-by-default crash-before-policy"
         " hang-before-policy"),
        ("the-end", "When the game is over the reply is empty.", SETTLED,
         "list-after-the-end rules-after-a-five type-after-the-end type-on-a-full-board"
         " crash-on-a-full-board"),
        ("sorted", "The moves are sorted as the legal moves are, each once.", "policy_moves",
         "sorted-by-row rows-from-the-top third-blocks-twice duplicates"),
    ),
    "gosensei": _clauses(
        ("eye", "An eye is a single empty point with the same color at all its sides.",
         "-eyes Options", "white-eyes-too stones-are-eyes"),
        ("diagonals", "All diagonal neighbors of an eye but one are of its color.",
         "-eyes Options",
         "eyes-without-diagonals all-diagonals-needed two-diagonals-may-miss"
         " missing-diagonal-must-be-empty"),
        ("edge", "At the edge an eye has fewer neighbors.", "-eyes Options",
         "edge-eyes-need-all-diagonals beyond-the-edge-is-missing only-inner-neighbors"),
        ("two-eyes", "Eyes are counted that have another within two rows or columns.",
         "-twoeyes Options",
         "two-eyes-by-distance-1 two-eyes-by-distance-3 every-eye-is-two-eyes"
         " all-eyes-when-two-exist two-eyes-divided-by-two two-eyes-in-one-line"),
        ("eye-space", "An eye space is a group of empty points, at the edge as well.",
         "-eyespaces Options",
         "points-of-spaces spaces-joined-by-diagonals spaces-at-the-edge-missed"),
        ("surrounded", "All stones around an eye space are black and connected.",
         "-eyespaces Options",
         "spaces-touching-white spaces-of-several-chains outside-is-a-space"
         " empty-board-is-a-space white-spaces-too"),
        ("plural", "One is singular, any other number is plural.", "-eyes Options",
         "no-plural always-plural none-is-singular"),
        ("sentences", "The sentences are those of the document, to the letter.",
         "-twoeyes Options", "two-eyes-in-good-english no-full-stop"),
        ("file", "A board file has a color, a column from a to i and a row in each line.",
         "Go Board Configuration File",
         "capital-letters-refused columns-skip-i row-before-column"),
        ("file-errors", "Wrong lines and two stones on one point are errors.",
         "Go Board Configuration File",
         "second-stone-overwrites second-stone-of-a-color-allowed bad-lines-skipped"
         " checking-loads-the-board"),
        ("display", "The board is shown with row 1 at the bottom and labels around it.",
         "Go Board Configuration Display", "upside-down picture-without-columns"),
    ),
    "java-go": _clauses(
        ("captured-stone", "A stone is captured when its chain has no liberty.",
         "Capturing Stones & Counting Liberties",
         "single-stones-only surrounded-by-opponent-only stones-never-captured diagonal-chains"
         " diagonal-liberties edge-is-a-liberty"),
        ("captured-point", "An empty point is captured when its region touches one color only.",
         "isCaptured",
         "empty-points-never-captured empty-board-captured regions-not-flooded"
         " shared-regions-captured"),
        ("methods", "The methods leave the board as it is, and x and y in their order.",
         "isCaptured",
         "is-captured-changes-the-board is-captured-reads-past-column-0"
         " rows-and-columns-exchanged score-changes-the-board"),
        ("prisoners", "A captured stone on the board is a prisoner, and its point territory.",
         "Scoring", "prisoners-once prisoners-for-their-own-color"),
        ("territory", "Each empty point that one color surrounds is a point; stones are none.",
         "Scoring",
         "stones-are-points shared-territory empty-board-is-territory"
         " single-points-of-territory"),
        ("colour", "score counts the points of the color that is asked for.", "score",
         "score-of-black-only score-as-difference"),
        ("occupied", "A stone is put on an empty point.", "isLegal", "occupied-points-legal"),
        ("suicide", "A stone without a liberty that captures nothing is illegal.",
         "isLegal", "suicide-allowed own-chain-not-seen any-friend-saves"),
        ("capture-first", "A stone that captures is legal.", "isLegal",
         "suicide-before-capture any-touched-chain-dies"),
        ("legal-colour", "What is legal is so for the color that plays.", "isLegal",
         "is-legal-ignores-the-color legal-for-either-color"),
        ("ko", "In the game a ko is not taken back at once; the method cannot know.", SETTLED,
         "ko-ignored ko-for-both-colors ko-for-ever ko-on-the-bare-board"),
        ("captures", "Captured stones leave the board and are kept by the capturer.", "The Game",
         "captured-stones-stay-on-board captures-count-once captures-of-the-other-color"
         " captures-kept-in-new-game"),
        ("the-end", "The game ends when Black passes and White after that.", "The Game",
         "ends-with-either-pass-first ends-with-one-pass passes-need-not-follow never-over"),
    ),
}  # fmt: skip


def find_untested(assignment: str, mistakes: Collection[str]) -> Sequence[Clause]:
    """Return the clauses of which no mistake is among those caught, by their names."""
    clauses = CLAUSES.get(assignment, ())
    return [one for one in clauses if not set(one.mistakes) & set(mistakes)]
