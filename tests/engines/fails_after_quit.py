"""Crashes after quit."""

import os
import signal

from common import serve

serve()
os.kill(os.getpid(), signal.SIGSEGV)
