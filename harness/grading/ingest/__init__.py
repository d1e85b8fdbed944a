"""Turn a download into submissions: their source, the file that counts, and the log in it."""
