"""Jobs: leased by workers and done with the code of ``grade``, one assignment's ledger each."""
