"""Do the tests notice? One small change at a time is made to the modules that decide.

``tox -e mutation`` (``python -m tests.mutation``) draws changes with a seed, makes each in a copy
of the project, and runs the tests that reach it. A change that no test notices is told with its
line: either a test is missing, or the change changes nothing; then ``equivalent.toml`` says why.

* ``modules``: the modules where a wrong line gives a wrong mark, verdict, leak or loss.
* ``drawing``: which changes, by mutmut's operators and two of our own.
* ``reaching``: which files of tests reach a module, by imports.
* ``known``: the changes that change nothing.
* ``trying``: makes a change in a copy and runs tests there.
* ``table``: what came of it, as text and for the documentation.
"""
