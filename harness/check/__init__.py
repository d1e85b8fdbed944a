"""``gtp-harness check``: the checks that the documents ask students to do before the deadline.

Read the modules in this order: ``steps`` has the order of go-scoring.txt, "Do Your Own
Pre-submission Test", and the last sentence; ``check_context`` has the options; ``files_step``
looks at the files; ``archive_step`` makes an archive and reads it as the teacher will; ``testing``
builds and runs; ``saying`` writes the report. The modules that these use (archives, contents,
workspace, build_steps, public_tests) know nothing of them; grading uses the same.
"""
