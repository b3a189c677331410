"""Systems under test and their front ends."""

from floorbench.systems.build import build_system

__all__ = ["build_system"]
