"""List answers: F1 over items, each aliased, in any order unless the order is what was asked."""

from dataclasses import dataclass

from evalctl.errors import VerifierError
from evalctl.parse.lists import item_text, read_list
from evalctl.parse.numbers import Number, read_numbers
from evalctl.parse.text import fold
from evalctl.types import Completion, Json, Metric, Sample, Score

from .matching import largest
from .options import flag, shown, wrong


@dataclass(frozen=True)
class ListF1:
    """F1 between the items of the answer and of the target; an item that is a list names aliases of one item.

    Two items are the same when their text is the same after normalisation, or when both are one and the same
    number. `ordered: true` counts the longest common subsequence instead of every shared item. Metrics `precision`
    and `recall`.

    >>> ListF1()(Sample("a", "", ["x", "y", "z"]), Completion("z, x")).value
    0.8
    """

    ordered: bool = False

    def __call__(self, sample: Sample, completion: Completion) -> Score:
        """Judge the list in the answer; the value is the F1."""
        target = [_keys(item) for item in _target(sample)]
        if not completion.text.strip():
            return wrong("empty", "the answer is empty", "")
        items = read_list(completion.text)
        keys = [_key(item) for item in items]
        # No more items of the answer can match than the target has: the rest only count against it.
        looked = keys[: 20 * len(target) + 100]
        if flag(sample, "ordered", self.ordered):
            shared = _common(target, looked)
        else:
            shared = largest(len(target), len(looked), lambda i, j: looked[j] in target[i])
        precision, recall = (shared / len(keys) if keys else 0.0), shared / len(target)
        value = 2 * shared / (len(keys) + len(target))
        metrics = {"precision": Metric(precision), "recall": Metric(recall)}
        said = f"{shared} of {len(target)} items, {len(keys) - shared} extra"
        failure = None if value == 1 else ("incomplete" if shared == len(keys) else "value")
        return Score(value, shown("; ".join(items)), said, {"failure": failure}, metrics)


def _target(sample: Sample) -> list[Json]:
    """The target's items; a target that is text is read like an answer."""
    target = sample.target
    items = read_list(target) if isinstance(target, str) else target
    if not isinstance(items, list | tuple) or not items:
        raise VerifierError(f"{sample.id}: the target must be a list with at least one item")
    return list(items)


def _keys(item: Json) -> frozenset[object]:
    return frozenset(_key(item_text(name)) for name in (item if isinstance(item, list | tuple) else [item]))


def _key(item: str) -> object:
    """What two equal items share: the number that the whole item is, or its folded text."""
    if any(char.isdigit() for char in item):
        found = read_numbers(item)
        if len(found) == 1 and isinstance(found[0], Number) and found[0].text.strip() == item.strip():
            return found[0].meaning
    return fold(item)


def _common(target: list[frozenset[object]], keys: list[object]) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(keys) + 1)
    for names in target:
        before = row
        row = [0]
        for at, key in enumerate(keys):
            row.append(before[at] + 1 if key in names else max(row[at], before[at + 1]))
    return row[-1]
