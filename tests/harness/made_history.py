"""Histories made by hand, without a run."""

from __future__ import annotations

import random
from collections.abc import Sequence

from harness.history.records import FileKept, RunKept, RunState, TestIdentity, TestInFile

WORDS = {"P": "passed", "F": "FAILED", "x": "failed", "X": "PASSED", "-": "not run"}


def made_test(path: str = "a.tst", id_: int = 10, command: str = "score") -> TestIdentity:
    return TestIdentity(path, id_, command, 0)


def made_run(number: int, results: Sequence[TestInFile], **changed: object) -> RunKept:
    """A run with these tests; ``engine``, ``digest``, ``state`` … as told."""
    engine = str(changed.pop("engine", "Made Up 1.0"))
    seconds = sum(one.seconds or 0.0 for one in results)
    by_path: dict[str, list[TestInFile]] = {}
    for one in results:
        by_path.setdefault(one.test.path, []).append(one)
    files = tuple(
        FileKept(path, engine, "", seconds, seconds / 2, tuple(found))
        for path, found in by_path.items()
    )
    started = f"2026-03-{number:02d}T08:30:00Z"
    run = RunKept(number, started, RunState.WHOLE, "./engine", "d1", "host", "0.1.0", files)
    return run._replace(**changed)  # type: ignore[arg-type]


def made_result(
    verdict: str = "P", seconds: float | None = 0.1, text: str = "t1", **rest: object
) -> TestInFile:
    test = rest.get("test", made_test())
    flaky = bool(rest.get("flaky"))
    return TestInFile(test, 14, text, WORDS.get(verdict, verdict), flaky, seconds)  # type: ignore[arg-type]


def made_history(verdicts: str, **rest: object) -> list[RunKept]:
    """A run of one test for each letter."""
    return [made_run(n, [made_result(v)], **rest) for n, v in enumerate(verdicts, 1)]


def rich_history() -> list[RunKept]:
    """Twelve runs with one of everything."""
    slow, odd = made_test("b & c.tst", 20, "reg_genmove b"), made_test("a.tst", -1, "<odd>")
    usual = (0.2, 0.21, 0.19, 0.205, 0.198, 0.202, 0.197, 0.4, 0.39, 0.42, 0.41, 0.405)
    broke, flips = "PPPPPPPPFFFF", "PFPPFPPPPFPP"
    runs = []
    for place, seconds in enumerate(usual):
        version = "Made Up 1.1" if place >= 8 else "Made Up 1.0"
        results = [
            made_result(broke[place], 0.1 + place * 1e-4),
            made_result(flips[place], 0.15 + place * 1e-4, test=odd),
            made_result("P", seconds, test=slow),
            *(
                made_result("P", 0.1 + place * 1e-4 + n * 1e-3, test=made_test("d.tst", n, "name"))
                for n in range(6)
            ),
        ]
        runs.append(made_run(place + 1, results, engine=version))
    runs[4] = runs[4]._replace(state=RunState.INTERRUPTED)
    other = made_run(13, [made_result("F")], program="./other")
    last = made_run(14, [], state=RunState.BEGUN)
    return [*runs, other, last]


def large_history(tests: int, runs: int, files: int, share: float) -> list[RunKept]:
    """Runs of many tests; a share of them fails now and then; times with noise."""
    rng = random.Random(16)
    asked = [made_test(f"f{n % files}.tst", n, f"reg_genmove black {n}") for n in range(tests)]
    unsteady = set(rng.sample(range(tests), int(tests * share)))
    return [
        made_run(
            number,
            [
                made_result(
                    "F" if n in unsteady and rng.random() < 0.3 else "P",
                    rng.uniform(0.1, 0.2),
                    test=test,
                )
                for n, test in enumerate(asked)
            ],
        )._replace(started=f"2026-01-01T{number // 60:02d}:{number % 60:02d}:00Z")
        for number in range(1, runs + 1)
    ]
