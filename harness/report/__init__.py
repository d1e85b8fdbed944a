"""The result of a run, for people and programs: terminal, HTML, JSON, JUnit, TAP, baselines."""
