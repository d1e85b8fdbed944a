"""Closes its standard output and ends, as if all were done."""

import os

from common import serve


def fault(id_, name):
    os.close(1)
    os._exit(0)


serve(fault)
