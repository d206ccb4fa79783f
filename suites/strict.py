"""What both forms of outside data share: strict types, and errors as one line with a did-you-mean."""

import json
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from evalctl.types import Json, Role

LFS = "version https://git-lfs"
"""How a Git LFS pointer begins, where the file itself should stand."""


def _inside(name: str) -> str:
    """A relative path that stays in its folder."""
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\0" in name:
        raise ValueError(f"{name!r} is not a relative path inside the folder")
    return name


def _finite(value: Json) -> Json:
    """The value, when JSON can say it and UTF-8 can write it."""
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return value


Inside = Annotated[str, AfterValidator(_inside)]
Text = Annotated[str, AfterValidator(_finite)]
Value = Annotated[Any, AfterValidator(_finite)]
Named = Annotated[str, Field(min_length=1), AfterValidator(_finite)]


class Strict(BaseModel):
    """Unknown keys are refused and nothing is coerced: `1` is no text and `"1"` no number."""

    model_config = ConfigDict(extra="forbid", strict=True)


def _as_role(name: object) -> object:
    return Role(name) if isinstance(name, str) and name in set(Role) else name


RoleName = Annotated[Role, BeforeValidator(_as_role)]


def tell(error: ValidationError, form: type[BaseModel]) -> str:
    """Pydantic's findings as one line, with a did-you-mean for an unknown key."""
    parts = []
    for found in error.errors(include_url=False):
        place = ".".join(str(step) for step in found["loc"])
        text = found["msg"].removeprefix("Value error, ")
        if found["type"] == "extra_forbidden":
            known = sorted(_fields(form, found["loc"][:-1]))
            near = get_close_matches(str(found["loc"][-1]), known, n=1)
            text = "unknown key" + (f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}")
        elif found["type"] != "missing" and found["type"] != "value_error":
            text += f" (given: {type(found['input']).__name__})"
        parts.append(f"{place}: {text}" if place else text)
    return "; ".join(parts)


def _fields(form: type[BaseModel], place: tuple[int | str, ...]) -> set[str]:
    """The keys known at `place` in a form."""
    for step in place:
        inner = form.model_fields[step].annotation if step in form.model_fields else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return set()
        form = inner
    return set(form.model_fields)
