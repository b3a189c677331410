"""Annotation files in and out.

>>> from floorbench.formats import FORMATS, Document, Entry, Tier
>>> sorted(FORMATS)[:4]
['audacity', 'chat', 'ctm', 'eaf']
"""

from floorbench.formats.abilities import Loss
from floorbench.formats.convert import ConversionReport, convert
from floorbench.formats.files import detect, read, write
from floorbench.formats.registry import FORMATS
from floorbench.formats.tiers import Document, Entry, Notice, Tier

__all__ = [
    "FORMATS",
    "ConversionReport",
    "Document",
    "Entry",
    "Loss",
    "Notice",
    "Tier",
    "convert",
    "detect",
    "read",
    "write",
]
