"""The commands of ``gtp-oracle``, a module each.

``gtp-oracle NAME …`` imports ``oracle.commands.NAME`` and calls its ``main(arguments)``, which
returns the exit status. Commands that ask one question of one position use
:mod:`~oracle.commands.ask`; :mod:`~oracle.commands.ask` reads their shared options.
"""
