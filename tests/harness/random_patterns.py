"""Random expressions and texts, and what Java and awk say to them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.core.errors import PatternError, UndecidedError
from harness.reading import pattern

HERE = Path(__file__).parent
LETTERS = "abAB1_ .-"
ODD = ["é", "ß", "\n", "\x85", "\u2028", "\u0301", "\u212a", "😀", "²", "中", "\t", "\x0b", "&"]
ATOMS = [
    *"aabbAB1 _-.^$&#",
    *["\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\b", "\\B", "\\h", "\\H", "\\v", "\\V"],
    *["\\R", "\\A", "\\z", "\\Z", "\\G", "\\n", "\\t", "\\e", "\\a", "\\cA", "\\cj", "\\.", "\\+"],
    *["\\1", "\\2", "\\11", "\\01", "\\012", "\\0101", "\\0477", "\\x41", "\\x{61}", "\\u0062"],
    *["\\x{1F600}", "\\ud83d\\ude00", "\\p{Alpha}", "\\P{Lower}", "\\p{Upper}", "\\p{Punct}"],
    *[
        "\\p{Space}",
        "\\p{Lu}",
        "\\pL",
        "\\P{IsNd}",
        "\\p{IsGreek}",
        "\\Qa.b\\E",
        "\\Q",
        "\\E",
        "é",
        "😀",
        "]",
        "}",
        "{",
        "\\{",
        "\\-",
    ],
    *["\\k<n>", "\\y", "\\ ", "\\é", "\\x4", "\\u00", "\\0", "\\"],
]
SETS = [*"aabbzAZ19-^&_ .#]", "a-z", "A-Z", "0-9", "Z-a", "&&", "[", "\\d", "\\w", "\\S", "\\]"]
SETS += [
    "\\-",
    "\\b",
    "\\v",
    "\\h",
    "\\H",
    "\\p{Alpha}",
    "\\x41",
    "\\n",
    "a-",
    "-a",
    "[^",
    "]",
    "é",
]
SETS += ["\\Q-\\E", "\\0101", "\\cA", "b-a", "\\e", "^^", "&", "😀"]
ENDS = ["*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{2}", "{0,2}", "{1,}", "{2}{3}", "{1"]
ENDS += ["{2,1}", "{,2}", "**", "{2}?", "{2}+", "{a}", "{0}"]
OPENINGS = ["(", "(", "(?:", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?<n>", "(?i:", "(?-i:"]
OPENINGS += ["(?i-s:", "(?P<n>", "(?#", "(?x:", "(?d:", "(?", "(?s-m:", "(?u:", "(?<"]
FLAGS = ["(?i)", "(?-i)", "(?s)", "(?-s)", "(?-m)", "(?x)", "(?d)", "(?imx)", "(?-sm)", "(?ix-m)"]


class Grammar(NamedTuple):
    """What random expressions are made of."""

    atoms: Sequence[str]
    members: Sequence[str]  # of sets
    ends: Sequence[str]  # repetitions
    openings: Sequence[str]
    flags: Sequence[str]
    letters: Sequence[str]  # of texts
    odd: Sequence[str]  # of some texts


JAVA = Grammar(ATOMS, SETS, ENDS, OPENINGS, FLAGS, LETTERS, ODD)
AWK = Grammar(
    atoms=[
        *"aabbaabbaabbaabbAB1 _-.^$&#,",
        *["\\.", "\\w", "\\s", "\\W", "\\S", "\\y", "\\B", "\\<", "\\>", "\\`", "\\'", "\\d"],
        *["\\101", "\\7", "\\60", "\\52", "\\/", '\\"', "\\&", "\\x41", "\\n", "\\t", "\\a"],
        *["\\z", "{", "}", "\\{", "\\}", "]", "\\]", "()", "(|a)", "\\", "*", "+"],
    ],
    members=[
        *"aabbzAZ19-^&_ .#",
        *["a-z", "A-Z", "0-9", "[:alpha:]", "[:digit:]", "[:space:]", "[:punct:]", "[:foo:]"],
        *["\\]", "\\-", "\\\\", "\\101", "\\d", "\\w", "[", "]", "\\/", "[.a.]", "[=a=]", "b-a"],
        *["a-", "\\t"],
    ],
    ends=["*", "+", "?", "**", "+?", "*?", "{2}", "{0,2}", "{1,}", "{,2}", "{2}{2}", "{a}", "{2",
          "{}", "{2,1}"],
    openings=["("],
    flags=["|"],
    letters="abAB1_ .-{}]*+\\^$",
    odd="",
)  # fmt: skip


def expression(generator: random.Random, grammar: Grammar, depth: int = 3) -> str:
    """Return a random expression."""
    return "".join(_part(generator, grammar, depth) for _ in range(generator.randint(0, 4)))


def _part(generator: random.Random, grammar: Grammar, depth: int) -> str:
    kind = generator.random()
    if kind < 0.05:
        return "|"
    if kind < 0.09:
        return generator.choice(grammar.flags)
    if kind < 0.24 and depth:
        inner = expression(generator, grammar, depth - 1)
        end = ")" if generator.random() < 0.98 else ""
        found = generator.choice(grammar.openings) + inner + end
    elif kind < 0.42:
        found = _draw_set(generator, grammar)
    else:
        found = generator.choice(grammar.atoms)
    return found + (generator.choice(grammar.ends) if generator.random() < 0.3 else "")


def _draw_set(generator: random.Random, grammar: Grammar) -> str:
    members = "".join(generator.choice(grammar.members) for _ in range(generator.randint(1, 4)))
    start = "[^" if generator.random() < 0.3 else "["
    return start + members + ("]" if generator.random() < 0.97 else "")


def text(generator: random.Random, grammar: Grammar) -> str:
    """Return a random text."""
    is_odd = grammar.odd and generator.random() < 0.4
    letters = [*grammar.letters, *grammar.odd] if is_odd else grammar.letters
    size = generator.choice([0, 1, 1, 2, 2, 3, 5])
    return "".join(generator.choice(letters) for _ in range(size))


def rows(seed: int, count: int, grammar: Grammar, texts: int = 8) -> list[tuple[str, list[str]]]:
    """Return expressions with texts."""
    draw = random.Random(seed)
    return [
        (expression(draw, grammar), [text(draw, grammar) for _ in range(texts)])
        for _ in range(count)
    ]


def compile_java(folder: Path) -> None:
    """Compile the program that asks Java."""
    words = ["javac", "-encoding", "UTF-8", "-d", str(folder), str(HERE / "Patterns.java")]
    subprocess.run(words, check=True)


def java(folder: Path, asked: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return Java's answer to each expression: 1 or 0 for each text, or why it is refused."""
    lines = "".join(" ".join(map(_hex, [one, *texts])) + "\n" for one, texts in asked)
    words = ["java", "-Xss8m", "-XX:+UseSerialGC", "-cp", str(folder), "Patterns"]
    done = subprocess.run(words, input=lines, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def _hex(found: str) -> str:
    return "x" + found.encode("utf-16-be", "surrogatepass").hex()


# Fields are apart by a character that no expression has; one line for each expression.
_GAWK = (
    'BEGIN { FS = "\\034" } { said = "";'
    ' for (i = 2; i <= NF; i++) said = said ($i ~ ("^" $1 "$")); print said; fflush() }'
)


def gawk(asked: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return gawk's answer to each expression, as :func:`java`. It dies of one that is wrong."""
    said: list[str] = []
    while len(said) < len(asked):
        lines = "".join("\x1c".join([one, *texts]) + "\n" for one, texts in asked[len(said) :])
        done = subprocess.run(
            ["gawk", _GAWK],
            input=lines,
            capture_output=True,
            text=True,
            check=False,
            env={"LC_ALL": "C", "PATH": os.environ["PATH"]},
        )
        said += done.stdout.splitlines()
        if len(said) < len(asked):
            said.append(f"refused: {done.stderr.strip().rpartition('fatal: ')[2]}")
    return said


def ours(
    matcher: Callable[[str], Callable[[str], object]], found: str, texts: Sequence[str]
) -> str:
    """Return our answer to an expression, in the words of the Java program."""
    try:
        matches = matcher(found)
        return "".join("01"[bool(matches(text))] for text in texts)
    except PatternError as error:
        return f"refused: {error}"
    except UndecidedError:
        return "undecided"


def compare_with_java(folder: Path, seed: int, count: int) -> Counter[str]:
    """Count how our answers and Java's agree; print where they do not."""
    compile_java(folder)
    asked = rows(seed, count, JAVA)
    return _compare(asked, java(folder, asked), pattern.matcher.__wrapped__)


def compare_with_gawk(seed: int, count: int) -> Counter[str]:
    """Count how our answers and gawk's agree; print where they do not."""
    asked = rows(seed, count, AWK)
    return _compare(asked, gawk(asked), pattern.searcher.__wrapped__)


def _compare(
    asked: Sequence[tuple[str, Sequence[str]]],
    answers: Sequence[str],
    matcher: Callable[[str], Callable[[str], object]],
) -> Counter[str]:
    found: Counter[str] = Counter()
    for (one, texts), theirs in zip(asked, answers, strict=True):
        answer = ours(matcher, one, texts)
        kind = _kind(answer, theirs)
        found[kind] += 1
        if kind in ("differs", "refused by them alone"):
            print(f"{kind}: {one!r} on {texts!r}: they {theirs}, here {answer}")
    return found


def _kind(here: str, theirs: str) -> str:
    if theirs.startswith("broke"):
        return "they broke"
    refused = here.startswith("refused"), theirs.startswith("refused")
    return {
        (True, True): "refused by both",
        (True, False): "refused by us alone",
        (False, True): "refused by them alone",
        (False, False): "same" if here == theirs else "differs",
    }[refused]


def main() -> None:
    """Compare so many expressions with Java, and as many with gawk."""
    count = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        found = {"Java": compare_with_java(Path(folder), 1, count)}
    found["gawk"] = compare_with_gawk(1, count)
    for peer, counted in found.items():
        print(peer, *(f"{number:9,} {kind}" for kind, number in counted.most_common()), sep="\n")


if __name__ == "__main__":
    main()
