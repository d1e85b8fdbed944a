"""The page about a class, for the teacher, in its sections.

:mod:`~harness.grading.exports.class_page.page` puts them together.
"""
