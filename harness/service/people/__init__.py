"""Who somebody is: links to sign in by, sessions, API tokens. Passwords are nowhere."""
