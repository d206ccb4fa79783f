"""A suite by name or folder: `load_suite("tooluse")`, `load_suite("./my-suite")`."""

import functools
import itertools
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalctl import lookup
from evalctl.errors import LookupFailed, SuiteError, UsageError
from evalctl.splits import DRAWN, with_roles
from evalctl.types import Json, Role, Sample, ScorerSpec, Suite

from .generator import Generator, load_generator
from .rows import read_rows
from .schema import SuiteForm, read_suite_form

DATA = "samples.jsonl"


def find_folder(name_or_path: str | Path) -> Path:
    """The folder of a suite. A path holds a separator or starts with a dot; anything else is a name.

    Raises LookupFailed for an unknown name, SuiteError where no folder is.
    """
    text = os.fspath(name_or_path)
    if isinstance(name_or_path, Path) or os.sep in text or text.startswith("."):
        folder = Path(text)
        if not folder.is_dir():
            raise SuiteError(f"{text}: no such suite folder")
        return folder
    try:
        return Path(lookup.find("suites", text))
    except LookupFailed as error:
        if (Path(text) / "suite.yaml").is_file():
            raise UsageError(f"{error} (for the folder {text} write ./{text})") from None
        raise


def load_suite(name_or_path: str | Path, samples: int | None = None, seed: int = 0) -> Suite:
    """The suite with `samples` samples (its own default where None), roles drawn.

    Loading a suite whose `suite.yaml` names a generator runs that file. The same folder, size and seed
    always give the same suite. Raises LookupFailed, SuiteError, DataError, UsageError.
    """
    folder = find_folder(name_or_path)
    form = read_suite_form(folder / "suite.yaml")
    _names_resolve(form, folder)
    if form.generator is not None:
        return _generated(form, folder, form.samples if samples is None else samples, seed)
    if samples is not None:
        raise UsageError(f"suite {form.name} is a file: its size is fixed; --limit takes a part of it")
    return _from_file(form, folder / DATA)


def generator_of(name_or_path: str | Path) -> Generator:
    """The generator of a suite, for its siblings. Raises SuiteError where the suite is a plain file."""
    folder = find_folder(name_or_path)
    form = read_suite_form(folder / "suite.yaml")
    if form.generator is None:
        raise SuiteError(f"suite {form.name} has no generator: nothing can draw siblings of its samples")
    return load_generator(folder / form.generator)


def _names_resolve(form: SuiteForm, folder: Path) -> None:
    """Scorer, sandbox and agent are known by name, before anything is generated or run."""
    where = str(folder / "suite.yaml")
    factory = lookup.find("scorers", form.scorer.name, where)
    try:
        factory(**form.scorer.options)
    except (TypeError, ValueError) as error:
        raise SuiteError(f"{where}: scorer {form.scorer.name}: options do not fit: {error}") from None
    lookup.find("agents", form.agent, where)
    if form.sandbox is not None:
        lookup.find("sandboxes", form.sandbox, where)


def _placed(form: SuiteForm, samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """The samples with roles drawn by the suite's shares and salt."""
    try:
        return with_roles(samples, form.roles, form.salt)
    except SuiteError as error:
        raise SuiteError(f"suite {form.name}: {error}") from None


def _suite(form: SuiteForm, samples: Sequence[Sample], card: dict[str, object]) -> Suite:
    return Suite(
        name=form.name,
        version=form.version,
        samples=tuple(samples),
        scorer=ScorerSpec(form.scorer.name, form.scorer.options),
        capability=tuple(form.capability),
        sandbox=form.sandbox,
        limits=form.limits.limits(),
        agent=form.agent,
        max_turns=form.max_turns,
        epochs=form.epochs,
        max_tokens=form.max_tokens,
        prefix=form.prompt.prefix(),
        advisory=form.advisory,
        salt=form.salt,
        card=form.card.model_dump() | card,
    )


def _generated(form: SuiteForm, folder: Path, size: int | None, seed: int) -> Suite:
    assert form.generator is not None
    if size is None or size < 1:
        raise UsageError(f"suite {form.name}: {size} samples: a suite has at least one")
    file = folder / form.generator
    generator = load_generator(file)
    try:
        made = [_checked(sample) for sample in itertools.islice(generator.generate(seed, size), size)]
    except Exception as error:
        raise SuiteError(f"{file}: generate({seed}, {size}): {type(error).__name__}: {error}") from error
    if len(made) < size:
        raise SuiteError(f"{file}: generate({seed}, {size}) gave only {len(made)} samples")
    _unique_ids(made, str(file))
    return replace(_suite(form, _placed(form, made), {}), reference=generator.reference, wrong=generator.wrong)


def _from_file(form: SuiteForm, file: Path) -> Suite:
    if not file.is_file():
        raise SuiteError(f"{file}: no such file, and suite.yaml names no generator")
    drawn = any(form.roles.get(role) for role in DRAWN)
    rows = list(read_rows(file))
    if not rows:
        raise SuiteError(f"{file}: holds no sample")
    # A role that stands in the file is the author's; only clusters of rows without one are drawn.
    undecided = _placed(form, [row.sample(form.name, drawn) for _, row in rows if row.role is None])
    decided = {sample.id: sample for sample in undecided}
    samples = tuple(decided.get(row.id) or row.sample(form.name, drawn) for _, row in rows)
    undeclared = sum(row.cluster is None for _, row in rows)
    card: dict[str, object] = {"undeclared_clusters": undeclared} if undeclared else {}
    oracle = FileOracle(samples)
    return replace(_suite(form, samples, card), reference=oracle.reference, wrong=oracle.wrong)


def _checked(sample: Sample) -> Sample:
    """A generator's sample, when it is one."""
    if not isinstance(sample, Sample) or not isinstance(sample.role, Role):
        raise TypeError(f"{sample!r:.80} is not a Sample with a Role")
    return sample if sample.pair_id else replace(sample, pair_id=sample.id)


def _unique_ids(samples: Sequence[Sample], where: str) -> None:
    twice = [name for name, count in Counter(sample.id for sample in samples).items() if count > 1]
    if twice:
        raise SuiteError(f"{where}: {len(twice)} id(s) given twice, first {twice[0]!r}; ids must be unique")


@dataclass(frozen=True)
class FileOracle:
    """Known-good and known-bad answers of a suite without a generator.

    Metadata `reference` (text) and `wrong` (list of texts) where a sample has them; else the target's own
    text, and three targets of other samples.
    """

    samples: tuple[Sample, ...]

    def reference(self, sample: Sample) -> str:
        """The sample's `reference`, or its target as text."""
        return str(sample.metadata.get("reference", _as_text(sample.target)))

    def wrong(self, sample: Sample) -> Sequence[str]:
        """The sample's `wrong`, or up to three other targets."""
        given = sample.metadata.get("wrong")
        if given is not None:
            return [str(text) for text in given]
        return [text for text in self._targets if text != _as_text(sample.target)][:3]

    @functools.cached_property
    def _targets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_as_text(s.target) for s in self.samples))


def _as_text(target: Json) -> str:
    """A target as a model would write it: text as it is, anything else as JSON."""
    return target if isinstance(target, str) else json.dumps(target)
