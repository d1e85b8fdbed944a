"""The storage of a grading: one database, and beside it the originals that it names by digest."""
