"""Find out why a scheduler cannot be reached: Dask tries again and again, and does not say."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable
from urllib.parse import urlsplit

from harness.cluster.tls import Papers

_PATIENCE = 5.0  # seconds for a connection
_PAUSE = 2.0  # seconds between two


async def find_obstacle(address: str, papers: Papers | None) -> str:
    """Return why no connection to a scheduler can be made now; "" if one can."""
    place = urlsplit(address)
    context = papers.client_context() if papers else None
    opening = asyncio.open_connection(place.hostname, place.port, ssl=context)
    try:
        reader, writer = await asyncio.wait_for(opening, _PATIENCE)
    except OSError as error:  # of TLS, or of time, too
        return _explain(error)
    try:
        return await _find_silence(reader, papers)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _find_silence(reader: asyncio.StreamReader, papers: Papers | None) -> str:
    """Return why a connection is not one to a scheduler, which is the first to speak; "" if it is.

    One that expects TLS waits for us instead, and Dask would wait for it, again and again.
    """
    try:
        said = await asyncio.wait_for(reader.read(1), _PATIENCE)
    except TimeoutError as error:
        return _explain(error) + (
            "" if papers else ": it may need TLS (tls://…, with --tls FOLDER)"
        )
    except OSError as error:
        return _explain(error)
    return "" if said else _explain(ConnectionResetError())


def _explain(error: OSError) -> str:
    """Return an error in words: the first that fits counts."""
    words = {
        ssl.SSLCertVerificationError: "its certificate is not one of ours: "
        f"{getattr(error, 'verify_message', '')}",
        ssl.SSLError: f"no TLS with it: {getattr(error, 'reason', '') or error}",
        ConnectionRefusedError: "nothing answers on this port",
        ConnectionError: "it ended the connection",
        TimeoutError: f"no answer within {_PATIENCE:g} s",
        socket.gaierror: f"no such host: {error.strerror}",
        OSError: error.strerror or str(error),
    }
    return next(text for kind, text in words.items() if isinstance(error, kind))


async def wait_until_reached(
    address: str, papers: Papers | None, told: Callable[[str], object]
) -> None:
    """Try until a connection can be made; ``told``: why it cannot, once for each reason."""
    tell = without_repeats(told)
    while obstacle := await find_obstacle(address, papers):
        tell(f"cannot reach the scheduler {address}: {obstacle}. It is tried again")
        await asyncio.sleep(_PAUSE)


def without_repeats(told: Callable[[str], object]) -> Callable[[str], None]:
    """Return what passes a sentence on to ``told`` unless it was the last one too."""
    before = ""

    def tell(sentence: str) -> None:
        nonlocal before
        if sentence != before:
            told(sentence)
        before = sentence

    return tell
