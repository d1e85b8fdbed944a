"""Keep runs in one file, and compare them: what broke when, what is flaky, what got slower.

:mod:`~harness.history.history_file` is the file, and makes its rows of a run;
:mod:`~harness.history.trends` finds the trends and the course of each test, pure;
:mod:`~harness.history.text` and :mod:`~harness.history.pages` show them.
"""
