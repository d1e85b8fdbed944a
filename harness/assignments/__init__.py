"""Read an assignment; inspect, lay out, build and try a submission to it."""
