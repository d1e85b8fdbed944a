"""Random expressions and texts, and what Java and awk say to them."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.errors import PatternError, UndecidedError
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


def expression(generator: random.Random, depth: int = 3) -> str:
    """Return a random expression."""
    return "".join(_part(generator, depth) for _ in range(generator.randint(0, 4)))


def _part(generator: random.Random, depth: int) -> str:
    kind = generator.random()
    if kind < 0.05:
        return "|"
    if kind < 0.09:
        return generator.choice(FLAGS)
    if kind < 0.24 and depth:
        inner = expression(generator, depth - 1)
        found = generator.choice(OPENINGS) + inner + (")" if generator.random() < 0.98 else "")
    elif kind < 0.42:
        found = _set(generator)
    else:
        found = generator.choice(ATOMS)
    return found + (generator.choice(ENDS) if generator.random() < 0.3 else "")


def _set(generator: random.Random) -> str:
    members = "".join(generator.choice(SETS) for _ in range(generator.randint(1, 4)))
    start = "[^" if generator.random() < 0.3 else "["
    return start + members + ("]" if generator.random() < 0.97 else "")


def text(generator: random.Random) -> str:
    """Return a random text."""
    letters = LETTERS if generator.random() < 0.6 else [*LETTERS, *ODD]
    return "".join(
        generator.choice(letters) for _ in range(generator.choice([0, 1, 1, 2, 2, 3, 5]))
    )


def rows(seed: int, count: int, texts: int = 8) -> list[tuple[str, list[str]]]:
    """Return expressions with texts."""
    generator = random.Random(seed)
    return [(expression(generator), [text(generator) for _ in range(texts)]) for _ in range(count)]


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


def ours(found: str, texts: Sequence[str]) -> str:
    """Return our answer to an expression, in the words of the Java program."""
    try:
        matches = pattern.matcher.__wrapped__(found)
        return "".join("01"[bool(matches(text))] for text in texts)
    except PatternError as error:
        return f"refused: {error}"
    except UndecidedError:
        return "undecided"


def compare(folder: Path, seed: int, count: int) -> Counter[str]:
    """Count how our answers and Java's agree; print where they do not."""
    compile_java(folder)
    asked = rows(seed, count)
    found: Counter[str] = Counter()
    for (one, texts), theirs in zip(asked, java(folder, asked), strict=True):
        answer = ours(one, texts)
        kind = _kind(answer, theirs)
        found[kind] += 1
        if kind in ("differs", "refused by Java alone"):
            print(f"{kind}: {one!r} on {texts!r}: Java {theirs}, here {answer}")
    return found


def _kind(here: str, theirs: str) -> str:
    if theirs.startswith("broke"):
        return "Java broke"
    refused = here.startswith("refused"), theirs.startswith("refused")
    return {
        (True, True): "refused by both",
        (True, False): "refused by us alone",
        (False, True): "refused by Java alone",
        (False, False): "same" if here == theirs else "differs",
    }[refused]


def main() -> None:
    """Compare so many expressions."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, count in compare(Path(folder), seed=1, count=int(sys.argv[1])).most_common():
            print(f"{count:9,} {kind}")


if __name__ == "__main__":
    main()
