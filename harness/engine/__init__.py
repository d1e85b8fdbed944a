"""Start an engine and talk to it.

* ``replies``: what a protocol is, and GTP: bytes to replies, pure; ``status_last``: another one;
  ``protocols``: all of them;
* ``engine_session``: commands and replies, who waits for whom and how long;
* ``process``: pipes to a process, the only module that knows pexpect; ``stream_ends``: keeps the
  beginning and the end of its standard error;
* ``launch``: how a program becomes a process and ends again (a sandbox is another launcher);
* ``launch``, too: whatever a program leaves behind.
"""
