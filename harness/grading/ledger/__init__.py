"""What a grading keeps: one database, and beside it the originals that it names by digest."""
