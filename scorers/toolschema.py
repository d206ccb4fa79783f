"""What a tool's parameters schema says of arguments: a small, quick part of JSON Schema, and BFCL's own type names."""

import unicodedata
from collections.abc import Callable, Mapping
from typing import TypeAlias

from evalctl.types import Json

Schema: TypeAlias = Mapping[str, Json]


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: dict[str, Callable[[Json], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list | tuple),
    "object": lambda value: isinstance(value, Mapping),
    "null": lambda value: value is None,
}
_TYPES |= {"float": _TYPES["number"], "double": _TYPES["number"], "dict": _TYPES["object"], "tuple": _TYPES["array"]}


def same_argument(want: Json, got: Json, schema: Schema) -> bool:
    """Whether an argument is the one wanted: numbers by value, text by its characters, objects with their defaults.

    Inside an object, a property that has its schema's default may be left out or given.
    """
    if isinstance(want, bool) or isinstance(got, bool):
        return want is got
    if _is_number(want) and _is_number(got):
        return bool(want == got)
    if isinstance(want, str) and isinstance(got, str):
        return want == got or unicodedata.normalize("NFC", want) == unicodedata.normalize("NFC", got)
    if isinstance(want, list | tuple) and isinstance(got, list | tuple):
        items = schema.get("items")
        inner = items if isinstance(items, Mapping) else {}
        return len(want) == len(got) and all(same_argument(a, b, inner) for a, b in zip(want, got, strict=True))
    if isinstance(want, Mapping) and isinstance(got, Mapping):
        return all(_same_property(name, want, got, schema) for name in {*want, *got})
    return want is None and got is None


def _same_property(name: str, want: Mapping[str, Json], got: Mapping[str, Json], schema: Schema) -> bool:
    properties = schema.get("properties")
    part = properties.get(name) if isinstance(properties, Mapping) else None
    inner: Schema = part if isinstance(part, Mapping) else {}
    if name in want and name in got:
        return same_argument(want[name], got[name], inner)
    present = want[name] if name in want else got[name]
    return "default" in inner and same_argument(inner["default"], present, inner)


def fits(value: Json, schema: Schema) -> bool:
    """Whether a value has the schema's type, one of its `enum`, its `required` and no undeclared properties."""
    kinds = schema.get("type")
    names = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    checks = [_TYPES[name] for name in names if name in _TYPES]
    if checks and len(checks) == len(names) and not any(_safely(check, value) for check in checks):
        return False
    choices = schema.get("enum")
    if isinstance(choices, list) and not any(same_argument(choice, value, {}) for choice in choices):
        return False
    if isinstance(value, Mapping):
        return _fits_object(value, schema)
    items = schema.get("items")
    if isinstance(value, list | tuple) and isinstance(items, Mapping):
        return all(fits(item, items) for item in value)
    return True


def _safely(check: Callable[[Json], bool], value: Json) -> bool:
    try:
        return check(value)
    except OverflowError:  # an integer too large for a float is an integer all the same
        return True


def _fits_object(value: Mapping[str, Json], schema: Schema) -> bool:
    required, properties = schema.get("required"), schema.get("properties")
    if isinstance(required, list) and any(name not in value for name in required):
        return False
    if not isinstance(properties, Mapping):
        return True
    for name, inner in value.items():
        part = properties.get(name)
        if part is None and properties and not schema.get("additionalProperties"):
            return False
        if isinstance(part, Mapping) and not fits(inner, part):
            return False
    return True
