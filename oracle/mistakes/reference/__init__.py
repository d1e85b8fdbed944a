"""The reference engines in parts, one module for each game: what mistakes stand in.

Each module has ``ROUTES``, the commands that go through its parts. While no mistake stands in a
part, they answer as the reference engine does.
"""
