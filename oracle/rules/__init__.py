"""Rules on boards of bits: area, capture, eyes, lines, policy; one board or many at once."""
