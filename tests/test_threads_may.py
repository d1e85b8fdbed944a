"""What belongs to a whole process is touched at its doors only, so that threads may do the rest.

The working directory, the handling of signals and timers are one for all threads. Read from the
syntax trees, so that it holds for code that no test runs.
"""

import ast

from tests.architecture import ROOT, modules

FOLDER = {"chdir", "fchdir"}
SIGNALS = {"signal", "sigaction", "setitimer", "alarm", "set_wakeup_fd", "siginterrupt"}

# The modules that may, and why nobody else's threads are there.
DOORS = {
    "harness.core.signals": SIGNALS,  # called by the commands; each function says what it needs
    "harness.reading.matching": SIGNALS,  # a process of its own
    "harness.archives.reader_server": SIGNALS,  # a process of its own, and its children
    "harness.pytest_plugin.items": FOLDER,  # pytest's own process, where tests may go anywhere
    "harness.sandbox.inside": FOLDER | SIGNALS,  # the process that becomes an engine
    "harness.sandbox.server": SIGNALS,  # a process of its own
    "oracle.interrupts": SIGNALS,  # gtp-oracle's own process
}


def list_touched(source: str) -> set[tuple[str, int]]:
    """Return the names of the process's own that code calls or hands on, with their lines."""
    if not any(name in source for name in FOLDER | SIGNALS):
        return set()  # a tree takes longer
    return {
        (node.attr if isinstance(node, ast.Attribute) else node.id, node.lineno)
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Attribute) and node.attr in FOLDER | SIGNALS)
        or (isinstance(node, ast.Name) and node.id in (FOLDER | SIGNALS) - {"signal"})
    }


MODULES = {
    name: path
    for name, path in modules().items()
    if not name.startswith("harness.sandbox.redteam")
}


def test_only_doors_touch_what_is_the_whole_process_s():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {one}"
        for name, path in MODULES.items()
        for one, line in list_touched(path.read_text(encoding="utf-8"))
        if one not in DOORS.get(name, ())
    ]
    assert found == []
    seen = "os.chdir('/')\nsignal.signal(SIGALRM, f)\n_signal.setitimer(0, 1)\ngo = os.fchdir"
    assert {line for _, line in list_touched(seen)} == {1, 2, 3, 4}  # however it is written
