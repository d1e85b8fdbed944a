"""The class of a former year as a bank: one engine for each way to be wrong, and nobody's name."""
