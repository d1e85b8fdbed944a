"""The building blocks of specifications, independent of any assignment.

:mod:`~harness.vocabulary.board_kinds` and :mod:`~harness.vocabulary.answer_forms` of answers;
:mod:`~harness.vocabulary.facts` that answers depend on, and
:mod:`~harness.vocabulary.transformations` that leave them known; what tests are made about
(:mod:`~harness.vocabulary.scenes`, :mod:`~harness.vocabulary.features`), and what is said to an
engine (:mod:`~harness.vocabulary.script`, :mod:`~harness.vocabulary.conversations`).
Nothing is started.
"""
