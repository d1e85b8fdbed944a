"""A scheduler or a connector that restricts nothing: it makes whatever a pickle names.

``python -m tests.cluster.careless KIND`` is otherwise as ``python -m harness.cluster KIND``.
"""

import sys

from distributed import Client

from harness.cluster import connector, unpickling
from harness.cluster.__main__ import main


class CarelessClient(Client):
    """A client as Dask makes it: it reads whatever comes."""

    def __init__(self, address, **options):
        super().__init__(address, **{**options, "deserializers": None})


if __name__ == "__main__":
    unpickling.restrict = lambda _allowed: None
    unpickling.refuse_objects = lambda: None
    connector._PlainClient = CarelessClient
    sys.exit(main(sys.argv[1:]))
