"""The errors that rollout, training and publishing raise. Unless its caller says that it retries, an error ends the run
and its message is the reason that the user reads.

Exceptions of libraries are not wrapped: they propagate as they are.
"""

from collections.abc import Iterable


class EngineError(Exception):
    """The base of the errors below, whose messages are sentences that a user can act on."""


class ModelLoadError(EngineError):
    """The base model cannot be used: pickled or missing weights, or a module that the spec names and it lacks."""


class NonFiniteError(EngineError):
    """A reward, latent, loss, gradient or weight is NaN or infinite, and nothing computed from it would mean anything.

    Attributes:
        what: the quantity, e.g. `loss`.
        where: group, member and denoising step of the quantity, or the parameter's name.
    """

    def __init__(self, what: str, where: str, value: float) -> None:
        self.what, self.where, self.value = what, where, value
        super().__init__(
            f"`{what}` must be finite, got {value} at {where}: "
            "lower `optimizer.learning_rate` or look at the reward of that prompt"
        )

    def __reduce__(self) -> tuple[type["NonFiniteError"], tuple[str, str, float]]:
        """How to pickle the error: Ray sends errors between processes, and the default calls `__init__` with the
        message alone."""
        return NonFiniteError, (self.what, self.where, self.value)


class SyncError(EngineError):
    """A policy version was not bound as it was published: no tensor, other names or shapes, or another checksum."""


class BroadcastError(EngineError):
    """A version could not be broadcast, or not be received: lanes fetch it from the object store, and the run goes on.

    Attributes:
        lanes: the lanes that kept it from being, where it is known: they were not there, or had no memory for it.
    """

    def __init__(self, message: str, lanes: tuple[str, ...] = ()) -> None:
        self.lanes = lanes
        super().__init__(message)


class ReplayGateError(EngineError):
    """Replay does not reproduce what sampling stored, so the importance ratio and the gradient mean nothing."""


class MinibatchError(EngineError):
    """The groups given to a trainer rank are not its mini-batch: too many, too few, one twice, or one of another
    size."""


class LendingError(EngineError):
    """A trainer lane was asked to generate in a run that does not lend, or to train while it is lent."""


class DeviceMemoryError(EngineError):
    """A device has not enough memory for a call that cannot be made smaller."""


class LaneSpreadError(EngineError):
    """A lane of several GPUs cannot spread a prediction over them, or one of them but the first has failed."""


class FollowerLostError(LaneSpreadError):
    """The process of one GPU of a lane, not the first, has ended. The run has not failed: the lane starts again."""


class OpenGradientsLostError(EngineError):
    """A backward pass ran out of memory over gradients that are open: what it has added to them is not known, so the
    run must go back to its last checkpoint."""


class CheckpointError(EngineError):
    """A checkpoint cannot be written, or was written for other parameters or in another format."""


class CheckpointDamagedError(CheckpointError):
    """A checkpoint is missing, incomplete or changed, so that an earlier one has to serve."""


class CheckpointUnwrittenError(CheckpointError):
    """A checkpoint could not be written, as on a full disk: what was there before stays, and the run can go on."""


def listing(names: Iterable[str], limit: int = 40) -> str:
    """The first `limit` of `names` in order, for an error message, and how many more there are."""
    ordered = sorted(names)
    shown = ", ".join(ordered[:limit])
    return shown if len(ordered) <= limit else f"{shown} and {len(ordered) - limit} more"
