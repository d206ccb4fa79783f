"""What training raises on purpose, under the tree of `evalctl.errors`.

EvalctlError
├── StageError             exit 4   a stage did not do what it must: nothing trained, rows lost, weights unchanged
│   ├── NothingToLearn     exit 4   no group of answers has variance: a finding that the campaign records
│   └── MergeError         exit 4   the merged weights are not base and adapter together
└── PromotionRefused       exit 1   a condition did not hold, so there is nothing to promote
"""

from evalctl.errors import EvalctlError


class StageError(EvalctlError):
    """A training stage did not do what it must."""

    exit_status = 4


class NothingToLearn(StageError):
    """No group of answers has variance: the pool is too hard, or too easy."""


class MergeError(StageError):
    """The merged weights are not those of base and adapter together."""


class PromotionRefused(EvalctlError):
    """A condition did not hold, so there is nothing to promote."""

    exit_status = 1
