"""An assignment, and a submission to it: looked into, laid out, built, tried."""
