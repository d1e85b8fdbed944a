"""The umask of a service, and of careful people: nobody else reads what is made."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def strict_umask() -> Iterator[None]:
    """Let nobody else read what this process and its children make."""
    former = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(former)
