"""Writes to standard error without end instead of answering."""

import os

from common import serve


def fault(id_, name):
    while True:
        os.write(2, b"debug " * 1000 + b"\n")


serve(fault)
