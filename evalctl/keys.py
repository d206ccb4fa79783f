"""Run keys: two runs share a key only where nothing that could change a score differs."""

from .digests import digest
from .types import RunRecord


def run_key(record: RunRecord) -> str:
    """32 hex digits over everything in `record` that could change a score.

    Weights and suite digest, roles, the expected list in its order (batches are composed from it), scorer and
    judge identity, prompt, sampling, limits, sandbox, engine fields, seed and replicate. Names of checkpoints,
    paths, times and cost are left out: they change nothing.
    """
    suite = record.suite
    return digest(
        {
            "weights": record.checkpoint.get("weights_digest"),
            "suite": [suite.get("name"), suite.get("version"), suite.get("digest"), sorted(suite.get("roles") or ())],
            "expected": None if record.expected is None else digest([list(item) for item in record.expected]),
            "scorer": record.scorer_digest,
            "judge": record.judge,
            "prompt": record.prompt_digest,
            "sampling": record.sampling,
            "limits": record.limits,
            "sandbox": record.sandbox_digest,
            "engine": record.engine,
            "seed": record.seed,
            "replicate": record.replicate,
        }
    )


def import_key(record: RunRecord) -> str:
    """32 hex digits over the source's bytes and format, the checkpoint and the suite's name.

    The same bytes under the same checkpoint and suite are the same run, whenever they are imported.
    """
    source = record.source or {}
    return digest(
        [
            "import",
            source.get("format"),
            source.get("digest"),
            record.checkpoint.get("weights_digest"),
            record.suite["name"],
        ]
    )
