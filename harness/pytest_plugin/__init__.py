"""The pytest plugin: its options; all else is loaded only with ``--gtp-engine``.

Every pytest of a Python where the harness is installed loads this module, for whatever tests.
"""

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the group of ``pytest --help``."""
    add = parser.getgroup("gtp", "case files for programs that play Go (gtp-harness)").addoption
    add("--gtp-engine", metavar="PROGRAM",
        help="collect .gtp and .tst files and run them against PROGRAM, split into words as a"
        " shell does; each file gets a fresh engine, started in the file's folder")  # fmt: skip
    add("--gtp-protocol", metavar="NAME", type=_protocol,  # no default: its type would be loaded
        help="what it speaks: gtp, or 'status last', answers that end with a line such as = 1; of"
        " these .txt files are collected, too (default: gtp)")  # fmt: skip
    add("--gtp-translate", metavar="FILE", default="",
        help="how its words differ from those of the case files: a table in TOML")  # fmt: skip
    add("--gtp-timeout", metavar="S", type=_seconds,
        help="seconds for a command, 0 for no limit (default: as gtp-harness run)")  # fmt: skip
    add("--gtp-dialect", choices=("gogui", "gnugo"), default="gogui",
        help="whose reading of expectations (default: %(default)s)")  # fmt: skip
    add("--gtp-sandbox", metavar="LEVEL", choices=("auto", "3", "2", "1", "off"), default="off",
        help="for an engine that is not trusted: auto, the strongest that works here, or 3, 2, 1"
        " (default: %(default)s)")  # fmt: skip


def _protocol(text: str) -> str:
    from harness.cli.commandline import protocol

    return protocol(text)


def _seconds(text: str) -> float:
    from harness.cli.commandline import time_limit

    return time_limit(text)


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> "Generator[None, object, object]":
    """Let pytest-xdist's ``-n`` alone keep files whole: one engine for each file."""
    option = config.option
    if option.gtp_engine is not None and getattr(option, "numprocesses", None):
        option.dist = "loadfile" if option.dist == "no" else option.dist
    return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Load the rest if there is an engine to test."""
    if config.option.gtp_engine is not None:
        from harness.pytest_plugin.items import Collecting

        config.pluginmanager.register(Collecting(config), "gtp-harness-collecting")
