"""What both template modules share: a tool, its short form in a prompt, and a scene made of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from evalctl.types import Json

Tool = Mapping[str, Json]

WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
"""Number words; the index is the number."""


@dataclass(frozen=True)
class Scene:
    """One request: the tools on offer, the user's words, and the one right call."""

    tools: tuple[Tool, Tool]
    request: str
    name: str
    arguments: Mapping[str, Json]
    band: str
    """`easy` where the value stands in the request as the call needs it, else `hard`."""


def tool(name: str, description: str, **parameters: str) -> Tool:
    """A tool whose parameters are all required; each is written `integer`, `string`, `HH:MM`, `a|b|c` …

    >>> tool("wait", "Wait.", minutes="integer")["parameters"]["properties"]
    {'minutes': {'type': 'integer'}}
    """
    properties = {key: _schema(form) for key, form in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": sorted(parameters)}
    return {"name": name, "description": description, "parameters": schema}


def _schema(form: str) -> dict[str, Json]:
    if "|" in form:
        return {"type": "string", "enum": form.split("|")}
    if form == "HH:MM":
        return {"type": "string", "description": "HH:MM"}
    if form == "list":
        return {"type": "array", "items": {"type": "string"}}
    return {"type": form}


SHORT = {"integer": "int", "boolean": "bool", "array": "list"}


def signature(tool: Tool) -> str:
    """The short form a prompt can afford; a parameter without a type is a string.

    >>> signature(tool("paint", "Paint it.", color="red|blue", coats="integer", owner="string"))
    'paint(color: red|blue, coats: int, owner)'
    """
    parts = []
    for key, schema in tool["parameters"]["properties"].items():
        form = "|".join(schema.get("enum", ())) or schema.get("description") or SHORT.get(schema["type"], "")
        parts.append(f"{key}: {form}" if form else key)
    return f"{tool['name']}({', '.join(parts)})"


def slug(words: str) -> str:
    """Words as a part of a tool's name: `garden shed` is `garden_shed`."""
    return words.replace(" ", "_").replace("-", "_")
