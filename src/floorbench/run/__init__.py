"""The engine: predictions in, journal and run folder out."""
