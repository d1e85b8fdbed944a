"""The Python that engines are given: never the harness's own environment by accident.

``records`` says what travels; ``interpreters`` finds Pythons on this machine and asks them what
they are; ``environment_cache`` keeps environments in a cache; ``environment_building`` makes one
with uv, or with venv and pip; ``choosing`` decides which an assignment's engines get. Nothing here
looks at a submission.
"""
