"""Samples as rows of `samples.jsonl`, as `load_suite` reads them back."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from evalctl.types import Json, Message, Sample


def row_of(sample: Sample) -> dict[str, Json]:
    """The sample as one JSON object; fields at their default are left out, but for what places it.

    >>> row_of(Sample("a", "1+1=", "2", cluster="a"))
    {'id': 'a', 'input': '1+1=', 'target': '2', 'family': '', 'cluster': 'a', 'role': 'bench'}
    """
    row: dict[str, Json] = {
        "id": sample.id,
        "input": sample.input if isinstance(sample.input, str) else [message_row(m) for m in sample.input],
        "target": sample.target,
        "family": sample.family,
        "cluster": sample.cluster,
        "role": str(sample.role),
    }
    more: dict[str, Json] = {
        "band": sample.band,
        "shard": sample.shard,
        "tools": [dict(tool) for tool in sample.tools],
        "files": dict(sample.files),
        "pair_id": "" if sample.pair_id == sample.id else sample.pair_id,
        "variant": {key: value for key, value in asdict(sample.variant).items() if value is not None},
        "metadata": dict(sample.metadata),
    }
    return row | {key: value for key, value in more.items() if value not in (None, "", [], {})}


def message_row(message: Message) -> dict[str, Json]:
    """The message as a JSON object."""
    calls = [{"name": call.name, "arguments": dict(call.arguments)} for call in message.tool_calls]
    return {"role": message.role, "content": message.content} | ({"tool_calls": calls} if calls else {})


def export_lines(samples: Iterable[Sample]) -> Iterator[str]:
    """One JSON line a sample, without its newline."""
    for sample in samples:
        yield json.dumps(row_of(sample), ensure_ascii=False, allow_nan=False)
