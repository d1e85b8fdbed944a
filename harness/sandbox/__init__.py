"""The sandbox: contain untrusted engines. In the order in which a reader should meet the rooms:

* ``view``: what it may see, worked out from its command, and the same for each layer;
  ``relocating``: where there are no mounts;
* the layers: ``seccomp``, ``landlock``, ``bubblewrap``, ``cgroup``;
* ``plan``: the messages between the harness and the ``server``, a small process that starts
  engines (``inside``), watches over them (``watch``, ``memory``) and ends them;
* ``launcher``: the harness's side of it;
* ``levels`` and ``canary``: which sandbox works on this machine, proven at each run;
* ``boxed_engines``: the sandbox of ``gtp-harness run --sandbox``;
* ``redteam``: hostile programs, for ``gtp-harness doctor --attack``.

Four levels: 3, bubblewrap with all namespaces; 2, the same by our own system calls, with Landlock;
1, where namespaces are refused: Landlock and seccomp; 0, none.

Grading takes the strongest level that works, and refuses to run anything at level 0 unless it is
told to. ``gtp-harness run`` uses no sandbox unless ``--sandbox`` asks for one: there the engine is
the user's own program, which may well read files beside its case file.
"""
