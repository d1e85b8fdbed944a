"""A Gradescope autograder: the zip that a teacher uploads, and what it does for a submission."""
