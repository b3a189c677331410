"""Manifests and one reader per released benchmark and corpus."""
