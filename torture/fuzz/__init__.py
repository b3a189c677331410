"""Hostile inputs for every reader and every parser, and the laws that their answers must keep."""
