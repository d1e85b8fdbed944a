"""Workers: they lease jobs and do them with the code of ``grade``, one assignment's ledger each.

* ``grounds``: what the jobs of an assignment share: its ledger, its store, what is wanted;
* ``doing``: what each kind of job does; ``company``: how workers share ledgers and the machine;
* ``heart``: renews a lease; ``worker``: the loop, and ``__main__`` its door.

A job may be done twice where a worker died at the wrong moment: all that it writes is the same
the second time, and each attempt has one result, which is the ledger's to keep.
"""
