"""Has a byte in a reply that is not UTF-8."""

from common import say, serve

serve(lambda id_, name: say(f"={id_} f".encode() + b"\xe4\xff" + b"ult\n\n"))
