"""``gtp-harness verify``: check the expectations of case files against the specification.

:mod:`~harness.verifying.test_walk` goes through a file with the oracle and says of each test what
it asks; :mod:`~harness.verifying.expectation_judge` holds its expectation against the right
answer, the forms in which it may be written, and wrong answers: those of mutants and
those of :mod:`~harness.verifying.near_answers`; :mod:`~harness.verifying.whole` puts the findings
of all files together, with the tests that ask the same.
"""
