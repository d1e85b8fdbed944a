"""Closes its standard output and lives on."""

import os
import time

from common import serve


def fault(id_, name):
    os.close(1)
    time.sleep(50)


serve(fault)
