"""How a run was made, as (what, text) rows: enough to make it again, or to see why two do not compare."""

from evalctl.digests import canonical
from evalctl.types import RunRecord

from .words import moment, seconds

UNKNOWN = "not recorded"


def rows(record: RunRecord) -> list[tuple[str, str]]:
    """What made `record`, in the order a reader asks."""
    suite, checkpoint = record.suite, record.checkpoint
    found = [
        ("run key", record.key),
        ("suite", f"{suite.get('name')} {suite.get('version') or ''} · digest {suite.get('digest') or UNKNOWN}"),
        ("roles", ", ".join(str(role) for role in suite.get("roles") or ()) or UNKNOWN),
        ("weights", _weights(record)),
        ("engine", _engine(record)),
        ("sampling", _flat(record.sampling)),
        ("prompt", record.prompt_digest or UNKNOWN),
        ("scorer", record.scorer_digest or UNKNOWN),
        ("sandbox", record.sandbox_digest or "none"),
        ("seed, replicate", f"{UNKNOWN if record.seed is None else record.seed}, {record.replicate}"),
        ("started, took", f"{moment(record.started)}, {seconds(record.seconds)}"),
    ]
    if checkpoint.get("parent"):
        found.append(("made from", str(checkpoint["parent"])))
    if record.source:
        found.append(("imported", _flat(record.source)))
    return found


def _weights(record: RunRecord) -> str:
    kind = record.checkpoint.get("kind")
    verified = "" if record.checkpoint.get("verified", True) else ", unverified"
    return f"{record.checkpoint.get('weights_digest')} ({kind}{verified})"


def _engine(record: RunRecord) -> str:
    engine = record.engine
    if not engine:
        return UNKNOWN
    extra = [f"{key} {engine[key]}" for key in ("dtype", "batch", "threads") if engine.get(key) is not None]
    return ", ".join([f"{engine.get('name')} {engine.get('version')}", *extra])


def _flat(values: object) -> str:
    if not values:
        return UNKNOWN
    if isinstance(values, dict):
        return ", ".join(f"{key} {text if isinstance(text, str) else canonical(text)}" for key, text in values.items())
    return str(values)
