"""Pure measures, one family a file; they touch no files, clocks or global random state."""
