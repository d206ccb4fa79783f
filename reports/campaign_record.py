"""From `campaigns/<id>/record.json`, or the `progress.json` beside it, to the view that pages show."""

import math
from collections.abc import Iterator, Mapping

from evalctl.errors import EvidenceError
from evalctl.types import Estimate, Json

from .campaign import CampaignView, Condition, Doing, Moved, Stage, State, counts
from .figures import Difference
from .words import Unit, seconds


def read(record: Mapping[str, Json]) -> CampaignView:
    """The view of a record, or of what is known of an unfinished campaign. Raises EvidenceError for another form."""
    try:
        return _read(record)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        name = str(record.get("id", "?")) if isinstance(record, Mapping) else "?"
        raise EvidenceError(f"campaign {name}: its record is not one ({type(error).__name__}: {error})") from error


def _read(record: Mapping[str, Json]) -> CampaignView:
    candidate, data = record.get("candidate"), record.get("data") or {}
    return CampaignView(
        id=str(record["id"]),
        state=State(record["status"]),
        checkpoint=str(record["checkpoint"]["name"]),
        candidate=str(candidate["name"]) if candidate else None,
        suites=tuple(str(name) for name in record.get("suites") or ()),
        created=str(record.get("created") or ""),
        exit=None if record.get("exit") is None else int(record["exit"]),
        reason=str(record.get("reason") or ""),
        spoiled=str(record["sabotage"]) if record.get("sabotage") else None,
        base=tuple((str(name), told) for name, one in (record.get("base") or {}).items() if (told := _estimate(one))),
        gains=tuple(_gains(record)),
        moved=tuple(_moved(one) for one in record.get("families") or ()),
        conditions=tuple(
            Condition(str(one["name"]), None if one["held"] is None else bool(one["held"]), str(one.get("text") or ""))
            for one in record.get("conditions") or ()
        ),
        screened=tuple(
            (str(name), int(one["passed"]), counts(one["failed"]), counts(one["left_out"]))
            for name, one in (record.get("screened") or {}).items()
        ),
        rows=None if data.get("rows") is None else int(data["rows"]),
        data=tuple(_data(data)),
        stages=tuple(_stage(one) for one in record.get("stage_results") or ()),
        skipped=tuple((str(name), str(why)) for name, why in (record.get("skipped") or {}).items()),
        made=tuple(_made(record)),
        doing=_doing(record["progress"]) if record.get("progress") else None,
    )


def _gains(record: Mapping[str, Json]) -> Iterator[Difference]:
    crossfit, suites = record.get("crossfit") or {}, ", ".join(str(name) for name in record.get("suites") or ())
    for fold in crossfit.get("folds") or ():
        yield _difference(fold, suites, f"fold {int(fold['fold'])}, held out", "fold")
    if crossfit:
        yield _difference(crossfit, suites, "all folds, cross-fitted", "crossfit")
    for suite, one in (record.get("sealed") or {}).items():
        look = one.get("look") or {}
        number, budget = look.get("number"), look.get("budget")
        told = f"look {number}{f' of {budget}' if budget is not None else ''}" if number is not None else ""
        yield _difference(
            one, str(suite), f"sealed {suite}{told and f' ({told})'}", "sealed", "not shown: the looks are spent"
        )


def _moved(one: Mapping[str, Json]) -> Moved:
    row = _difference(one, str(one["suite"]), f"{one['suite']} · {one['family']}", "family")
    return Moved(str(one.get("role") or ""), bool(one.get("trained")), row)


def _difference(one: Mapping[str, Json], suite: str, label: str, kind: str, note: str = "no figure") -> Difference:
    baseline, candidate, found = (_estimate(one.get(name)) for name in ("baseline", "candidate", "difference"))
    return Difference(suite, label, kind, Unit.SHARE, baseline, candidate, found, note="" if found else note)


def _estimate(given: Mapping[str, Json] | None) -> Estimate | None:
    if given is None or given.get("value") is None:
        return None
    # A bound that nothing limits is null in JSON.
    low = -math.inf if given.get("low") is None else float(given["low"])
    high = math.inf if given.get("high") is None else float(given["high"])
    return Estimate(float(given["value"]), low, high, int(given["n"]), int(given["clusters"]))


def _data(data: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    if data.get("rows") is not None:
        yield "training rows", f"{int(data['rows']):,}"
    if data.get("by_kind"):
        yield "by kind", counts(data["by_kind"])
    for suite, families in (data.get("by_family") or {}).items():
        yield f"by family, {suite}", counts(families)
    if data.get("rows") is not None:
        yield "dropped", counts(data.get("dropped") or {}) or "none"


def _stage(one: Mapping[str, Json]) -> Stage:
    return Stage(
        str(one["stage"]),
        None if one.get("fold") is None else int(one["fold"]),
        int(one.get("steps") or 0),
        int(one.get("rows") or 0),
        int(one.get("trained_tokens") or 0),
        dict(one.get("left_out") or {}),
        dict(one.get("figures") or {}),
    )


def _made(record: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    settings, digests = record.get("settings") or {}, record.get("digests") or {}
    yield "campaign", str(record["id"])
    yield "weights", str(record["checkpoint"].get("weights_digest") or "not recorded")
    if record.get("candidate"):
        yield "candidate's weights", str(record["candidate"].get("weights_digest") or "not recorded")
    if record.get("recipe"):
        yield "recipe", str(record["recipe"])
        yield "stages", ", ".join(str(name) for name in record.get("stages") or ())
        yield "settings", str(settings.get("name") or "not recorded")
        yield "folds, seed", f"{record.get('folds')}, {record.get('seed')}"
    if record.get("policy_digest"):
        yield "policy", str(record["policy_digest"])
    if (record.get("data") or {}).get("digest"):
        yield "data", str(record["data"]["digest"])
    for name, told in (digests.get("verifiers") or {}).items():
        yield f"verifier, {name}", str(told)
    if digests.get("template"):
        yield "template", str(digests["template"])
    if record.get("chain"):
        yield "chain", str(record["chain"])
        yield "parent's chain", str(record.get("parent_chain") or "none: the incumbent was not promoted by a campaign")
    if record.get("seconds") is not None:
        yield "took", seconds(float(record["seconds"]))


def _doing(progress: Mapping[str, Json]) -> Doing:
    return Doing(
        step=str(progress.get("step") or ""),
        number=int(progress.get("number") or 0),
        of=int(progress.get("of") or 0),
        stage=str(progress.get("stage") or ""),
        fold=None if progress.get("fold") is None else int(progress["fold"]),
        done=int(progress.get("done") or 0),
        total=int(progress.get("total") or 0),
        left=None if progress.get("left_seconds") is None else float(progress["left_seconds"]),
        updated=str(progress.get("updated") or ""),
    )
