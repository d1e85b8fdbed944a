"""The commands of ``gtp-oracle``, a module each.

``gtp-oracle NAME …`` imports ``oracle.commands.NAME`` and calls its ``main(arguments)``, which
returns the exit status. Commands that ask one question of one position are made of a
:class:`~oracle.commands.question.Question`; :mod:`~oracle.commands.position_options` reads what
they share.
"""
