"""Speaks the Go Modem Protocol, as GNU Go does where standard input is no terminal."""

import sys

from common import say

say(b"\x01\xa1\xa0\x80")
sys.stdin.buffer.read()
