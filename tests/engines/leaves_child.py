"""Leaves a child behind; its mark is the first argument."""

import subprocess
import sys

from common import serve

subprocess.Popen([sys.argv[1], "50"], executable="/bin/sleep")
serve()
