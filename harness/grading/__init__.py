"""Grade a class, from a folder of submissions to marks; a package for each step.

``ingest`` → :class:`~harness.grading.records.Submission` → ``attempts`` in the ``ledger`` →
``marks``, ``similarity`` → :class:`~harness.grading.records.ClassResult` → ``exports``;
``grade`` runs all steps. ``auditing`` searches submissions with nearly full marks for mistakes.
"""

# In the folder of a grading: its ledger, the submitted files, and which machines are not believed.
LEDGER, ORIGINALS, SET_ASIDE = "ledger.sqlite", "originals", "set-aside.jsonl"
