"""Suites of engine authors: runs posted, kept, compared, and shown as a history and a badge.

* ``documents``: a ``run --json``, checked, and as a history keeps it;
* ``keeping``: suites and runs made and removed; the files of a run;
* ``comparing``: a run beside a former one;
* ``histories``: the pages of ``gtp-harness history``, made of the last runs;
* ``badge``: the picture for the front page of an engine.
"""
