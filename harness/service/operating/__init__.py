"""What those need who run a service: whether it can run and does, and what it is busy with."""
