"""Nothing is wrong with this one."""

from common import serve

serve()
