"""Lanes: the `lanes` and `elastic` sections of a `RunSpec`, which say how many a run asks for and how far that may
change, `LaneGrant`, one lane that it was given, `LaneInfo`, where it runs, `StartStep`, how far its process is, and
`LaneWork`, what it does."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import Field

from worker.contracts.base import Contract, Index, LaneId, ShortText
from worker.contracts.names import LaneRole, RewardDevice

DEFAULT_POOL = "default"
"""The pool that always exists."""
POOL_NAME_PATTERN = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
MAX_POOL_NAME_CHARS = 63
"""As Kubernetes has for names of one part."""


class LaneSpec(Contract):
    """Lanes that the run asks the pool for, by role. A lane is one GPU, or several of a node where a pool admin has set
    so, over which rollout lanes spread each prediction (`performance.context_parallel`) and which trainer lanes refuse;
    on a machine without GPUs it is one CPU slot. For colocated and auto placement, rollout and trainer lanes are added
    up: every colocated lane does both, and the planner makes a split of its own."""

    num_rollout: Annotated[int, Field(ge=0, le=4096)] = 1
    """Lanes that generate. How many balance the trainer lanes depends on model, steps and algorithm: the plan shows the
    predicted bubbles, and `placement: auto` finds the split itself. 0 is possible with colocated placement only."""
    num_trainer: Annotated[int, Field(ge=1, le=4096)] = 1
    """Lanes that train, together as one gang (a torch.distributed group under DeepSpeed). Generation costs about a
    third as much as training for each denoising step, so trainer lanes are often the majority. More of them also leave
    less memory to each under ZeRO."""
    num_reward: Annotated[int, Field(ge=1, le=4096)] = 1
    """Lanes that score. 1 is enough for rewards without networks; raise it when rollout or trainer lanes wait for
    rewards."""
    pool: Annotated[str, Field(pattern=POOL_NAME_PATTERN, max_length=MAX_POOL_NAME_CHARS)] = DEFAULT_POOL
    """Pool that all of the lanes come from. Each has a queue and shares of its own. Nodes and GPUs are in a pool by
    their labels; `default` has the others."""
    rewards_on: RewardDevice = RewardDevice.AUTO
    """What reward lanes compute scorers' networks (CLIP, BLIP) on. `auto` is usual: the planner compares CPU slots with
    the GPUs of lanes that generate, and the plan says what it chose and why. `own_gpu` suits many GPUs, of which one in
    eight may score; rewards computed from pixels, and remote scorers, have no network and use CPU slots either way."""


def sharing_problems(lanes: LaneSpec, elastic: "ElasticSpec", num_cards: int) -> Iterator[str]:
    """More reward lanes than cards that they could share, each as a sentence for the user.

    Args:
        num_cards: the lanes of the run that generate, of which each takes one reward lane's networks on its card.
    """
    if lanes.rewards_on is not RewardDevice.SHARED_GPU:
        return
    high = elastic.bounds(LaneRole.REWARD, lanes.num_reward).max
    for field, number in (("lanes.num_reward", lanes.num_reward), ("elastic.max_reward", high)):
        if number > num_cards:
            yield (
                f"`{field}` must be ≤ {num_cards} (the lanes that generate) where `lanes.rewards_on` is shared_gpu, "
                f"got {number}: two reward lanes on one card would wait for each other; ask for {num_cards}, or set "
                f"`lanes.rewards_on` to {RewardDevice.OWN_GPU} or {RewardDevice.CPU}"
            )
            return


NODE_ID_LABEL = "ray.io/node-id"
"""The label by which Ray names every node."""


class LaneBounds(NamedTuple):
    """The fewest and the most lanes of a role that a run may have."""

    min: int
    max: int


class ElasticSpec(Contract):
    """How far the pool may shrink and grow the run while it works, in lanes of each role.

    All empty: the run keeps the lanes that it began with. For colocated and auto placement the bounds of rollout and
    trainer lanes are added up, as the lanes are.
    """

    min_rollout: Annotated[int, Field(ge=0, le=4096)] | None = None
    """Fewest lanes that generate: the pool may take the others for runs that are entitled to them. Empty:
    `lanes.num_rollout`, so none is taken. Lanes join and leave between fragments, which costs seconds."""
    max_rollout: Annotated[int, Field(ge=0, le=4096)] | None = None
    """Most lanes that generate: the run may borrow idle lanes of the pool up to this number. Empty:
    `lanes.num_rollout`, so none is borrowed. Worth raising where trainer lanes wait for fragments."""
    min_trainer: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Fewest lanes that train. Empty: `lanes.num_trainer`. Each change goes through a checkpoint and new processes,
    which costs minutes with large models, so leave it empty unless lanes are scarce."""
    max_trainer: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Most lanes that train. Empty: `lanes.num_trainer`. Each change goes through a checkpoint and new processes, so
    allow it for long runs with much training only."""
    min_reward: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Fewest lanes that score. Empty: `lanes.num_reward`. Reward lanes join and leave between fragments."""
    max_reward: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Most lanes that score. Empty: `lanes.num_reward`. Worth raising where other lanes wait for rewards."""

    def bounds(self, role: LaneRole, num_lanes: int) -> LaneBounds:
        """The bounds of a role of which `lanes` asks for `num_lanes`."""
        low: int | None = getattr(self, f"min_{role}")
        high: int | None = getattr(self, f"max_{role}")
        return LaneBounds(num_lanes if low is None else low, num_lanes if high is None else high)

    def problems(self, lanes: LaneSpec) -> Iterator[str]:
        """Bounds that exclude the lanes asked for, each as a sentence for the user."""
        for role in LaneRole:
            wanted: int = getattr(lanes, f"num_{role}")
            low, high = self.bounds(role, wanted)
            if low > wanted:
                yield (
                    f"`elastic.min_{role}` must be ≤ `lanes.num_{role}` ({wanted}), got {low}: "
                    "a run begins with the lanes that it asks for"
                )
            if high < wanted:
                yield (
                    f"`elastic.max_{role}` must be ≥ `lanes.num_{role}` ({wanted}), got {high}: "
                    "a run begins with the lanes that it asks for"
                )


CPU_DEVICE = "cpu"
"""The device of a lane without GPUs."""


class LaneGrant(Contract):
    """One lane that the pool allocated to this run: its role, its node, and its GPUs."""

    lane: str
    """The lane's id within the run: `<role>-<index>`, of the role that it was granted for. It stays when the role
    changes, and is not given to another lane of the attempt."""
    role: LaneRole
    """What the lane does."""
    node: str
    """The name of its node."""
    ray_node_id: str = ""
    """Ray's id of its node, on which its process must run; empty where `resources` name the node."""
    gpus: tuple[Index, ...] = ()
    """Indices of its GPUs on their node, in the order of their PCI addresses; empty for a CPU slot."""
    uuids: tuple[str, ...] = ()
    """UUIDs of the same GPUs; empty as long as their driver was not asked, and for devices whose libraries take indices
    only."""
    resources: tuple[str, ...] = ()
    """Custom Ray resources that its process occupies, one of each; each stands for one GPU or slot of a node."""
    num_cpus: float = 0.5
    """CPUs that Ray reserves for its process."""
    is_borrowed: bool = False
    """Whether the pool may ask for it back at any time: it generates or scores, and no plan counts on it."""
    profile: ShortText = ""
    """The name of the planner's profile of its device, of a lane that joins a run at work; empty where it has none."""

    @property
    def device(self) -> str:
        """The devices that its process may see: `cpu`, or the UUIDs of its GPUs joined by commas, or their indices."""
        return ",".join(self.uuids or map(str, self.gpus)) or CPU_DEVICE


def gpu_resource(node: str, index: int) -> str:
    """The custom Ray resource for one GPU of a node that Tandem starts."""
    return f"tandem-{node}-gpu-{index}"


MAX_DEVICE_CHARS = 4000
"""Of the devices of a lane: UUIDs of 40 characters of every GPU of the largest node."""


class LaneInfo(Contract):
    """Where a lane was placed."""

    lane: LaneId
    role: LaneRole
    node: ShortText
    device: Annotated[str, Field(max_length=MAX_DEVICE_CHARS)]
    pid: Index
    uuids: tuple[ShortText, ...] = ()
    """UUIDs of the accelerators that its process sees, by the process itself; empty before it has loaded, and where the
    vendor's library tells none."""
    shares: LaneId | None = None
    """The lane whose accelerator it computes on, beside that lane's own work."""


class StartStep(StrEnum):
    """How far a lane's process is on its way to work."""

    REQUESTED = "requested"
    """The cluster was asked for it."""
    PLACED = "placed"
    """It is up."""
    LOADING = "loading"
    """It imports its libraries and loads the model, or the rewards' networks."""
    READY = "ready"
    """It can work."""


MAX_UNATTENDED_SECONDS = 60.0
"""How long a lane lives on without its driver. A silent driver is noticed after 15 s, and the next one is there 5 to 25
s later on a busy machine."""


class LaneWork(StrEnum):
    """What a driver has called on a lane."""

    START = "start"
    """The start of its process."""
    LOAD = "load"
    IDENTIFY = "identify"
    """Telling which accelerators it sees."""
    SWITCH = "switch"
    """A trainer lane's change to generation, or back."""
    PULL = "pull"
    GENERATE = "generate"
    SCORE = "score"
    ACCUMULATE = "accumulate"
    COMMIT = "commit"
    SNAPSHOT = "snapshot"
    BROADCAST = "broadcast"
    """Sending a version to the rollout lanes."""
    PUBLISH = "publish"
    """Making a version's copy in the object store."""
    CHECKPOINT = "checkpoint"
    RESTORE = "restore"
    EXPORT = "export"


class StallState(StrEnum):
    """How a lane that makes no progress is seen."""

    SLOW = "slow"
    """Its process answers, and its work does not go on."""
    SILENT = "silent"
    """Its process does not answer either."""
    HUNG = "hung"
    """It was waited for long enough: its process is ended."""
    WORKING = "working"
    """It goes on after all."""
