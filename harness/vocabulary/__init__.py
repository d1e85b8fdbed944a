"""The building blocks of specifications, independent of any assignment.

:mod:`~harness.vocabulary.board_kinds` and :mod:`~harness.vocabulary.answer_forms` of answers;
:mod:`~harness.vocabulary.wordings` that answers depend on, and
:mod:`~harness.vocabulary.transformations` that leave them known; what tests are made about
(:mod:`~harness.vocabulary.scenes`, :mod:`~harness.vocabulary.scenes`), and what is said to an
engine (:mod:`~harness.vocabulary.conversations`, :mod:`~harness.vocabulary.conversations`).
Nothing is started.
"""
