"""Decoding, resampling, channels, opaque audio references, assets and VADs."""
