"""Banks: programs that are known to be wrong, used to measure tests.

An engine of a bank is a student's of a former year without anything that says whose it was
(:mod:`~harness.grading.banking.anonymous`), one that a teacher names, or a mutant of a reference
(:mod:`~harness.banks.mutants`). A bank is a folder: :mod:`~harness.banks.banks` reads it, and puts
tests to its engines.
"""
