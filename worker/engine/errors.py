"""What can go wrong inside a run, by name. Each error ends the run (or is retried by whoever says so) with its reason.

Unknown exceptions are not wrapped: they propagate as they are.
"""

from collections.abc import Iterable


class EngineError(Exception):
    """Base of the errors below: a sentence a user can act on."""


class ModelLoadError(EngineError):
    """The base model cannot be used: unsafe weights, or a module that the spec names and the model lacks."""


class NonFiniteError(EngineError):
    """NaN or infinity in a reward, a loss or a gradient: the run has failed, it does not go on silently.

    Attributes:
        what: the quantity, e.g. `loss`.
        where: group, member and denoising step, or the parameter's name.
    """

    def __init__(self, what: str, where: str, value: float) -> None:
        self.what, self.where, self.value = what, where, value
        super().__init__(
            f"`{what}` must be finite, got {value} at {where}: "
            "lower `optimizer.learning_rate` or look at the reward of that prompt"
        )

    def __reduce__(self) -> tuple[type["NonFiniteError"], tuple[str, str, float]]:
        """Ray carries errors between processes by pickle, which would call `__init__` with the message alone."""
        return NonFiniteError, (self.what, self.where, self.value)


class SyncError(EngineError):
    """A published adapter did not arrive as it was sent: nothing bound, other names, or another checksum."""


class ReplayGateError(EngineError):
    """Sampling and replay disagree about the policy, so the ratio, and with it the gradient, means nothing."""


class MinibatchError(EngineError):
    """The trainer was asked for an optimizer step over other pairs than the mini-batch holds."""


class LendingError(EngineError):
    """A trainer lane was told to generate where it cannot, or to train while it is lent."""


class CheckpointError(EngineError):
    """A checkpoint is missing, incomplete or of another world size."""


def listing(names: Iterable[str], limit: int = 40) -> str:
    """Names for an error message, cut short with the number left out."""
    ordered = sorted(names)
    shown = ", ".join(ordered[:limit])
    return shown if len(ordered) <= limit else f"{shown} and {len(ordered) - limit} more"
