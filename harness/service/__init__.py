"""The service: the same grading for whole courses, as pages and an API.

Data flow: HTTP → a rule that says who may (``web``) → a page or a route (``pages``, ``api``) →
what is asked for (``people``, ``courses``) → rows (``storage``) → jobs, leased by workers
(``jobs``), which call the code of ``grade`` and write each assignment's ledger → pages and exports
of what the ledger has. Operators use ``operations``.

Nothing here judges. Marks are those of ``grade``, made by its code.
"""
