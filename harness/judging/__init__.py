"""What the oracle says about case files and answers: why, how strong, which mistakes.

Nothing is started, and no file is read but those that commands name.
"""
