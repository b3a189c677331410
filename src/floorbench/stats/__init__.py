"""Intervals and paired tests; pure."""
