"""The commands of ``gtp-oracle``.

``show``, ``play``, ``gosensei`` and ``gtp`` are modules whose ``main(arguments)`` returns the exit
status. All others ask one question of one position: :mod:`~oracle.commands.questions` has them,
and :mod:`~oracle.commands.ask` their shared options.
"""
