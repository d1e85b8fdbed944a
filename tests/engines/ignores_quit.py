"""Answers quit and stays."""

import time

from common import serve

serve(quits=False)
time.sleep(50)
