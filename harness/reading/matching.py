"""A process that matches regular expressions, and is ended by the kernel if one takes too long.

It is started by :mod:`harness.reading.matchers`, as a file and without this package. A question
is a line of JSON, ``[seconds, expression, flags, method, text]``; the answer is ``true`` or
``false``. Nobody handles the signal of the timer, which counts what is computed: it ends the
process wherever that is.
"""

import json
import re
import signal
import sys


def main() -> None:
    """Answer questions until there are no more."""
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGVTALRM])
    for line in sys.stdin.buffer:
        seconds, expression, flags, method, text = json.loads(line)
        test = getattr(re.compile(expression, flags), method)
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        found = test(text) is not None
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
