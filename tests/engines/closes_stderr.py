"""Closes its standard error and answers in order."""

import os

from common import serve

os.close(2)
serve()
