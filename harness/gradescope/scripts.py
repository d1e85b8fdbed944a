"""The two scripts that Gradescope calls: one when the image is built, one for each submission.

Source: "Autograder Specifications" of Gradescope's documentation. Both run as root.
"""

from __future__ import annotations

import shlex

HOME = "/opt/gtp-harness"  # where it is installed: not below source, which engines may not enter
SOURCE = "/autograder/source"
_SPARE = 30  # seconds before Gradescope's own limit, at which we end ourselves
_KILL = 15  # seconds that ending takes at most

_SETUP = """\
#!/usr/bin/env bash
# Made by gtp-harness gradescope. Gradescope runs this once, as root, to build the image.
set -euo pipefail
umask 022
cd {source}
chmod -R go= .  # private case files are for the harness alone

find_python() {{
    for python in python3.14 python3.13 python3.12 python3.11 python3; do
        if "$python" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
        then echo "$python"; return; fi
    done
    return 1
}}
install() {{
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qqy install --no-install-recommends "$@"
}}

find_python >/dev/null || install python3.11 python3.11-venv || install python3 python3-venv
python=$(find_python) || {{ echo "no Python from 3.11: take a newer base image" >&2; exit 1; }}
{packages}"$python" -m venv {home}
{home}/bin/pip install --quiet --no-cache-dir --disable-pip-version-check ./{wheel}
{home}/bin/gtp-harness env --assignment {assignment}
{home}/bin/gtp-harness doctor || echo "No sandbox works while the image is built." >&2
"""

_RUN = """\
#!/bin/sh
# Made by gtp-harness gradescope. Gradescope runs this, as root, for each submission.
# Gradescope's time limit would give 0 points; this one, which is shorter, gives an error.
exec timeout --signal=INT --kill-after={kill} {seconds:g} \\
    {home}/bin/gtp-harness gradescope --grade /autograder
"""


def setup(wheel: str, assignment: str, packages: list[str]) -> str:
    """Return ``setup.sh``.

    ``wheel``, ``assignment``: their names in the zip. ``packages``: Debian's and Ubuntu's, which
    the assignment needs.
    """
    wanted = f"install {shlex.join(packages)}\n" if packages else ""
    return _SETUP.format(
        source=SOURCE,
        home=HOME,
        packages=wanted,
        wheel=shlex.quote(wheel),
        assignment=shlex.quote(assignment),
    )


def run(timeout: float) -> str:
    """Return ``run_autograder``. ``timeout``: Gradescope's, in seconds."""
    return _RUN.format(home=HOME, kill=_KILL, seconds=timeout - _SPARE)
