"""Run case files against an engine, one after the other or in parallel."""
