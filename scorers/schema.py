"""Structured answers: JSON against a schema and an expected value, format faults apart from value faults."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from evalctl.digests import canonical
from evalctl.errors import VerifierError
from evalctl.parse.dates import read_date
from evalctl.parse.lenient_json import Unread, read_json
from evalctl.parse.numbers import Number
from evalctl.parse.stated import read_number
from evalctl.parse.text import fold
from evalctl.types import Completion, Json, Metric, Sample, Score

from .options import setting, shown, wrong

KINDS = ("exact", "text", "number", "date")


@dataclass(frozen=True)
class JsonSchema:
    """1 when the answer's JSON satisfies `schema` and every field of the target stands there with its value.

    The target is the expected value, or null where the schema alone judges. `fields` says which leaves are compared
    and how: a list of dotted names, or a mapping of name to `exact` (default), `text` (normalised), `number`
    (`"1,200"` is 1200) or `date`; without it every leaf of the target, and no leaf more. The answer is read
    leniently; metric `format` is 1 only where nothing had to be forgiven, `schema` 1 where the schema holds,
    `fields` the F1 over leaves.
    """

    schema: Mapping[str, Json] = field(default_factory=dict)
    fields: tuple[str, ...] | Mapping[str, str] = ()

    def __call__(self, sample: Sample, completion: Completion) -> Score:
        """Judge the JSON in the answer. VerifierError for a schema that is none."""
        schema = setting(sample, "schema", self.schema)
        kinds = _kinds(sample, setting(sample, "fields", self.fields))
        if not schema and sample.target is None:
            raise VerifierError(f"{sample.id}: neither a target nor metadata `schema`: nothing to judge by")
        if not completion.text.strip():
            return _unread("empty", "the answer is empty", "")
        read = read_json(completion.text, "[" if isinstance(sample.target, list) else "{")
        if isinstance(read, Unread):
            return _unread("format", read.reason, shown(completion.text))
        why = _violation(sample, schema, read.value) if schema else ""
        share = 1.0 if sample.target is None else _share(sample.target, read.value, kinds)
        faults = sorted(fault.value for fault in read.faults)
        failure = "schema" if why else "value" if share < 1 else None
        return Score(
            0.0 if failure else 1.0,
            shown(completion.text),
            why or ("" if share == 1 else f"fields: {share:.3f} of 1"),
            {"failure": failure, "format_faults": faults},
            {"format": Metric(0.0 if faults else 1.0), "schema": Metric(0.0 if why else 1.0), "fields": Metric(share)},
        )


def _unread(failure: str, why: str, answer: str) -> Score:
    zero = {name: Metric(0.0) for name in ("format", "schema", "fields")}
    return wrong(failure, why, answer, metadata={"format_faults": ["unreadable"]}, metrics=zero)


def _kinds(sample: Sample, fields: Json) -> dict[str, str]:
    """Dotted name to how it is compared; empty: every leaf, exactly."""
    kinds = dict(fields) if isinstance(fields, Mapping) else dict.fromkeys(fields, "exact")
    for name, kind in kinds.items():
        if kind not in KINDS:
            raise VerifierError(f"{sample.id}: metadata `fields`: {name}: {kind!r} is none of {', '.join(KINDS)}")
    return kinds


@lru_cache(64)
def _validator(schema: str) -> object:
    # A quarter of a second to import, and most scorers never need it.
    from jsonschema import Draft202012Validator
    from referencing import Registry

    parsed = json.loads(schema)
    Draft202012Validator.check_schema(parsed)
    # An empty registry: a `$ref` to somewhere else is an error, never a download.
    return Draft202012Validator(parsed, registry=Registry())


def _violation(sample: Sample, schema: Json, value: Json) -> str:
    """The first way in which the value breaks the schema, or ``."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError, best_match
    from referencing.exceptions import Unresolvable

    try:
        validator = _validator(canonical(schema))
        assert isinstance(validator, Draft202012Validator)
        error = best_match(validator.iter_errors(value))
    except (SchemaError, Unresolvable, ValueError, TypeError) as broken:
        raise VerifierError(f"{sample.id}: metadata `schema` is no JSON Schema: {str(broken)[:200]}") from None
    return "" if error is None else f"{'.'.join(map(str, error.absolute_path)) or 'value'}: {error.message[:200]}"


def _leaves(value: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Dotted path and value of every leaf; an empty object or list is a leaf."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple) and value:
        for at, inner in enumerate(value):
            yield from _leaves(inner, f"{path}.{at}" if path else str(at))
    else:
        yield path, value


def _share(target: Json, value: Json, kinds: Mapping[str, str]) -> float:
    """F1 over leaves: those of the target, and those of the answer that `kinds` (or the target) asks for."""
    want, got = dict(_leaves(target)), dict(_leaves(value))
    if kinds:
        want = {path: leaf for path, leaf in want.items() if _kind(path, kinds)}
        got = {path: leaf for path, leaf in got.items() if _kind(path, kinds)}
    if not want:
        return 0.0
    same = sum(path in got and _equal(leaf, got[path], _kind(path, kinds) or "exact") for path, leaf in want.items())
    return 2 * same / (len(want) + len(got))


def _kind(path: str, kinds: Mapping[str, str]) -> str | None:
    """How a leaf is compared: by its own name, or by the name of what holds it."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        kind = kinds.get(".".join(parts[:end]))
        if kind:
            return kind
    return None


def _equal(want: Json, got: Json, kind: str) -> bool:
    if kind == "text" and isinstance(want, str) and isinstance(got, str):
        return fold(want) == fold(got)
    if kind == "number":
        one, two = read_number(str(want)), read_number(str(got))
        return isinstance(one, Number) and isinstance(two, Number) and one.meaning[:2] == two.meaning[:2]
    if kind == "date" and isinstance(want, str) and isinstance(got, str):
        return read_date(want) == read_date(got)
    return same_json(want, got)


def same_json(want: Json, got: Json) -> bool:
    """Equal as JSON: 5 and 5.0 are one number, true is not 1, "5" is not 5, NaN equals nothing."""
    if isinstance(want, bool) or isinstance(got, bool):
        return want is got
    if isinstance(want, int | float) and isinstance(got, int | float):
        return want == got
    if isinstance(want, Mapping) and isinstance(got, Mapping):
        return want.keys() == got.keys() and all(same_json(inner, got[key]) for key, inner in want.items())
    if isinstance(want, list | tuple) and isinstance(got, list | tuple):
        return len(want) == len(got) and all(same_json(a, b) for a, b in zip(want, got, strict=True))
    return type(want) is type(got) and bool(want == got)
