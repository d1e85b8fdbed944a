"""Keep runs in one file, and compare them: what broke when, what is flaky, what got slower.

:mod:`~harness.history.history_file` is the file; :mod:`~harness.history.run_keeping` makes its
rows of a run; :mod:`~harness.history.trends` and :mod:`~harness.history.statistics` find the
trends, pure; :mod:`~harness.history.history_text`, :mod:`~harness.history.history_json` and
:mod:`~harness.history.pages` show them; :mod:`~harness.history.test_courses` is what pages tell of
each test, run by run.
"""
