"""How scorers are made by name, and how they read a sample's metadata."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from evalctl.errors import LookupFailed, UsageError, VerifierError
from evalctl.types import Json, Sample, SandboxScorer, Score, Scorer


@dataclass(frozen=True)
class Factory:
    """A scorer by name: called with its options it gives the scorer, a frozen dataclass.

    `reads` are the metadata keys the scorer looks at; every option may also be given there, per sample.
    """

    name: str
    kind: type
    reads: tuple[str, ...] = ()

    def __call__(self, **options: Json) -> Scorer | SandboxScorer:
        """The scorer; LookupFailed for an unknown option, UsageError for a value it cannot take."""
        known = [field.name for field in fields(self.kind)]
        for option in options:
            if option not in known:
                raise LookupFailed("option", option, known, f"scorer {self.name}")
        try:
            made: Scorer | SandboxScorer = self.kind(**options)
        except (TypeError, ValueError) as error:
            raise UsageError(f"scorer {self.name}: {error}") from None
        return made


def setting(sample: Sample, name: str, default: Any) -> Any:
    """What the sample's metadata says of `name`, else the scorer's own option."""
    return sample.metadata.get(name, default)


def flag(sample: Sample, name: str, default: bool) -> bool:
    """A yes-or-no setting; VerifierError for anything else, since "false" is not False."""
    value = setting(sample, name, default)
    if not isinstance(value, bool):
        raise VerifierError(f"{sample.id}: metadata `{name}` must be true or false, not {value!r}")
    return value


def as_text(value: Json) -> str | None:
    """A target that is text, or a number as text; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return str(value)


def references(sample: Sample) -> list[str]:
    """The target and its `aliases`, each as text, none empty. A target that is a list names aliases of one fact.

    Raises VerifierError where there is nothing to compare with.
    """
    targets = list(sample.target) if isinstance(sample.target, list | tuple) else [sample.target]
    aliases = sample.metadata.get("aliases", [])
    targets += list(aliases) if isinstance(aliases, list | tuple) else [aliases]
    texts = [as_text(target) for target in targets]
    found = [text for text in texts if text is not None and text.strip()]
    if not found or len(found) != len(texts):
        raise VerifierError(f"{sample.id}: the target and its aliases must be text, none of it empty")
    return found


def wrong(failure: str, why: str, answer: str | None = None, **more: Any) -> Score:
    """A score of 0 with its kind of failure."""
    return Score(0.0, answer, why, {"failure": failure, **more.pop("metadata", {})}, **more)


def right(answer: str | None, why: str = "", metadata: Mapping[str, Json] | None = None, **more: Any) -> Score:
    """A score of 1."""
    return Score(1.0, answer, why, {"failure": None, **(metadata or {})}, **more)


def shown(text: str, limit: int = 2_000) -> str:
    """An answer as it is kept in a record: its end where it is long, for answers stand there."""
    return text if len(text) <= limit else "… " + text[-limit:]
