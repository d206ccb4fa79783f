"""From names to finished runs: what `run` and `demo` share."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from evalctl.errors import EvalctlError, UsageError
from evalctl.models import checkpoint_for, load_model
from evalctl.names import fit_name
from evalctl.runner import Watch, plan_run, run_suite
from evalctl.selection import select
from evalctl.store import Store
from evalctl.types import PLAIN_ROLES, Checkpoint, Model, Role, Run, Sampling, Suite
from suites import load_suite

from .present import watch_on_terminal

MOST_TRIALS = 10_000_000
"""Of one run."""


@dataclass(frozen=True)
class RunRequest:
    """What a person asked to run, as the options of `evalctl run` name it."""

    reference: str
    name: str | None = None
    sandbox: str | None = None
    epochs: int | None = None
    samples: int | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Samples by suite, where suites have sizes of their own."""
    limit: int | None = None
    roles: frozenset[Role] = PLAIN_ROLES
    seed: int = 0
    temperature: float = 0.0
    max_tokens: int | None = None
    batch_size: int | None = None
    replicate: int = 0
    resume: bool = False


def checkpoint_of(store: Store, reference: str, name: str | None, say: Callable[[str], None]) -> Checkpoint:
    """The checkpoint a reference means now: a saved name first, then a folder, a double or a served model.

    A saved name is resolved anew, so that weights changed under its path are another checkpoint; `say` is then told.
    Raises UsageError for a name that cannot be one.
    """
    if name is not None:
        fit_name(name, "checkpoint")
    saved = store.checkpoints.get(reference)
    if saved is None:
        found = checkpoint_for(reference, name)
        fit_name(found.name, "checkpoint", slashes=name is None)
    elif saved.kind == "imported":
        raise EvalctlError(
            f"checkpoint {reference!r} was imported: there are no weights to run; name a folder or a model"
        )
    else:
        found = replace(checkpoint_for(saved.reference, name or saved.name), parent=saved.parent)
    moved = store.checkpoints.save(found)
    if moved:
        say(moved)
    return found


def run_all(names: Iterable[str], request: RunRequest, watch: Watch | None = None) -> Iterator[Run | EvalctlError]:
    """One outcome a suite, in order: its finished run, or why it could not run. The others go on."""
    store = Store.open()
    watch = watch or watch_on_terminal()
    _bounded((request.samples or 1) * (request.epochs or 1))
    loaded: list[Suite | EvalctlError] = [_suite(name, request) for name in names]
    checkpoint = checkpoint_of(store, request.reference, request.name, watch.say)
    kept: dict[str, Model | None] = {}
    for suite in loaded:
        if isinstance(suite, EvalctlError):
            yield suite
            continue
        try:
            model = _model(checkpoint, suite, request.batch_size, kept)
            yield _run(store, suite, checkpoint, model, request, watch)
        except EvalctlError as error:
            yield error


def _suite(name: str, request: RunRequest) -> Suite | EvalctlError:
    try:
        suite = load_suite(name, samples=request.sizes.get(name, request.samples))
        if request.sandbox is not None:
            suite = replace(suite, sandbox=request.sandbox)
        suite = select(suite, request.roles, request.limit)
        _bounded(len(suite.samples) * (request.epochs or suite.epochs))
        return suite
    except EvalctlError as error:
        return error


def _bounded(trials: int) -> None:
    if trials > MOST_TRIALS:
        raise UsageError(f"that would be {trials:,} trials, and {MOST_TRIALS:,} trials are the most of a run")


def _model(checkpoint: Checkpoint, suite: Suite, batch_size: int | None, kept: dict[str, Model | None]) -> Model | None:
    """The model for a suite; weights are loaded once for all suites, a double is made for each."""
    key = suite.name if checkpoint.kind == "double" else checkpoint.weights_digest
    if key not in kept:
        kept[key] = load_model(checkpoint, suite, batch_size)
    return kept[key]


def _run(
    store: Store, suite: Suite, checkpoint: Checkpoint, model: Model | None, request: RunRequest, watch: Watch
) -> Run:
    plan = plan_run(
        suite,
        checkpoint,
        model,
        sampling=Sampling(request.temperature, 1.0, request.max_tokens or suite.max_tokens),
        epochs=request.epochs,
        seed=request.seed,
        replicate=request.replicate,
    )
    there = store.has(plan.record.key)
    run = run_suite(plan, store, watch, resume=request.resume)
    owner = run.record.checkpoint["name"]
    if there and owner != checkpoint.name:
        watch.say(f"that run belongs to {owner}, whose weights are those of {checkpoint.name}")
    return run
