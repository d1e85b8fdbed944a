"""Programs for the box: engines that ask a student's program. Python's own library, nothing else.

* ``adapter_protocol``: lines in, replies out; stones, and what a move does to them;
* ``calling``: one run of a program, with an end;
* ``gosensei``: a command-line program that is given a board file for each question;
* ``java_go``: a Java class, and a game for two at the terminal (``playing``), both through
  ``Shim.java``;
* ``main``: the one that the settings name, on standard input and output.
"""
