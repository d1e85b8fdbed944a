"""Positions, and commands of ``gtp-oracle`` that ask about them."""

from tests.oracle import documents

FILES = {
    # java-go.txt, page 5: "Sample game board file".
    "sample.txt": documents.SAMPLE,
    # gosensei.txt, "-eyes Options": "The following example includes three eyes for black".
    "eyes.txt": documents.THREE_EYES,
    "ko.sgf": "(;GM[1]SZ[4:3]KM[0.5]PB[Ann]PW[Bob]AB[ba][ab][bc]AW[ca][bb][db][cc]PL[B];B[cb])",
    "record.sgf": "(;GM[1]SZ[5];B[bb](;W[cc];B[dd])(;W[dd];B[dd];W[ad]))",
    "games.sgf": "(;GM[1]SZ[3]PB[Ann];B[bb])(;GM[1];W[aa])(;GM[4]SZ[5];B[aa",
    "five.sgf": "(;GM[4]SZ[7]" + "".join(f";B[{x}b];W[{x}d]" for x in "abcd") + ";B[eb])",
    "threes.gtp": """\
boardsize 7
policy rule_based
play b b4
play w a1
play b c4
play w a7
play b d4
10 policy_moves
#? [BlockOpenFour a4 e4 f4]
play w g7
""",
    "two-threes.gtp": "boardsize 9\n"
    + "".join(f"play b {p}\n" for p in ("c3", "d3", "e3", "e6", "f6", "g6"))
    + "1 policy_moves\n",
}

# Name of the golden file and command; the exit status is 0.
EXAMPLES = {
    "score": "score sample.txt",
    "score-area": "score sample.txt --assignment go-scoring --komi 7.5",
    "score-json": "score ko.sgf --json",
    "score-size": "score record.sgf --move 1 --size 19 --komi 0.1 --ascii",
    "captured": "captured sample.txt",
    "captured-points": "captured sample.txt C7 f8 A1 H1 --ascii",
    "captured-json": "captured sample.txt F8 --json",
    "legal": "legal sample.txt --color w",
    "legal-ko": "legal ko.sgf b2 D3 A3 --ascii",
    "legal-json": "legal ko.sgf --json",
    "legal-gomoku": "legal threes.gtp --rules gomoku --line 4",
    "legal-over": "legal five.sgf",
    "eyes": "eyes eyes.txt",
    "eyes-of-white": "eyes sample.txt --only eyespaces --color white --ascii",
    "eyes-json": "eyes eyes.txt --json",
    "winner": "winner five.sgf",
    "winner-unknown": "winner threes.gtp --ascii",
    "winner-json": "winner five.sgf --json",
    "policy": "policy threes.gtp --test 10 --color w",
    "policy-open": "policy two-threes.gtp --color w",
    "policy-random": "policy threes.gtp --policy random --ascii",
    "policy-json": "policy five.sgf --move 8 --json",
    "policy-over": "policy five.sgf --ascii",
    "show": "show record.sgf --variation 1",
    "show-faults": "show record.sgf --variation 2 --keep-faults --ascii",
    "show-json": "show ko.sgf --json",
    "show-game": "show games.sgf --game 2 --size 5 --keep-faults --ascii",
    "show-games": "show games.sgf --games",
    "show-games-json": "show games.sgf --games --json",
    "show-rules": "show five.sgf --rules go --format sgf",
    "show-to-text": "show eyes.txt --to text",
    "show-to-gosensei": "show eyes.txt --to gosensei",
    "show-to-picture": "show sample.txt --to picture",
    "show-to-diagram": "show sample.txt --to diagram",
    "show-to-sgf": "show ko.sgf --to sgf",
    "show-to-svg": "show ko.sgf --to svg",
}
