"""Case files against an engine: one after the other or in parallel, from start to result."""
