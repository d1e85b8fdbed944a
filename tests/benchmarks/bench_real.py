"""The real class, graded as each kind of user, and with a busy machine beside."""

import os

from tests.harness.graded_class import BUSY, grade_class

CIRCUMSTANCES = {
    "root": ("root", 0),
    "an ordinary user": ("ordinary user", 0),
    "a chroot, without namespaces": ("chroot", 0),
    f"{BUSY} busy processes for each core": ("ordinary user", BUSY * (os.cpu_count() or 1)),
}


def main() -> None:
    """Print a row for each of the circumstances."""
    print("| graded as | sandbox | marks | not as computed | withheld | wall |\n|" + "---|" * 6)
    for label, (name, busy) in CIRCUMSTANCES.items():
        with grade_class(name, busy) as one:
            wrong = one.wrong()
            withheld = list(one.marks().values()).count("withheld")
            level = one.document["sandbox"].partition(":")[0]
            print(
                f"| {label} | {level} | {len(one.truth)} | {len(wrong)} | {withheld}"
                f" | {one.seconds:.0f} s |",
                *wrong,
                sep="\n",
                flush=True,
            )
