"""floorbench measures how spoken-dialogue systems take turns."""

__version__ = "0.1.0"
