"""What all routes share: who may do what, what is said when something is refused, how it looks."""
