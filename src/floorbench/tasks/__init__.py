"""One file per benchmark: observation policy, scoring units, metrics."""
