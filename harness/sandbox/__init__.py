"""Untrusted engines, contained. In the order in which a reader should meet the rooms:

* ``limits``: how much an engine may use;
* ``view``: what it may see, worked out from its command; ``layout``: the same for each layer;
* ``kernel``, ``seccomp`` (with ``syscalls``), ``landlock``, ``tree``, ``bubblewrap``, ``cgroup``:
  the layers;
* ``plan``: the messages between the harness and the ``server``, a small process that starts
  engines (``inside``), watches over them (``watch``) and ends them;
* ``launcher``: the harness's side of it;
* ``levels`` and ``canary``: which sandbox works on this machine, proven at each run;
* ``engines``: the sandbox of ``gtp-harness run --sandbox``;
* ``redteam``: hostile programs, for ``gtp-harness doctor --attack``.

Four levels: 3, bubblewrap with all namespaces; 2, the same by our own system calls, with Landlock;
1, where namespaces are refused: Landlock and seccomp; 0, none. It is the
default of grading. ``gtp-harness run`` starts its engine without, unless ``--sandbox`` says
otherwise: there, it is the user's own program, which may well read files beside its case file.
"""
