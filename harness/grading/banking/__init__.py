"""Make a bank from a former class: one engine for each way to be wrong, without names."""
