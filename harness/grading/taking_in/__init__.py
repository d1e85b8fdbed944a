"""From a download to submissions: where they come from, the file that counts, the log with it."""
