"""Read case files and their expectations into records; start no process, judge nothing."""
