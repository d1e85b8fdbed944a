"""Asks for a core dump, as large as may be, and dies of a bad address."""

import ctypes
import resource

from common import serve


def fault(id_, name):
    limit = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (limit, limit))
    ctypes.string_at(0)


serve(fault)
