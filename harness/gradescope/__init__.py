"""A Gradescope autograder: make the zip that a teacher uploads, and grade a submission there."""
