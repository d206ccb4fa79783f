"""YAML as a person means it: a key stands once, and whatever cannot be read is one kind of fault."""

import re
from typing import Any

import yaml

YAML_ERRORS = (yaml.YAMLError, RecursionError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What PyYAML raises: its own for the form, Python's for a scalar that is none (a 99th month, 5,000 digits)."""
EXPONENT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+")
"""1e-2, which YAML 1.1 reads as text because it has no point."""


def figure(value: Any) -> Any:
    """A number that YAML left as text; anything else as it is."""
    return float(value) if isinstance(value, str) and EXPONENT.fullmatch(value) else value


def whole(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    """An integer that a double could hold and a message can print; ConstructorError for a larger one."""
    value = int(loader.construct_yaml_int(node))
    if value.bit_length() > 1000:
        raise yaml.constructor.ConstructorError(None, None, "an integer of more than 300 digits", node.start_mark)
    return value


CONSTRUCTORS = {**yaml.SafeLoader.yaml_constructors, "tag:yaml.org,2002:int": whole}


class UniqueKeys(yaml.SafeLoader):
    """A key given twice would otherwise lose the first one's demands without a word."""

    yaml_constructors = CONSTRUCTORS

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """As SafeLoader's; raises ConstructorError for a key given twice."""
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"key {key.value!r} twice", key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)
