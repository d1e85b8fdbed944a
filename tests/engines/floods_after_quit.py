"""Answers quit and then writes without end."""

from common import say, serve

serve()
while True:
    say("bye\n" * 1000)
