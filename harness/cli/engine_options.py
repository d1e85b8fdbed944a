"""Options that limit an engine: its time and output, and what it sees and uses in a sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harness.cli.commandline import Plain, count_limit, figure, size, time_limit
from harness.core.options import PATIENT, SANDBOXES, UNTRUSTED, BoxLimits, Limits, limits_of
from harness.engine.launch import ORACLE, find_program, split_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_options(parser: Plain | ArgumentParser) -> None:
    """Add ``--sandbox``, what may be seen in it and how much may be used."""
    limits = BoxLimits()
    add = parser.add_argument_group("a sandbox for an engine that is not trusted").add_argument
    add("--sandbox", choices=SANDBOXES, default="off",
        help="sandbox level, 3 to 1; auto: the strongest that works (default: %(default)s;"
        " gtp-harness doctor shows what works)")  # fmt: skip
    add("--show", action="append", default=[], metavar="PATH",
        help="a file or folder that the engine may read, too")  # fmt: skip
    for name, reader, metavar, what in _BOX_LIMITS:
        default = getattr(limits, name)
        told = figure(int(default)) if metavar == "BYTES" else f"{default:g}"
        add(f"--max-{name.replace('_', '-')}", type=reader, default=default, metavar=metavar,
            help=f"{what} (default: {told})")  # fmt: skip


def visible_paths(program: str, level: str, named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the paths that an engine may read besides its own: those that are named.

    No engine sees the oracle, where the answers are, unless it is the oracle: somebody has named
    our own command, to try one of its mistakes perhaps.

    ``level``: one of SANDBOXES.
    """
    name = split_program(program)[0] if level != "off" else ""
    if not name.endswith(ORACLE):
        return tuple(named)
    import sysconfig
    from pathlib import Path

    import oracle

    own = Path(sysconfig.get_path("scripts"), ORACLE).resolve()
    is_own = Path(find_program(name)).resolve() == own
    return (*named, *([str(Path(oracle.__file__).parent)] if is_own else ()))


def box_limits(arguments: Namespace) -> BoxLimits:
    """Return the limits that the command line asks for."""
    return BoxLimits(**{name: getattr(arguments, f"max_{name}") for name, *_ in _BOX_LIMITS})


_BOX_LIMITS = (
    ("memory", size, "BYTES", "most memory of the engine and all that it starts"),
    ("address_space", size, "BYTES", "most address space of each of its processes"),
    ("cpu", time_limit, "S", "most seconds of CPU time"),
    ("processes", count_limit, "N", "most processes"),
    ("threads", count_limit, "N", "most threads of all its processes"),
    ("open_files", count_limit, "N", "most open files of each of its processes"),
    ("scratch", size, "BYTES", "most bytes of all files that it writes"),
    ("scratch_files", count_limit, "N", "most files that it writes"),
    ("file_size", size, "BYTES", "most bytes of each file"),
)


# --- time and output ----------------------------------------------------------------------------


def add_limits(add: Callable[..., object]) -> None:
    """Add the options that limit an engine's time and output."""
    for flag, name, reader, metavar, what in _LIMITS:
        own, untrusted = getattr(PATIENT, name), getattr(UNTRUSTED, name)
        unit = figure if name.startswith("max_") else "{:g}".format
        usual = unit(own) if own else "no limit"
        box = "" if own == untrusted else f"; in a sandbox: {unit(untrusted)}"
        add(flag, dest=name, type=reader, metavar=metavar, help=f"{what} (default: {usual}{box})")


def read_limits(arguments: Namespace) -> Limits:
    """Return the limits that the command line asks for."""
    said = {name: getattr(arguments, name) for _, name, *_ in _LIMITS}
    chosen = {name: value for name, value in said.items() if value is not None}
    return limits_of(arguments.sandbox)._replace(**chosen)


_LIMITS = (
    ("--timeout", "timeout", time_limit, "S", "seconds for a command"),
    ("--startup-timeout", "startup", time_limit, "S", "seconds until the engine's first reply"),
    ("--file-timeout", "file", time_limit, "S", "seconds for a whole file"),
    ("--total-timeout", "total", time_limit, "S", "seconds for the whole run"),
    ("--quit-timeout", "quit", time_limit, "S", "seconds from quit to the engine's end"),
    ("--max-output", "max_output", size, "BYTES", "most bytes of a reply, such as 64k or 4M"),
    ("--max-total-output", "max_total_output", size, "BYTES",
     "most bytes the engine writes during a file"),
    ("--max-stderr", "max_stderr", size, "BYTES", "bytes of its standard error to keep"),
)  # fmt: skip
