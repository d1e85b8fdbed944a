#!/usr/bin/env bash
# Made by gtp-harness gradescope. Gradescope runs this once, as root, to build the image.
set -euo pipefail
umask 022
cd /autograder/source
chmod -R go= .  # private case files are for the harness alone

find_python() {
    for python in python3.14 python3.13 python3.12 python3.11 python3; do
        if "$python" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
        then echo "$python"; return; fi
    done
    return 1
}
install() {
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qqy install --no-install-recommends "$@"
}

find_python >/dev/null || install python3.11 python3.11-venv || install python3 python3-venv
python=$(find_python) || { echo "no Python from 3.11: take a newer base image" >&2; exit 1; }
@PACKAGES@"$python" -m venv /opt/gtp-harness
/opt/gtp-harness/bin/pip install --quiet --no-cache-dir --disable-pip-version-check ./@WHEEL@'[grade]'
/opt/gtp-harness/bin/gtp-harness env --assignment @ASSIGNMENT@
/opt/gtp-harness/bin/gtp-harness doctor || echo "No sandbox works while the image is built." >&2
