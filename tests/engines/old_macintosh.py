"""Ends lines as old Macintoshes did."""

from common import say, serve

serve(lambda id_, name: say(f"={id_} {name}\r\r"))
