"""Run units of work on other machines with Dask, and bring their results back.

Data flow: a grading hands units to a *dispatcher*, which decides which unit is sent next and which
is sent again. The *connector*, a process of its own, is the only process of the server that speaks
to Dask; it also serves bytes by their SHA-256. A *worker* fetches the bytes, runs the unit as
everywhere (:mod:`harness.work`), and writes the result as lines of JSON. The ledger is the only
truth: what is lost on the way is rerun.

* ``records``: the messages between these processes, and which worker gets which unit, and when;
* ``dispatcher``, ``results``: in the process of the grading; checks of a worker's report;
* ``connector``, ``transfer``: beside it, reached by a ``connector_link``; ``hub``: one
  connector for several dispatchers;
* ``state``: the state of a cluster, for people;
* ``unit_executor``, ``worker_files``: on a worker;
* ``dask_messages``: how messages of Dask are sent and read, and which are refused; ``tls``: who
  may send which;
* ``cluster_processes``: run a scheduler, a worker or a connector from start to end.
"""
