"""Case files: read into records, with their expectations; no process, nothing is judged."""
