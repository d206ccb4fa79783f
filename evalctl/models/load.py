"""A Checkpoint to the Model that answers for it in this process."""

from pathlib import Path

from ..errors import CheckpointError
from ..types import Checkpoint, Model, Suite
from .doubles import make_double
from .local import BATCH_SIZE, LocalModel
from .reference import parse_double


def load_model(checkpoint: Checkpoint, suite: Suite, batch_size: int | None = None) -> Model | None:
    """The model behind `checkpoint` for `suite`; None where it is served and Inspect answers by its name.

    Weights are read at the first batch. Raises CheckpointError for a folder that is no whole model and for an
    imported checkpoint, which has no weights here; UsageError where a double lacks what it plays.
    """
    match checkpoint.kind:
        case "served":
            return None
        case "double":
            double = parse_double(checkpoint.reference)
            return make_double(double.name, double.options, suite, batch_size or BATCH_SIZE)
        case "folder":
            return LocalModel(Path(checkpoint.reference).expanduser(), batch_size or BATCH_SIZE)
        case "imported":
            raise CheckpointError(
                f"checkpoint {checkpoint.name!r} was imported: there are no weights to run; name a folder or a model"
            )
