"""Boards as text, a module for each way of writing them, and the ``Snapshot`` that any reader
returns.

Which of these, a game record or a case file it is that a file has, :mod:`oracle.formats` tells.
"""
