"""Model references: a local folder, a served model, a deterministic double; and who the weights are."""

from .load import load_model
from .reference import checkpoint_for

__all__ = ["checkpoint_for", "load_model"]
