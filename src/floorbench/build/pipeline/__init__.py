"""Construction as stages: cached by content, resumable at every item, traceable to every source."""
