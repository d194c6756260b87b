"""How operations are named, which answers and audit entries refer to. `operations` reads them."""

from enum import StrEnum


class OperationKind(StrEnum):
    PREVIEW = "preview"
    """Pictures of a user's own prompts, drawn with a version of a run."""
    COMMAND = "command"
    """What a user told a run to do: pause, resume, stop, cancel, sample, save."""
    RESIZE = "resize"
    """Lanes that a user had join or leave a run."""
    SWEEP = "sweep"
    """All runs of a sweep."""
    GPU_TEST = "gpu_test"
    """A test that a GPU must pass before it takes work again."""
    DRAIN = "drain"
    """A node or GPU that takes no new work, until nothing runs on it."""
    RETENTION = "retention"
    """A deletion of what is past its days."""


def operation_id(kind: OperationKind, key: object) -> str:
    """The id of the operation that the row of this key holds."""
    return f"{kind}-{key}"
