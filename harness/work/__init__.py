"""A unit of work: a submission and its case files, as plain data, run by a process of its own.

Data flow: a :class:`~harness.work.records.WorkUnit` goes into a worker as one document of JSON,
and every word that comes back is a line of JSON (:mod:`harness.work.worker_events`). All that a
unit is about is named by its SHA-256 and found where the unit says it lies, or in a store. The
unit, its words and their versions are the whole interface: nothing else passes between the two
processes.

* ``records`` and ``worker_events``: what passes; ``plain``: checked on reading;
* ``bench``: a submission built, and asked one case file after the other;
* ``unit_worker``: the process, and the files that units name by their SHA-256; ``__main__``: its
  command line;
* ``crew``: such processes seen from the one that hands units out; ``machine``: how they are
  started.
"""
