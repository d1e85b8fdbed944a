"""A unit of work: a submission and its case files, as plain data, run by a process of its own.

Data flow: a :class:`~harness.work.records.WorkUnit` goes into a worker as one document of JSON,
and every word that comes back is a line of JSON. All that a unit is about is named by its SHA-256
and found where the unit says it lies, or in a store. The unit, its words and their versions are
the whole interface: nothing else passes between the two processes.

* ``records``: what passes, and results as they are kept; ``canonical_json``: how it is written,
  and checked on reading;
* ``unit_runner``: a submission built, and asked one case file after the other;
* ``unit_worker``: the process, and the files that units name by their SHA-256;
* ``crew``: such processes seen from the one that hands units out; ``machine``: how they share the
  machine.
"""
