"""What is tested: runs engines, judges their answers, reports."""
