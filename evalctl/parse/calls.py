"""Tool calls as models write them, in every common dialect; what was not clean is named apart from what was called.

    native          the server's own field, already apart from the text
    hermes          <tool_call>{"name": "f", "arguments": {…}}</tool_call>
    mistral         [TOOL_CALLS][{"name": "f", "arguments": {…}}]   or   [TOOL_CALLS]f[ARGS]{…}
    llama           <|python_tag|>{"name": "f", "parameters": {…}}, or the bare object
    json            {"name": "f", "arguments": {…}} or a list of them, bare or in a code fence
    python          [f(a=1, b="x"), g()]

Prose around a fence or a tag is how such models talk, and clean; around a bare call it is a fault.

>>> read = read_calls('<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>')
>>> read.calls, read.dialect.value, sorted(read.faults)
((ToolCall(name='f', arguments={'a': 1}),), 'hermes', [])
>>> [fault.value for fault in read_calls('{"name": "f", "arguments": {"a": ').faults]
['unreadable']
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..types import Json, ToolCall
from .lenient_json import fences, values_in, whole
from .python_calls import read_python
from .scanner import Fault, Scanner, Unreadable
from .text import MAX_CHARS

Tools = Sequence[Mapping[str, Json]]


class Dialect(StrEnum):
    """In which form calls were written."""

    NATIVE = "native"
    HERMES = "hermes"
    MISTRAL = "mistral"
    LLAMA = "llama"
    JSON = "json"
    PYTHON = "python"


@dataclass(frozen=True)
class CallsRead:
    """The calls of a completion. No calls and no faults: the model did not try to call."""

    calls: tuple[ToolCall, ...] = ()
    dialect: Dialect | None = None
    faults: frozenset[Fault] = frozenset()
    reason: str = ""
    """Why a call could not be read, where one could not."""

    @property
    def clean(self) -> bool:
        """Whether nothing had to be forgiven."""
        return not self.faults


_ARGUMENTS = ("arguments", "parameters", "args", "params", "input", "kwargs")
_NAMES = ("name", "function", "tool", "tool_name", "function_name")
_CLEAN_FENCES = frozenset(("", "json", "python", "py", "tool_call", "tool_code", "tool_calls"))
_ATTEMPT = re.compile(r"[{\[]\s*[\"'](?:name|function|tool|tool_name|tool_calls)[\"']\s*:")


def tool_schemas(tools: Tools) -> dict[str, Mapping[str, Json]]:
    """Tool name to its parameters schema; `{"type": "function", "function": {…}}` is unwrapped."""
    found = {}
    for tool in tools:
        inner = tool.get("function", tool)
        if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            parameters = inner.get("parameters") or {}
            found[inner["name"]] = parameters if isinstance(parameters, Mapping) else {}
    return found


def arguments_of(value: Json, faults: set[Fault]) -> Mapping[str, Json] | None:
    """Arguments given as an object, as its JSON text, or as nothing (`""`, null); None for anything else."""
    if value is None or value == "":
        return {}
    if isinstance(value, str):
        read = whole(value)
        if read is None:
            return None
        faults |= read.faults
        value = {} if read.value is None else read.value
    return value if isinstance(value, Mapping) else None


def call_of(value: Json, names: frozenset[str], faults: set[Fault]) -> ToolCall | None:
    """The call that a JSON object is, or None. OpenAI's `{"type": "function", "function": {…}}` is unwrapped."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("function")
    if isinstance(inner, Mapping):
        return call_of(inner, names, faults)
    name_key = next((key for key in _NAMES if isinstance(value.get(key), str)), None)
    if name_key is None:
        return _keyed(value, names, faults)
    name = value[name_key]
    key = next((key for key in _ARGUMENTS if key in value), None)
    if key is None:
        # `{"name": "Bob", "age": 5}` is data; a known tool without arguments is a call that lacks its form.
        if name not in names or len(value) > 1 or Fault.UNCLOSED in faults:
            return None
        faults.add(Fault.WRAPPER)
        return ToolCall(name, {})
    arguments = arguments_of(value[key], faults)
    if arguments is None:
        return None
    if name_key != "name" or key not in ("arguments", "parameters"):
        faults.add(Fault.WRAPPER)
    return ToolCall(name, dict(arguments))


def _keyed(value: Mapping[str, Json], names: frozenset[str], faults: set[Fault]) -> ToolCall | None:
    """The call written as `{"f": {"a": 1}}`, for a known tool only."""
    if len(value) != 1:
        return None
    name, arguments = next(iter(value.items()))
    if name not in names or not isinstance(arguments, Mapping):
        return None
    faults.add(Fault.WRAPPER)
    return ToolCall(name, dict(arguments))


def calls_of(value: Json, names: frozenset[str], faults: set[Fault]) -> list[ToolCall] | None:
    """The calls of a JSON value: one object, a list of them, or `{"tool_calls": [...]}`; None where it is none."""
    if isinstance(value, Mapping) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    if not isinstance(value, list):
        call = call_of(value, names, faults)
        return None if call is None else [call]
    calls = [call_of(item, names, faults) for item in value]
    return None if not calls or None in calls else [call for call in calls if call is not None]


def read_calls(text: str, tools: Tools = ()) -> CallsRead:
    """The calls a text makes, in order. `tools` tells positional arguments and bare names apart from prose."""
    if len(text) > MAX_CHARS:
        return _unreadable(f"longer than {MAX_CHARS} characters")
    schemas = tool_schemas(tools)
    names = frozenset(schemas)
    if "<tool_call>" in text:
        return _tagged(text, Dialect.HERMES, _between(text, "<tool_call>", "</tool_call>"), schemas)
    if "[TOOL_CALLS]" in text:
        return _mistral(text.partition("[TOOL_CALLS]")[2], schemas)
    if "<|python_tag|>" in text:
        body = text.partition("<|python_tag|>")[2].removesuffix("<|eom_id|>").removesuffix("<|eot_id|>")
        return _tagged(text, Dialect.LLAMA, [(body, True)], schemas)
    fenced = [body for language, body in fences(text)[:20] if language in _CLEAN_FENCES]
    found = [read for body in fenced if (read := _body(body, schemas)) is not None]
    if found:
        calls = tuple(call for read in found for call in read.calls)
        return CallsRead(calls, found[0].dialect, frozenset().union(*(read.faults for read in found)))
    plain = _body(text, schemas)
    if plain is not None:
        return plain
    return _in_prose(text, names, schemas)


def _between(text: str, opening: str, closing: str) -> list[tuple[str, bool]]:
    """What stands between tags, in order, and whether its closing tag was there."""
    found = []
    for part in text.split(opening)[1:200]:
        body, close, _ = part.partition(closing)
        found.append((body, bool(close)))
    return found


def _body(text: str, schemas: Mapping[str, Mapping[str, Json]]) -> CallsRead | None:
    """The calls that a whole text is, as JSON or Python; None where it is neither."""
    text = text.strip()
    read = whole(text) if text[:1] in ("{", "[") else None
    if read is not None:
        faults = set(read.faults)
        calls = calls_of(read.value, frozenset(schemas), faults)
        if calls is not None:
            dialect = Dialect.LLAMA if _is_llama(read.value) else Dialect.JSON
            return CallsRead(tuple(calls), dialect, frozenset(faults))
    several = _several(text, schemas) if text[:1] == "{" else None
    if several is not None:
        return several
    python = read_python(text, schemas)
    if python is None:
        return None
    return CallsRead(python.calls, Dialect.PYTHON, python.faults)


def _several(text: str, schemas: Mapping[str, Mapping[str, Json]]) -> CallsRead | None:
    """Calls one after another, with nothing but space, `;` or `,` between them."""
    scanner = Scanner(text)
    calls: list[ToolCall] = []
    try:
        while scanner.space() == "{" and len(calls) < 100:
            call = call_of(scanner.value(), frozenset(schemas), scanner.faults)
            if call is None:
                return None
            calls.append(call)
            if scanner.space() in (";", ","):
                scanner.at += 1
        if scanner.space():
            return None
    except Unreadable:
        return None
    return CallsRead(tuple(calls), Dialect.JSON, frozenset(scanner.faults)) if len(calls) > 1 else None


def _is_llama(value: Json) -> bool:
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, Mapping) and "parameters" in first


def _tagged(
    text: str, dialect: Dialect, bodies: Sequence[tuple[str, bool]], schemas: Mapping[str, Mapping[str, Json]]
) -> CallsRead:
    """The calls inside tags. One body that cannot be read makes the whole unreadable: what it asked is unknown."""
    calls: list[ToolCall] = []
    faults: set[Fault] = set()
    for body, closed in bodies:
        read = _body(body, schemas)
        if read is None:
            return _unreadable(f"no call inside the tag: {body.strip()[:80]}", dialect)
        calls += read.calls
        faults |= read.faults
        if not closed:
            faults.add(Fault.UNCLOSED)
    return CallsRead(tuple(calls), dialect, frozenset(faults))


def _mistral(body: str, schemas: Mapping[str, Mapping[str, Json]]) -> CallsRead:
    """After `[TOOL_CALLS]`: a JSON list, or `name[ARGS]{…}`, once more for each further call."""
    calls: list[ToolCall] = []
    faults: set[Fault] = set()
    for part in body.replace("</s>", "").split("[TOOL_CALLS]")[:200]:
        name, mark, rest = part.partition("[ARGS]")
        if not mark:
            named = re.match(r"\s*([\w.-]{1,100})\s*(?=\{)", part)
            name, rest, mark = (named[1], part[named.end() :], "{") if named else ("", part, "")
        if mark:
            read = whole(rest)
            arguments = arguments_of(read.value, faults) if read else None
            if read is None or arguments is None:
                return _unreadable(f"no arguments after {name.strip()[:40]!r}", Dialect.MISTRAL)
            faults |= read.faults
            calls.append(ToolCall(name.strip(), dict(arguments)))
            continue
        inner = _body(rest, schemas)
        if inner is None:
            return _unreadable(f"no call after [TOOL_CALLS]: {rest.strip()[:80]}", Dialect.MISTRAL)
        calls += inner.calls
        faults |= inner.faults
    return CallsRead(tuple(calls), Dialect.MISTRAL, frozenset(faults))


def _in_prose(text: str, names: frozenset[str], schemas: Mapping[str, Mapping[str, Json]]) -> CallsRead:
    """Calls that stand bare among other words; unreadable where something only begins as one."""
    calls: list[ToolCall] = []
    faults: set[Fault] = {Fault.PROSE}
    llama = False
    end = 0
    for read in values_in(text):
        own = set(read.faults)
        found = calls_of(read.value, names, own)
        if found is not None:
            calls += found
            faults |= own
            llama, end = _is_llama(read.value), read.end
    if calls:
        if _ATTEMPT.search(text, end):
            return _unreadable("a further call breaks off", Dialect.JSON)
        return CallsRead(tuple(calls), Dialect.LLAMA if llama else Dialect.JSON, frozenset(faults))
    for line in text.splitlines()[:500]:
        python = read_python(line.strip().strip("`"), schemas)
        if python is not None and all(call.name in names for call in python.calls):
            calls += python.calls
            faults |= python.faults
    if calls:
        return CallsRead(tuple(calls), Dialect.PYTHON, frozenset(faults))
    if _ATTEMPT.search(text) or any(f"{name}(" in text for name in names):
        return _unreadable(f"what begins as a call cannot be read: {text.strip()[:80]}")
    return CallsRead()


def _unreadable(reason: str, dialect: Dialect | None = None) -> CallsRead:
    return CallsRead((), dialect, frozenset({Fault.UNREADABLE}), reason)
