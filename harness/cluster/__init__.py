"""Units of work carried to other machines by Dask, and their words carried back.

Data flow: a grading hands units to a *carrier*, which decides what goes next and what goes again.
The *porter*, a process of its own, is the only one of the server that speaks to Dask; it also
serves bytes by their SHA-256. A *worker* fetches the bytes, does the unit as everywhere
(:mod:`harness.work`), and writes the result as lines of JSON. The ledger is the only truth:
what is lost on the way is done again.

* ``rules``: who gets what, and when; pure, so that a simulation has the same;
* ``records``: what passes between them, checked on reading;
* ``carrier``, ``believing``: in the process of the grading, and what it believes of what comes;
* ``porter``, ``serving``: beside it, and the bytes;
* ``desk``, ``fetching``, ``announcing``: on a worker; ``errand``: what Dask runs there;
* ``guarding``, ``unpickling``, ``roles``: what nobody may send, and who may ask for what;
* ``processes``: a scheduler and a worker from their start to their end.
"""
