"""The similarity check: submissions compared with each other."""
