"""``gtp-harness check``: the checks that the documents ask students to do before the deadline.

Their order is that of go-scoring.txt, "Do Your Own Pre-submission Test".
"""
