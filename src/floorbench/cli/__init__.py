"""The command line; the only place for rich."""
