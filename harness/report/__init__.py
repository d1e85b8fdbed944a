"""What came of a run, for people and for programs: terminal, HTML, JSON, JUnit, TAP, baselines."""
