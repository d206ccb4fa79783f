"""Failures to data to a better checkpoint."""

from .recipes import Recipe, demonstration, rejection

__all__ = ["RECIPES"]

RECIPES: dict[str, Recipe] = {"demonstration": demonstration, "rejection": rejection}
"""Name to how rows are made from failures."""
