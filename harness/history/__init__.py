"""Keep runs in one file, and compare them: what broke when, what is flaky, what got slower.

:mod:`~harness.history.history_file` is the file; :mod:`~harness.history.history_file` makes its
rows of a run; :mod:`~harness.history.trends` and :mod:`~harness.history.test_courses` find the
trends, pure; :mod:`~harness.history.text`, :mod:`~harness.history.text` and
:mod:`~harness.history.pages` show them; :mod:`~harness.history.test_courses` is what pages tell of
each test, run by run.
"""
