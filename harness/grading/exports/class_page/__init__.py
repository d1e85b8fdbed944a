"""The page about a class, for the teacher, in its sections; see :mod:`.page`."""
