"""The commands of ``gtp-oracle``.

``play``, ``gosensei`` and ``gtp`` are modules whose ``main(arguments)`` returns the exit status.
All others are about one position: :mod:`~oracle.commands.questions` has them, and
:mod:`~oracle.commands.ask` their shared options.
"""
