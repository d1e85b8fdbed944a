"""``gtp-harness verify``: check the expectations of case files against the specification.

:mod:`~harness.verifying.verification` puts the tests of each file to the oracle, and finds those
of all files that ask the same.
:mod:`~harness.verifying.expectation_judge` compares an expectation with the right answer, the
forms in which it may be written, and the wrong answers of mutants.
"""
