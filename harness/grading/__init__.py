"""Grading: from a folder of submissions to marks, in rooms by what happens.

``taking_in`` → :class:`~harness.grading.records.Submission` → ``attempts`` in the ``ledger`` →
``marks``, ``similarity`` → :class:`~harness.grading.records.ClassResult` → ``exports``;
``grade`` leads through all of them. ``auditing`` looks at those with nearly full marks once more.
"""

# In the folder of a grading: its ledger, and the submitted files.
LEDGER, ORIGINALS = "ledger.sqlite", "originals"
