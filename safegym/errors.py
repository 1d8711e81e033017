"""Every error that safegym raises on purpose.

One root, `SafegymError`, so that callers can catch the library's refusals apart from bugs.
A message says what was asked, what was found, and the line that would work.
"""


class SafegymError(Exception):
    """Root of all deliberate refusals."""


class FormulaError(SafegymError, ValueError):
    """A formula, term, window or text is not well formed."""


class UnitError(FormulaError):
    """Two quantities of different dimension meet, or a unit is not known."""


class TraceError(SafegymError, ValueError):
    """A trace, an array or a trace file is malformed, or lacks a signal."""


class ScenarioError(SafegymError, ValueError):
    """A scenario is unknown, misdeclared, or its environment misbehaves."""


class PolicyError(SafegymError, ValueError):
    """A policy does not fit the scenario, or cannot be loaded safely."""


class PolicyUnavailableError(PolicyError):
    """A policy cannot act for a while: its endpoint is lost, or its budget used up.

    It ends a campaign, not an episode: what had begun can go on later under the same number.
    """


class UnsupportedError(SafegymError):
    """A backend was asked for something that its `support` refuses."""


class EvidenceError(SafegymError, ValueError):
    """A statistical statement was asked for that the data cannot carry."""


class GateError(SafegymError):
    """The gate's plan, a checkpoint or the training loop cannot go on."""


class RunFolderError(SafegymError, OSError):
    """A run folder is in use, unwritable, or not a run folder."""


class BlendError(SafegymError, ValueError):
    """Rows of training tasks, or a blend of them, are malformed or do not add up."""


class AuditError(SafegymError):
    """A log or bundle cannot be written, or does not verify.

    `step` names the verification step that failed.
    """

    def __init__(self, message: str, *, step: str = "") -> None:
        super().__init__(message)
        self.step = step
