"""The ground: nouns, records, statistics, gate, store, models, runner."""

__version__ = "0.1.0"
