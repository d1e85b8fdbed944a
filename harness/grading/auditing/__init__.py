"""Looking for wrong answers of submissions that have nearly full marks. No mark changes by it."""
