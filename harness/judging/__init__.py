"""What the oracle says about case files and answers: why, how strong, which mistakes. Pure."""
