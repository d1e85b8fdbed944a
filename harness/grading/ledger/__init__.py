"""What a grading keeps: one SQLite file, and beside it the originals that it names by digest."""
