"""Closes its standard input after a reply and lives on."""

import os
import time

from common import answer, serve


def fault(id_, name):
    os.close(0)
    answer(id_, name)
    time.sleep(50)


serve(fault)
