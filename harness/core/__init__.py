"""What every room builds on: records, options, errors, text, files, processes, signals."""
