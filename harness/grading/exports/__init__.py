"""Write the results of a grading for people, other programs and learning platforms.

A format is a module and a row of :data:`~harness.grading.exports.exporters.EXPORTS`. Everything is
made from one :class:`~harness.grading.records.ClassResult`. Only
:mod:`~harness.grading.exports.showing` decides what students see of it. A withheld mark is never
written as a number.
"""
