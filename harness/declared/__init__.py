"""Assignments of a teacher's own: declared in TOML, with answers from the teacher's program.

:mod:`~harness.declared.declaration` reads what is declared into records;
:mod:`~harness.declared.specifying` makes the specification of it that all other rooms are handed;
:mod:`~harness.declared.reference` asks the teacher's program, and keeps its answers.
"""
