"""What attempts are worth, what would change that, and what a teacher should look at. Pure."""
