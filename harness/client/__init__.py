"""A client for the API of ``gtp-harness serve``; needs httpx."""

from harness.client.client import Client, place_of, suite_of

__all__ = ["Client", "place_of", "suite_of"]
