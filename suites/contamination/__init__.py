"""Does a text hold what is measured: evidence between training rows and samples."""

from .exact import Hit, Index

__all__ = ["Hit", "Index"]
