"""What a gate policy file may say, and what it demands of each suite and metric.

The whole vocabulary is read; what this version does not decide yet is refused by name, never passed over.
"""

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from .digests import digest
from .errors import LookupFailed, PolicyError
from .gate.demands import Demand, Tier
from .measures import WIDEST, default_range
from .strict_yaml import YAML_ERRORS, UniqueKeys, figure
from .types import PLAIN_ROLES, Role

MOST = 1_000_000_000
"""Of anything counted."""
Written = BeforeValidator(figure)
Number = Annotated[float, Written, Field(strict=True, allow_inf_nan=False)]
Share = Annotated[float, Written, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
Margin = Annotated[float, Written, Field(strict=True, ge=0, allow_inf_nan=False)]
Level = Annotated[float, Written, Field(strict=True, gt=0, le=0.5, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=1, le=MOST)]

REQUIRE_SAME = ("suite_digest", "prompt_digest", "sampling", "judge", "limits")


def _check_range(bounds: tuple[float, float] | None) -> None:
    if bounds is not None and not bounds[0] < bounds[1]:
        raise ValueError(f"range {list(bounds)} must rise: [lowest, highest]")
    if bounds is not None and bounds[1] - bounds[0] > WIDEST:
        raise ValueError(f"range {list(bounds)} is wider than {WIDEST:g}, more than a difference can be told in")


class Strict(BaseModel):
    """Frozen, and a key it does not know is an error that names the nearest one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        for key in data if isinstance(data, dict) else ():
            if key not in cls.model_fields:
                raise ValueError(str(LookupFailed("key", str(key), cls.model_fields)))
        return data


class MetricRules(Strict):
    """One metric of a suite; what it leaves out it takes from the suite, then from the defaults."""

    name: str
    tier: Tier | None = None
    direction: Literal["higher", "lower"] | None = None
    range: tuple[Number, Number] | None = None
    max_drop: Margin | None = None
    max_total_drop: Margin | None = None
    alpha: Level | None = None
    missing: Literal["strict", "lenient"] | None = None
    on_inconclusive: Literal["block", "allow"] | None = None

    @model_validator(mode="after")
    def _ordered(self) -> "MetricRules":
        _check_range(self.range)
        return self


class Settings(Strict):
    """What defaults and suites may both say."""

    tier: Tier | None = None
    metric: str | None = None
    direction: Literal["higher", "lower"] | None = None
    range: tuple[Number, Number] | None = None
    """Lowest and highest value; a metric without a declared range cannot PASS."""
    max_drop: Margin | None = None
    """The margin against the rolling baseline, in the metric's unit."""
    max_total_drop: Margin | None = None
    """The margin against the anchor, where it differs from the anchor's own."""
    alpha: Level | None = None
    roles: tuple[Role, ...] | None = None
    min_coverage: Share | None = None
    max_error_rate: Share | None = None
    missing: Literal["strict", "lenient"] | None = None
    on_inconclusive: Literal["block", "allow"] | None = None
    require_same: tuple[str, ...] | None = None
    epochs: Count | None = None
    """The fewest epochs each sample must have."""

    @model_validator(mode="after")
    def _ordered(self) -> "Settings":
        _check_range(self.range)
        return self


class SuiteRules(Settings):
    """One suite, by the name it is run under."""

    metrics: tuple[MetricRules, ...] | None = None
    must_pass: tuple[str, ...] = ()
    """Sample ids or globs that must have the best value in every epoch."""
    slices: tuple[Mapping[str, Any], ...] = ()


class Anchor(Strict):
    """A pinned baseline, so that small falls cannot add up unseen."""

    baseline: str
    max_total_drop: Margin


class Contamination(Strict):
    """Which items decide by what an audit found."""

    audit: str = "latest"
    gate_on: Literal["clean", "all"] = "clean"


class Sealed(Strict):
    """The budget of looks at sealed samples."""

    looks: Count | None = None
    shards: Count | None = None


class Drift(Strict):
    """How far a promoted checkpoint may move from its parent."""

    max_kl: Annotated[float, Written, Field(strict=True, gt=0, allow_inf_nan=False)]
    """Mean per-token KL(parent || candidate) on `dev` prompts, in nats; its upper bound must lie below."""


class Policy(Strict):
    """A whole policy file. `groups`, `require_groups` and `drift` decide promotion; a gate shows no more of them."""

    version: Literal[1] = 1
    defaults: Settings = Settings()
    suites: Mapping[str, SuiteRules]
    groups: Mapping[str, tuple[str, ...]] = {}
    require_groups: Count | None = None
    anchor: Anchor | None = None
    contamination: Contamination | None = None
    sealed: Sealed | None = None
    drift: Drift | None = None

    @model_validator(mode="before")
    @classmethod
    def _empty_suites(cls, data: Any) -> Any:
        """`tooluse:` with nothing after it is the suite with every default."""
        if isinstance(data, dict) and isinstance(data.get("suites"), dict):
            return {**data, "suites": {k: {} if v is None else v for k, v in data["suites"].items()}}
        return data

    @cached_property
    def digest(self) -> str:
        """Of what the file says, comments and order apart."""
        return digest(self.model_dump(mode="json", exclude_unset=True))

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        """Every suite x metric, in the file's order; a suite's one metric carries its `must_pass`: see `guard`."""
        found = []
        for name, suite in self.suites.items():
            for metric in suite.metrics or (None,):
                found.append(self._demand(name, suite, metric, must_pass=() if suite.metrics else suite.must_pass))
        return tuple(found)

    def guard(self, name: str, score: str) -> Demand | None:
        """`must_pass` of a suite that lists `metrics`, judged on `score`, the metric that its rows' score is of.

        It decides at the suite's own tier, whatever metrics are listed. None where there is nothing to judge.
        """
        suite = self.suites[name]
        if not suite.metrics or not suite.must_pass:
            return None
        rules = next((metric for metric in suite.metrics if metric.name == score), None)
        made = self._demand(name, suite, rules or MetricRules(name=score), must_pass=suite.must_pass)
        tier = suite.tier or self.defaults.tier or "critical"
        if rules is None:  # What the suite says of a direction and a range is then meant for other metrics.
            made = replace(made, direction=None, range=None)
        return replace(made, tier=tier, max_drop=0.0, max_total_drop=None)

    @property
    def roles(self) -> dict[str, frozenset[str]]:
        """Suite to the roles it is read in."""
        return {demand.suite: demand.roles for demand in self.demands}

    def _demand(self, name: str, suite: SuiteRules, metric: MetricRules | None, must_pass: tuple[str, ...]) -> Demand:
        layers = [layer for layer in (metric, suite, self.defaults) if layer is not None]

        def said(key: str, otherwise: Any = None) -> Any:
            values = (getattr(layer, key, None) for layer in layers)
            return next((value for value in values if value is not None), otherwise)

        roles = frozenset(str(role) for role in said("roles", PLAIN_ROLES))
        looks = self.sealed.looks if self.sealed and Role.SEALED in roles else None
        called = metric.name if metric else said("metric", "correct")
        bounds = said("range") or default_range(called)
        return Demand(
            suite=name,
            metric=called,
            tier=said("tier", "critical"),
            direction=said("direction"),
            range=said("range"),
            max_drop=said("max_drop", 0.05),
            max_total_drop=self._total(said("max_total_drop"), bounds),
            alpha=said("alpha", 0.05) / (looks or 1),
            roles=roles,
            min_coverage=said("min_coverage", 0.98),
            max_error_rate=said("max_error_rate", 0.02),
            lenient=said("missing", "strict") == "lenient",
            allow_inconclusive=said("on_inconclusive", "block") == "allow",
            require_same=said("require_same", REQUIRE_SAME),
            named_same=said("require_same") is not None,
            epochs=said("epochs", 1),
            must_pass=must_pass,
        )

    def _total(self, own: float | None, bounds: tuple[float, float] | None) -> float | None:
        """The anchor's margin is in units of a range of width 1; a metric in other units states its own."""
        if self.anchor is None or own is not None:
            return own
        return self.anchor.max_total_drop if bounds is None or bounds[1] - bounds[0] == 1 else None


def load_policy(path: Path) -> Policy:
    """Read, check and refuse. Raises PolicyError (exit 2) that names the file, the place and the mend."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PolicyError(f"{path}: there is no such policy file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"{path}: cannot be read as text: {error}") from None
    return parse_policy(text, str(path))


def parse_policy(text: str, where: str = "policy") -> Policy:
    """The policy that `text` (YAML) says. Raises PolicyError."""
    try:
        data = yaml.load(text, Loader=UniqueKeys)  # noqa: S506 - a SafeLoader that also refuses a key given twice
    except YAML_ERRORS as error:
        raise PolicyError(f"{where}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise PolicyError(f"{where}: a policy is a mapping with `suites:`, not {type(data).__name__}")
    if not data.get("suites"):
        raise PolicyError(f"{where}: names no suite, so it would pass anything; add `suites: {{NAME: {{}}}}`")
    try:
        policy = Policy.model_validate(data)
    except ValidationError as error:
        raise PolicyError(f"{where}: {_explain(error)}") from None
    _refuse(policy, where)
    return policy


def _explain(error: ValidationError) -> str:
    """The first fault, in one line, with a guess where a word was mistyped."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    message = str(first["msg"]).removeprefix("Value error, ")
    given = first.get("input")
    if first["type"] in ("literal_error", "enum") and isinstance(given, str):
        known = str(first["ctx"]["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
        near = get_close_matches(given, known, n=1)
        message = f"{given!r} is none of {', '.join(known)}" + (f"; did you mean {near[0]!r}?" if near else "")
    return f"{place}: {message}" if place else message


def _refuse(policy: Policy, where: str) -> None:
    """Raise PolicyError for what contradicts itself and for what this version does not decide."""
    undecided = {f"suites.{name}.slices": bool(suite.slices) for name, suite in policy.suites.items()}
    undecided |= {
        "contamination": policy.contamination is not None,
        "sealed.shards": policy.sealed is not None and policy.sealed.shards is not None,
    }
    for key, used in undecided.items():
        if used:
            raise PolicyError(f"{where}: {key}: this version does not decide it, and will not pass over it; remove it")
    _refuse_groups(policy, where)
    for demand in policy.demands:
        _refuse_demand(policy, demand, f"{where}: suites.{demand.suite}")
    names = [(d.suite, d.metric) for d in policy.demands]
    for suite, metric in names:
        if names.count((suite, metric)) > 1:
            raise PolicyError(f"{where}: suites.{suite}.metrics: {metric!r} is named twice")
    if not any(demand.blocking for demand in policy.demands):
        raise PolicyError(f"{where}: every suite is advisory, so nothing decides; make one critical or supporting")


def _refuse_groups(policy: Policy, where: str) -> None:
    for group, names in policy.groups.items():
        if not names:
            raise PolicyError(f"{where}: groups.{group}: holds no suite, so it could neither agree nor disagree")
        for name in names:
            if name not in policy.suites:
                raise PolicyError(f"{where}: groups.{group}: {LookupFailed('suite', name, policy.suites)}")
    if policy.require_groups is not None and policy.require_groups > len(policy.groups):
        raise PolicyError(
            f"{where}: require_groups: {policy.require_groups} of {len(policy.groups)} groups could never agree"
        )


def _refuse_demand(policy: Policy, demand: Demand, where: str) -> None:
    if not demand.roles:
        raise PolicyError(f"{where}: roles: is empty, so nothing would be read; leave it out or name roles")
    if Role.DEV in demand.roles:
        raise PolicyError(f"{where}: roles: dev is for choosing and is never reported as a result; remove it")
    if demand.sealed and (policy.sealed is None or policy.sealed.looks is None):
        raise PolicyError(f"{where}: roles: sealed without a budget of looks; add `sealed: {{looks: 20}}`")
    rules = policy.suites[demand.suite]
    own = [rules.max_total_drop, *(metric.max_total_drop for metric in rules.metrics or ())]
    if policy.anchor is None and any(value is not None for value in (*own, policy.defaults.max_total_drop)):
        raise PolicyError(
            f"{where}: max_total_drop without an anchor; add `anchor: {{baseline: REF, max_total_drop: …}}`"
        )
    if policy.anchor and demand.blocking and demand.max_total_drop is None:
        raise PolicyError(f"{where}: {demand.metric} has its own unit; state its max_total_drop against the anchor")
    if rules.metrics == () or (rules.metrics and rules.metric):
        raise PolicyError(f"{where}: give either `metric: NAME` or `metrics: [{{name: NAME}}, …]`, with at least one")
    bounds = demand.range or default_range(demand.metric)
    if bounds and demand.max_drop >= bounds[1] - bounds[0]:
        raise PolicyError(
            f"{where}: max_drop {demand.max_drop:g} is all of {list(bounds)}, the range of {demand.metric}"
        )
    total = demand.max_total_drop
    if bounds and total is not None and total >= bounds[1] - bounds[0]:
        raise PolicyError(f"{where}: max_total_drop {total:g} is all of {list(bounds)}, the range of {demand.metric}")
