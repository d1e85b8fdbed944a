"""Do the tests notice? One small change at a time is made to the modules that decide.

``tox -e mutation`` (``python -m tests.mutation``) draws changes with a seed, makes each in a copy
of the project, and runs the tests that reach it. A change that no test notices is told with its
line: either a test is missing, or the change changes nothing; then ``equivalent.toml`` says why.
``docs/mutation.md`` describes how a change is tried.

* ``modules``: the modules where a wrong line gives a wrong mark, verdict, leak or loss.
* ``drawing``: which changes, by mutmut's operators and two of our own.
* ``blocks``: the pieces of a module that are reached as a whole, and marks for them.
* ``reach``: which tests reach which blocks, measured once and kept.
* ``known``: the changes that change nothing.
* ``copying``: a copy of the project with a Python of its own.
* ``serving``, ``servers``: a warm process that runs tests in forks, and its other end.
* ``plugins``, ``limiting``: what such a fork runs, and what ends it.
* ``sharing``: several copies at work at a time.
* ``trying``: makes a change in a copy and runs tests there.
* ``results``, ``table``: what came of it, as a file and for the documentation.
"""
