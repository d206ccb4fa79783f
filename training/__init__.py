"""Failures to data to a better checkpoint."""
