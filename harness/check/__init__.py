"""``gtp-harness check``: what the documents ask a student to do by hand before the deadline.

The rooms in the order in which a reader should meet them: ``steps`` has the order of
go-scoring.txt, "Do Your Own Pre-submission Test", and the last sentence; ``desk`` says what is
wanted; ``contents`` looks at what was given; ``packing`` makes archives, and reads them as the
teacher will; ``testing`` builds and runs; ``saying`` is how all that is written. The pieces below
these rooms (intake, contents, workspace, building, trial) know nothing of them: grading uses the
same.
"""
