"""Start an engine and talk to it.

* ``replies``: what a protocol is, and GTP: bytes to replies, pure; ``protocols``: all of them;
* ``engine_session``: commands and replies, who waits for whom and how long; ``translation``: in
  the engine's own words;
* ``engine_clock``: which seconds count against a limit;
* ``process``: pipes to a process, the only module that knows pexpect;
* ``launch``: how a program becomes a process (``spawn``) and ends again, with whatever it leaves
  behind; a sandbox is another launcher.
"""
