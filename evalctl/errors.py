"""The exception tree, named by the boundary that was crossed.

    EvalctlError            exit 2   base; its text is one line: what, where, the mend
    ├── UsageError          exit 2   a name, option or argument that means nothing
    │   └── LookupFailed    exit 2   a name that no table holds; carries a did-you-mean
    ├── PolicyError         exit 2   a policy file that does not say what it must
    ├── SuiteError          exit 2   a suite folder that does not load
    ├── CheckpointError     exit 2   a model reference that does not resolve, or a folder that is no model
    ├── DataError           exit 2   a file from outside that cannot be read: file and line
    ├── EvidenceError       exit 4   the evidence is missing or invalid
    │   └── StoreError      exit 4   a record of ours that is not what was written
    ├── ResourceError       exit 5   the machine: no disk, no memory, no process
    ├── SandboxError        infra    the sandbox failed, not the command in it (status `infra_error`)
    │   └── SandboxUnavailable       there is no such sandbox on this machine
    ├── ServiceError        infra    a served model or API failed (status `infra_error`)
    └── VerifierError       verifier the judge could not judge (status `verifier_error`)

A failed trial is data, not an exception: only what stops the whole command is raised to the shell.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class EvalctlError(Exception):
    """Base of everything evalctl raises on purpose. `exit_status` is what the shell sees."""

    exit_status = 2


class UsageError(EvalctlError):
    """A name, option or argument that means nothing here."""


class LookupFailed(UsageError):
    """A name that no table holds.

    >>> str(LookupFailed("scorer", "numerik", ["exact", "numeric"]))
    "unknown scorer 'numerik'; did you mean 'numeric'? Known: exact, numeric"
    """

    def __init__(self, kind: str, given: str, known: Iterable[str], where: str = "") -> None:
        names = sorted(known)
        near = get_close_matches(given, names, n=1)
        guess = f"; did you mean {near[0]!r}?" if near else "."
        place = f"{where}: " if where else ""
        super().__init__(f"{place}unknown {kind} {given!r}{guess} Known: {', '.join(names) or '(none)'}")


class PolicyError(EvalctlError):
    """A policy file that does not say what it must."""


class SuiteError(EvalctlError):
    """A suite folder that does not load."""


class CheckpointError(EvalctlError):
    """A model reference that does not resolve, or a folder that is no model."""


class DataError(EvalctlError):
    """A file from outside that cannot be read; the text names file and line."""


class EvidenceError(EvalctlError):
    """The evidence is missing or invalid."""

    exit_status = 4


class StoreError(EvidenceError):
    """A record of ours that is not what was written."""


class ResourceError(EvalctlError):
    """The machine ran out of something: disk, memory, processes."""

    exit_status = 5


class SandboxError(EvalctlError):
    """The sandbox failed, not the command in it: a trial's status becomes `infra_error`."""

    exit_status = 4


class SandboxUnavailable(SandboxError):
    """There is no such sandbox on this machine, and nothing runs unprotected instead."""


class ServiceError(EvalctlError):
    """A served model or API failed: a trial's status becomes `infra_error`."""

    exit_status = 4


class VerifierError(EvalctlError):
    """The judge could not judge: a trial's status becomes `verifier_error`, never a 0."""

    exit_status = 4
