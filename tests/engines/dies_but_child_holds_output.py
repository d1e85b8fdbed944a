"""Dies, while a child of it keeps the pipes open."""

import os
import signal
import subprocess
import sys

from common import serve


def fault(id_, name):
    subprocess.Popen([sys.argv[1], "50"], executable="/bin/sleep")
    os.kill(os.getpid(), signal.SIGKILL)


serve(fault)
