"""The words between the scheduler and whoever executes it (Ray, simulator, emulator).

The scheduler holds ids and scalar rewards only. `Scheduler.apply(event)` takes what happened, `next_actions()` returns
what to start now; each action is answered, sooner or later, by the event named in its docstring.
"""

from dataclasses import dataclass
from enum import StrEnum

from worker.contracts.names import LaneRole


class Purpose(StrEnum):
    TRAIN = "train"
    EVALUATE = "evaluate"
    REQUEST = "request"


@dataclass(frozen=True, slots=True, order=True)
class FragmentKey:
    """`batch` counts from 0, and so do `group`, mini-batch and epoch; `index` is the place within the group."""

    purpose: Purpose
    batch: int
    group: int
    index: int


@dataclass(frozen=True, slots=True)
class Fragment:
    """Some of one group's trajectories, generated at once by one lane under one policy version.

    For `EVALUATE` and `REQUEST`, `batch` is the number of complete batches and `group` an index into that set.
    """

    key: FragmentKey
    members: tuple[int, ...]
    policy_version: int


# --- events: what happened ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LaneJoined:
    lane: str
    role: LaneRole
    policy_version: int | None
    """The version a rollout lane holds; `None` where it must pull first."""


@dataclass(frozen=True, slots=True)
class LaneLost:
    """Its unfinished fragments are generated (or scored) again elsewhere, from the same seeds."""

    lane: str


@dataclass(frozen=True, slots=True)
class Pulled:
    lane: str
    policy_version: int


@dataclass(frozen=True, slots=True)
class Switched:
    lane: str
    to: LaneRole


@dataclass(frozen=True, slots=True)
class Generated:
    lane: str
    key: FragmentKey


@dataclass(frozen=True, slots=True)
class Scored:
    lane: str
    key: FragmentKey
    rewards: tuple[float, ...]
    """The weighted reward of each member, finite."""


@dataclass(frozen=True, slots=True)
class Accumulated:
    batch: int
    minibatch: int
    epoch: int
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Committed:
    batch: int
    minibatch: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Snapshotted:
    policy_version: int


@dataclass(frozen=True, slots=True)
class Published:
    policy_version: int


@dataclass(frozen=True, slots=True)
class EvaluationRequested:
    """Generate and score `num_groups` groups of `group_size` on `policy_version`, ahead of training fragments."""

    purpose: Purpose
    batch: int
    num_groups: int
    group_size: int
    policy_version: int


@dataclass(frozen=True, slots=True)
class AdmissionClosed:
    """Pause, or stop after what is under way: no new batch begins until `AdmissionOpened`."""


@dataclass(frozen=True, slots=True)
class AdmissionOpened:
    pass


@dataclass(frozen=True, slots=True)
class TrainerReserved:
    """The controller takes the free trainer gang, for a checkpoint say: no training action until it is released."""


@dataclass(frozen=True, slots=True)
class TrainerReleased:
    pass


Event = (
    LaneJoined
    | LaneLost
    | Pulled
    | Switched
    | Generated
    | Scored
    | Accumulated
    | Committed
    | Snapshotted
    | Published
    | EvaluationRequested
    | AdmissionClosed
    | AdmissionOpened
    | TrainerReserved
    | TrainerReleased
)


# --- actions: what to start now -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pull:
    """Answered by `Pulled`."""

    lane: str
    policy_version: int


@dataclass(frozen=True, slots=True)
class Switch:
    """A trainer lane turns to generation (`to` is rollout) or back to training. Open gradients stay as they are.

    Answered by `Switched`.
    """

    lane: str
    to: LaneRole


@dataclass(frozen=True, slots=True)
class Generate:
    """Answered by `Generated`."""

    lane: str
    fragment: Fragment


@dataclass(frozen=True, slots=True)
class Score:
    """Answered by `Scored`."""

    lane: str
    fragment: Fragment


@dataclass(frozen=True, slots=True)
class Accumulate:
    """All trainer lanes together: forward and backward over these complete groups, in the order given.

    Which groups arrive bundled depends on timing, so packing must not: no micro-batch spans a bundle's groups.
    Answered by `Accumulated`.
    """

    batch: int
    minibatch: int
    epoch: int
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """All trainer lanes: the optimizer step that closes a mini-batch. Answered by `Committed`."""

    batch: int
    minibatch: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All trainer lanes: the batch is trained; copy what came of it, so that the gang is free to go on.

    Answered by `Snapshotted`.
    """

    batch: int
    policy_version: int


@dataclass(frozen=True, slots=True)
class Publish:
    """Offer the version copied last; holds up no lane. Answered by `Published`, and with it the batch is complete."""

    batch: int
    policy_version: int


@dataclass(frozen=True, slots=True)
class EvaluationComplete:
    """All fragments of an `EvaluationRequested` are scored; for the controller, needs no answer."""

    purpose: Purpose
    batch: int
    rewards: tuple[tuple[float, ...], ...]
    """Of each group in order, one for each member."""


@dataclass(frozen=True, slots=True)
class Lend:
    """A decision to lend these idle trainer lanes; their `Switch` actions stand beside it. For the record, needs no
    answer.
    """

    decision: int
    batch: int
    """The batch being trained."""
    lanes: tuple[str, ...]
    num_fragments: int
    """Fragments that each lane may generate before it is asked again."""
    predicted_gain_seconds: float | None
    """`None` where nothing was predicted."""


@dataclass(frozen=True, slots=True)
class LendSettled:
    """What a predicted `Lend` brought: the batches that it was to end sooner are complete. Needs no answer."""

    decision: int
    realised_gain_seconds: float


Action = (
    Pull
    | Switch
    | Generate
    | Score
    | Accumulate
    | Commit
    | Snapshot
    | Publish
    | EvaluationComplete
    | Lend
    | LendSettled
)
