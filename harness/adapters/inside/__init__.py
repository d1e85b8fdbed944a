"""What runs in the box: engines that ask a student's program. Python's own library, nothing else.

* ``protocol``: lines in, replies out; ``board``: stones, and what a move does to them;
* ``calling``: one run of a program, with an end;
* ``gosensei``: a command-line program that is given a board file for each question;
* ``java_go``: a Java class (``methods``), and a game for two at the ``terminal`` (``ways`` to type
  its moves, ``reading`` its boards, ``playing`` it), both through ``Shim.java``.
"""
