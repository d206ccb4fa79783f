"""Transformers' KV cache, as the decode loop needs it: made, and one row shown to many."""

import copy
import inspect
from typing import Any


def fresh(model: Any) -> Any:
    """An empty cache of the kind the model's configuration asks for."""
    from transformers import DynamicCache

    return DynamicCache(config=model.config)


def is_plain(cache: Any) -> bool:
    """True where every layer keeps every position.

    Only then may a prefix stand before padding: a sliding window counts columns, so padding between prefix and
    question would push real tokens out of it, and a recurrent state cannot be told what is padding.
    """
    from transformers.cache_utils import DynamicLayer

    return all(type(layer) is DynamicLayer for layer in cache.layers)


def expanded(cache: Any, rows: int) -> Any:
    """A cache of `rows` equal rows over one row's memory; growing it copies, so the one row stays as it is."""
    many = copy.copy(cache)
    many.layers = [copy.copy(layer) for layer in cache.layers]
    for layer in many.layers:
        layer.keys = layer.keys.expand(rows, -1, -1, -1)
        layer.values = layer.values.expand(rows, -1, -1, -1)
    return many


def argument(model: Any) -> str:
    """What the model's forward calls its cache: transformers renamed it in the middle of version 5."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
