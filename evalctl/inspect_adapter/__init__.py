"""The only place that imports Inspect: suites become its tasks, and its samples become our Trials.

Inspect loads this module through its own entry point, and finds our sandboxes as `evalctl/NAME`.
"""

from .sandbox import BwrapSandboxEnvironment

__all__ = ["BwrapSandboxEnvironment"]
