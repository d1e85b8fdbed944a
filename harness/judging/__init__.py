"""Explain answers and measure case files with the oracle: reasons, strength, mistakes.

Nothing is started, and no file is read but those that commands name.
"""
