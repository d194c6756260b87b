"""The frames that the websockets send, distinguished by `kind`."""

from typing import Annotated, Any, Literal

from pydantic import Field, with_config
from typing_extensions import TypedDict

from runs.run_body import RunBody, RunRow
from telemetry.stream_items import Item, StreamItem
from worker.contracts.base import JsonOf
from worker.contracts.lanes import LaneInfo


@with_config(use_attribute_docstrings=True)
class HelloFrame(TypedDict):
    """The first frame of a run's socket."""

    kind: Literal["hello"]
    stream_seq: int
    """Number of the run's newest item."""
    now: float
    """The server's clock, in Unix seconds."""


@with_config(use_attribute_docstrings=True)
class HeartbeatFrame(TypedDict):
    """Sent on every socket at a fixed interval, so that a client notices a connection that died without a word."""

    kind: Literal["heartbeat"]
    now: float
    """The server's clock, in Unix seconds."""


@with_config(use_attribute_docstrings=True)
class SnapshotFrame(TypedDict):
    """The first data for a client that gave no number or is too far behind; it must discard what it has."""

    kind: Literal["snapshot"]
    stream_seq: int
    """The snapshot includes everything up to this number; the items that follow are above it."""
    run: RunBody
    lanes: list[Annotated[dict[str, Any], JsonOf(LaneInfo)]]
    """The lanes of the newest `lanes` event."""


class ItemsFrame(TypedDict):
    """New items of a run's stream, each number once and in order."""

    kind: Literal["items"]
    items: list[Annotated[Item, JsonOf(StreamItem)]]


class RunChangedFrame(TypedDict):
    """A run of one of the user's projects changed: its line in the runs list."""

    kind: Literal["run_changed"]
    run: RunRow


@with_config(use_attribute_docstrings=True)
class LiveValues(TypedDict):
    """The newest live values of some nodes or GPUs."""

    ids: list[int]
    values: dict[str, list[float | None]]
    """By name, such as `utilisation`: the values of all `ids`, in their order."""


@with_config(use_attribute_docstrings=True)
class PoolChangedFrame(TypedDict):
    """What has changed in the pool. It names no run: nodes are read over REST, which knows what the user may see."""

    kind: Literal["pool"]
    now: float
    """The server's clock, in Unix seconds."""
    reported_at: float | None
    """When the node agent last reported; null if it never has, and in a frame that says nothing about it."""
    changed: list[int] | None
    """Ids of nodes that are to be read again; null where all of them are, as in the first frame."""
    alive: list[int]
    """Ids of nodes that Ray counted as alive at `reported_at`."""
    nodes: LiveValues
    """`load` and `memory_used_bytes` at `reported_at`."""
    gpus: LiveValues
    """The fields of `GpuLive` at `reported_at`."""
    queue: bool
    """Whether the queue is to be read again: who waits, in which order, or what projects may have."""


RunFrame = Annotated[HelloFrame | SnapshotFrame | ItemsFrame | HeartbeatFrame, Field(discriminator="kind")]
"""What `/ws/v1/runs/{id}` sends."""
ProjectsFrame = Annotated[RunChangedFrame | HeartbeatFrame, Field(discriminator="kind")]
"""What `/ws/v1/projects` sends."""
PoolFrame = Annotated[PoolChangedFrame | HeartbeatFrame, Field(discriminator="kind")]
"""What `/ws/v1/pool` sends."""
