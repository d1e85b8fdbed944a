"""The service: the same grading for whole courses, as pages and an API.

Data flow: HTTP → a rule that says who may (``web``) → what is asked for (``people``, ``courses``,
``handing_in``) → rows (``storage``) → jobs, leased by workers (``work``), which call the code of
``grade`` and write each assignment's ledger → pages and exports of what the ledger has.

Nothing here judges. Marks are those of ``grade``, made by its code.
"""
