"""Runs and verdicts in, text out; no I/O."""
