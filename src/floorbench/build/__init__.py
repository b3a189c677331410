"""Dataset construction (extra `build`)."""
