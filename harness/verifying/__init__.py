"""``gtp-harness verify``: check the expectations of case files against the specification.

:mod:`~harness.verifying.whole` goes through a file with the oracle, says of each test what it
asks, and adds the tests of all files that ask the same.
:mod:`~harness.verifying.expectation_judge` compares an expectation with the right answer, the
forms in which it may be written, and the wrong answers of mutants.
"""
