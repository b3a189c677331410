"""Tables and pages from stored runs."""
