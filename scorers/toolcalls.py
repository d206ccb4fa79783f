"""Tool calls: right only if every call is exactly right, with names, arguments and format told apart.

The target is a list of calls; `[]` means that no tool should be called (and something must be said instead):

    target = [{"name": "get_weather", "arguments": {"city": "Berlin", "days": 3}}]

Two further keys of a target call, for arguments with several right values and arguments that may be left out
although the tool's schema gives no default for them:

    {"name": "get_weather", "arguments": {"city": "Berlin", "days": 3},
     "accept": {"city": ["Berlin, DE"]},      # also right for `city`
     "optional": ["days"]}                    # right when absent, too

Tools come from `sample.tools`, or from metadata `tools` in the same form:
`{"name", "description", "parameters": {"type": "object", "properties": {…}, "required": […]}}`
(also wrapped as `{"type": "function", "function": {…}}`). An argument that the target does not name is right only
if it carries the schema's `default`; one that the target names with its default may be left out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalctl.digests import canonical
from evalctl.errors import VerifierError
from evalctl.parse.calls import CallsRead, Dialect, read_calls, tool_schemas
from evalctl.parse.scanner import Fault
from evalctl.types import Completion, Json, Metric, Sample, Score, ToolCall

from .matching import heaviest, perfect
from .options import flag, setting, shown
from .toolschema import Schema, fits, same_argument

MAX_CALLS = 64
"""Who makes more calls than this is wrong already, and matching them is not cheap."""


@dataclass(frozen=True)
class Wanted:
    """One call of the target."""

    name: str
    arguments: Mapping[str, Json]
    accept: Mapping[str, Sequence[Json]]
    optional: frozenset[str]


@dataclass(frozen=True)
class ToolCalls:
    """Value 1 only if the calls made are exactly the target's, in any order unless `ordered: true`.

    Numbers are compared as numbers, everything else by type and value: `"1.5"` is neither `1.5` nor `"15"`.
    Calls that the model made natively are taken; else they are read from the text, in any dialect.

    Metrics, none hides another: `format` (1 where the calls could be read and nothing had to be forgiven), `tool`
    (share of right tool names), `arguments` (share of right arguments, under the best assignment of calls), `schema`
    (share of calls with a known name and arguments that fit its schema). Metadata: `failure` (None, or `format`,
    `empty`, `no_call`, `unexpected_call`, `unknown_tool`, `wrong_tool`, `missing_call`, `extra_call`,
    `wrong_order`, `wrong_arguments`), `dialect`, `format_faults`.

    >>> sample = Sample("a", "", [{"name": "f", "arguments": {"x": 1}}])
    >>> ToolCalls()(sample, Completion('{"name": "f", "arguments": {"x": 1.0}}')).value
    1.0
    >>> ToolCalls()(sample, Completion('{"name": "f", "arguments": {"x": "1"}}')).metadata["failure"]
    'wrong_arguments'
    """

    ordered: bool = False
    tools: Sequence[Mapping[str, Json]] = ()
    """Tools of every sample that brings none of its own."""

    def __call__(self, sample: Sample, completion: Completion) -> Score:
        """Judge the calls of a completion. VerifierError for a target or tools that are not of the form above."""
        tools = _tools(sample, setting(sample, "tools", self.tools))
        schemas = tool_schemas(tools)
        wanted = _wanted(sample)
        if completion.tool_calls:
            read = CallsRead(completion.tool_calls, Dialect.NATIVE)
        else:
            read = read_calls(completion.text, tools)
            if Fault.UNCLOSED in read.faults and completion.stop_reason == "length":
                # Closing the brackets of an answer that was cut would guess that nothing was to follow.
                read = CallsRead(
                    (), read.dialect, frozenset({Fault.UNREADABLE}), "the answer was cut off inside a call"
                )
        failure, why = _failure(wanted, read, schemas, flag(sample, "ordered", self.ordered), completion)
        return Score(
            0.0 if failure else 1.0,
            _said(read, completion),
            why,
            {
                "failure": failure,
                "dialect": read.dialect.value if read.dialect else None,
                "format_faults": sorted(fault.value for fault in read.faults),
            },
            _metrics(wanted, read, schemas, completion),
        )


def _tools(sample: Sample, given: Json) -> Sequence[Mapping[str, Json]]:
    tools = sample.tools or given
    if not isinstance(tools, list | tuple) or not all(isinstance(tool, Mapping) for tool in tools):
        raise VerifierError(f"{sample.id}: metadata `tools` must be a list of tool schemas")
    return tools


def _wanted(sample: Sample) -> list[Wanted]:
    """The target's calls, checked."""
    if not isinstance(sample.target, list | tuple):
        raise VerifierError(f'{sample.id}: the target must be a list of {{"name", "arguments"}}; [] for no call')
    found = []
    for call in sample.target:
        unknown = set(call) - {"name", "arguments", "accept", "optional"} if isinstance(call, Mapping) else {"?"}
        if unknown or not isinstance(call.get("name"), str) or not isinstance(call.get("arguments", {}), Mapping):
            raise VerifierError(f'{sample.id}: a target call must be {{"name", "arguments"}}, not {str(call)[:80]}')
        accept, optional = call.get("accept", {}), call.get("optional", ())
        found.append(Wanted(call["name"], call.get("arguments", {}), accept, frozenset(optional)))
    return found


def _right(wanted: Wanted, given: ToolCall, schema: Schema) -> tuple[int, int]:
    """How many arguments are right, of how many that the target or the call names."""
    properties = schema.get("properties")
    known: Mapping[str, Json] = properties if isinstance(properties, Mapping) else {}
    names = list(dict.fromkeys([*wanted.arguments, *given.arguments]))
    good = 0
    for name in names:
        part = known.get(name)
        inner: Schema = part if isinstance(part, Mapping) else {}
        has_default = "default" in inner
        if name not in wanted.arguments:
            good += has_default and same_argument(inner["default"], given.arguments[name], inner)
        elif name not in given.arguments:
            want = wanted.arguments[name]
            good += name in wanted.optional or (has_default and same_argument(want, inner["default"], inner))
        else:
            right = [wanted.arguments[name], *wanted.accept.get(name, ())]
            good += any(same_argument(value, given.arguments[name], inner) for value in right)
    return good, len(names)


def _exact(wanted: Wanted, given: ToolCall, schemas: Mapping[str, Schema]) -> bool:
    if wanted.name != given.name:
        return False
    good, total = _right(wanted, given, schemas.get(given.name, {}))
    return good == total


def _failure(
    wanted: Sequence[Wanted],
    read: CallsRead,
    schemas: Mapping[str, Schema],
    ordered: bool,
    completion: Completion,
) -> tuple[str | None, str]:
    """The kind of failure and its words; None where every call is right."""
    names, given = Counter(w.name for w in wanted), Counter(c.name for c in read.calls)
    if not read.calls:
        if read.faults:
            return "format", read.reason
        if not completion.text.strip():
            return "empty", "the answer is empty"
        return ("no_call", f"no call; wanted {', '.join(names)}") if wanted else (None, "")
    if not wanted:
        return "unexpected_call", f"no tool fits, and {', '.join(given)} was called"
    unknown = [name for name in given if schemas and name not in schemas]
    if unknown:
        return "unknown_tool", f"there is no tool {', '.join(unknown)[:200]}"
    if names != given:
        if not (names - given) or len(read.calls) > len(wanted):
            return "extra_call", f"{len(read.calls)} calls, wanted {len(wanted)}"
        if not (given - names):
            return "missing_call", f"{len(read.calls)} calls, wanted {len(wanted)}"
        return "wrong_tool", f"called {', '.join(given)}, wanted {', '.join(names)}"[:300]
    if len(read.calls) <= MAX_CALLS:
        table = [[_exact(want, call, schemas) for call in read.calls] for want in wanted]
        in_order = all(row[at] for at, row in enumerate(table))
        if in_order or (not ordered and perfect(table)):
            return None, ""
        if ordered and perfect(table):
            return "wrong_order", "the right calls in another order"
    return "wrong_arguments", "arguments differ from the target's"


def _metrics(
    wanted: Sequence[Wanted], read: CallsRead, schemas: Mapping[str, Schema], completion: Completion
) -> dict[str, Metric]:
    """Format, tool, arguments and schema, each in [0, 1]."""
    calls = read.calls[:MAX_CALLS]
    spoke = bool(read.calls) or (not wanted and bool(completion.text.strip()))
    names, given = Counter(w.name for w in wanted), Counter(c.name for c in read.calls)
    most = max(sum(names.values()), sum(given.values()))
    tool = sum((names & given).values()) / most if most else float(spoke and read.clean)
    fitting = sum((not schemas or c.name in schemas) and fits(c.arguments, schemas.get(c.name, {})) for c in calls)
    return {
        "format": Metric(float(read.clean and spoke)),
        "tool": Metric(tool),
        "arguments": Metric(
            _arguments(wanted, calls, schemas) if wanted else float(spoke and not read.calls and read.clean)
        ),
        "schema": Metric(fitting / len(calls) if calls else float(spoke and read.clean)),
    }


def _arguments(wanted: Sequence[Wanted], calls: Sequence[ToolCall], schemas: Mapping[str, Schema]) -> float:
    """Right arguments over all that target and calls name, under the assignment that makes the most right.

    A call without any argument counts as one, right when its name is.
    """
    counts = [[(_right(w, c, schemas.get(c.name, {})) if w.name == c.name else (-1, 0)) for c in calls] for w in wanted]
    pairs = [(w, c) for w, c in heaviest([[good + 1.0 for good, _ in row] for row in counts]) if counts[w][c][0] >= 0]
    good = sum(counts[w][c][0] if counts[w][c][1] else 1 for w, c in pairs)
    total = sum(max(1, counts[w][c][1]) for w, c in pairs)
    total += sum(max(1, len(wanted[w].arguments)) for w in set(range(len(wanted))) - {w for w, _ in pairs})
    total += sum(max(1, len(calls[c].arguments)) for c in set(range(len(calls))) - {c for _, c in pairs})
    return good / total


def _said(read: CallsRead, completion: Completion) -> str:
    """The calls as canonical JSON, or the text where there are none."""
    if not read.calls:
        return shown(completion.text)
    try:
        return shown(canonical([{"name": c.name, "arguments": dict(c.arguments)} for c in read.calls]))
    except ValueError:
        return shown(completion.text)  # NaN in an argument
