"""Run the benchmarks: ``python -m tests.benchmarks [NAME…] [--seconds N]``, all without a name.

Each ``bench_*.py`` beside this file has ``main()``, which prints its table. A figure is a ratio to
a peer timed in the same run. Those that check a claim return a status, as ``service`` does; if one
is not 0, so is that of all. ``--seconds`` is for those that run as long as they are told:
``syscalls``.
"""

import importlib
import sys
from pathlib import Path

NAMES = sorted(path.stem[len("bench_") :] for path in Path(__file__).parent.glob("bench_*.py"))


def main(chosen: list[str]) -> int:
    """Run the chosen benchmarks in turn; return 1 if one has failed, 2 for an unknown name."""
    seconds = None
    if "--seconds" in chosen:
        place = chosen.index("--seconds")
        seconds = float(chosen[place + 1])
        chosen = chosen[:place] + chosen[place + 2 :]
    unknown = [name for name in chosen if name not in NAMES]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    failed = []
    for name in chosen or NAMES:
        print(f"\n== {name} ==", flush=True)
        module = importlib.import_module(f"tests.benchmarks.bench_{name}")
        if seconds is not None and hasattr(module, "SECONDS"):
            module.SECONDS = seconds
        if module.main():
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
