"""Answers by the clock: another word in every millisecond."""

import time

from common import answer, serve

serve(lambda id_, name: answer(id_, f"{name} {time.time():.3f}"))
