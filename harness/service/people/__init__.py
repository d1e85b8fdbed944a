"""People: accounts, ways to sign in, and the mails with links. Passwords are nowhere."""
