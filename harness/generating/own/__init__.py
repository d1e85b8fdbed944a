"""Case files for a declared game: drawn, answered by the reference, chosen by what they catch.

Nobody here knows the rules. Conversations are drawn (:mod:`harness.declared.conversation_drawing`)
or continue from those that are given (:mod:`~harness.generating.own.drafts`); their questions
become tests (:mod:`~harness.generating.own.drafts`); wrong engines say what a test is
worth, and the best are chosen (:mod:`~harness.generating.own.test_production`) and written
(:mod:`~harness.generating.own.test_production`).
"""
