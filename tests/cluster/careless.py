"""A scheduler or a connector that restricts nothing: it makes whatever a pickle names.

``python -m tests.cluster.careless KIND`` is otherwise as ``python -m harness.cluster KIND``.
"""

import sys

from distributed import Client

from harness.cluster import connector, dask_messages
from harness.cluster.__main__ import main


class CarelessClient(connector._PlainClient):
    """A client that reads whatever comes, as Dask's own does."""

    def __init__(self, address, **options):
        super().__init__(address, **{**options, "deserializers": None})

    def _handle_task_erred(self, key=None, exception=None, traceback=None):
        Client._handle_task_erred(self, key, exception, traceback)


if __name__ == "__main__":
    dask_messages.refuse = lambda: None
    dask_messages.refuse_objects = lambda: None
    connector._PlainClient = CarelessClient
    sys.exit(main(sys.argv[1:]))
