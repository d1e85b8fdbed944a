"""Jobs: leased by workers and done with the code of ``grade``, one assignment's ledger each.

* ``worker``: the loop, and how workers share ledgers and the machine;
* ``job_handlers``: what each kind of job does, and what is told meanwhile;
* ``assignment_context``: what the jobs of an assignment share; ``result_files``: what they leave;
* ``drafts``, ``private_cases``, ``previews``, ``tournaments``: what teachers ask workers.

A job may be done twice if a worker died at the wrong moment: all that it writes is the same the
second time, and each attempt has one result, which is the ledger's to keep.
"""
