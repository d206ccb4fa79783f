"""Files are the truth, the database is an index: runs, checkpoints, baselines and verdicts."""

from .baselines import Baseline
from .checkpoints import Lineage, SavedCheckpoint
from .records import RunRow
from .store import Store
from .writer import RunWriter

__all__ = ["Baseline", "Lineage", "RunRow", "RunWriter", "SavedCheckpoint", "Store"]
