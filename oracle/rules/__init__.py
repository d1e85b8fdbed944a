"""The rules themselves, on boards of bits: chains, areas, eyes, lines, policy. Nothing of a game."""
