"""Search submissions with nearly full marks for wrong answers. No mark changes."""
