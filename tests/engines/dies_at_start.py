"""Ends at once, with exit status 3."""

import sys

sys.exit(3)
