"""Ends after a line that would fill every report."""

import sys

from common import serve


def fault(id_, name):
    sys.exit("word " * 10_000)


serve(fault)
