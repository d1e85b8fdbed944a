"""The Python that engines are given: never the harness's own environment by accident.

``interpreters`` says what travels, finds Pythons on this machine and asks them what
they are; ``environment_cache`` makes environments with uv, or with venv and pip, and keeps
them. Nothing here looks at a submission.
"""
