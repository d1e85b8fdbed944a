"""A conversation with one engine, from the inside out.

* ``protocols``: what engines speak: how commands are written, where replies end; ``replies`` and
  ``status_last`` cut bytes into the replies of one each, pure;
* ``session``: commands and replies, who waits for whom and how long;
* ``process``: pipes to a process, the only module that knows pexpect; ``ends``: what is kept of
  its standard error;
* ``launch``: how a program becomes a process and ends again (a sandbox is another launcher);
* ``leftovers``: whatever a program leaves behind.
"""
