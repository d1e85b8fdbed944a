"""Closes all its descriptors and lives on."""

import os
import time

from common import serve


def fault(id_, name):
    os.closerange(0, 1024)
    time.sleep(50)


serve(fault)
