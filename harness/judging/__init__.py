"""Explain answers and measure case files with the oracle: reasons, strength, mistakes.

Nothing is started, and only files that commands name are read.
"""
