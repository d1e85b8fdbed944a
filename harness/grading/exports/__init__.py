"""What comes of a grading, in files: for people, for other programs and for learning platforms.

A format is a module and a row of :data:`~harness.grading.exports.exporters.EXPORTS`. Everything is
made of one :class:`~harness.grading.records.ClassResult`; what students see of it is decided in
:mod:`~harness.grading.exports.showing` alone. A mark that is withheld is nowhere a number.
"""
