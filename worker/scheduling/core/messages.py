"""The events and actions exchanged between the scheduler and its executor (Ray, simulator, emulator).

    executor ── event: what happened ──► Scheduler.apply
    executor ◄── action: what to start ── Scheduler.next_actions

They carry ids and scalar rewards only; tensors stay with the executor. Invariant: each action that occupies a lane, the
trainer gang or the publisher is answered exactly once, sooner or later, by the event named in its docstring.
"""

from dataclasses import dataclass
from enum import StrEnum

from worker.contracts.names import LaneRole
from worker.scheduling.core.costs import CostKind


class Purpose(StrEnum):
    """What a fragment is generated for."""

    TRAIN = "train"
    """A batch to train on."""
    EVALUATE = "evaluate"
    """An evaluation of a policy version, as the run's settings schedule it."""
    REQUEST = "request"
    """Samples of a user's own prompts, asked for while the run goes on."""


@dataclass(frozen=True, slots=True, order=True)
class FragmentKey:
    """Identifies a fragment within a run; of two fragments of one purpose, the one with the smaller key goes first."""

    purpose: Purpose
    batch: int
    """For `TRAIN`, the batch's number, from 0; otherwise the number of batches complete at the request."""
    group: int
    """The group's index, from 0, in its batch or in the set of prompts requested."""
    index: int
    """The fragment's index, from 0, within its group."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """Some of one group's trajectories, generated at once by one lane under one policy version."""

    key: FragmentKey
    members: tuple[int, ...]
    """Indices of the trajectories within their group."""
    policy_version: int
    draw: int = 0
    """How many times the group's trajectories were drawn before; each draw has noise of its own."""


@dataclass(frozen=True, slots=True, order=True)
class MicroBatchKey:
    """Identifies a micro-batch within a batch."""

    group: int
    """The group's index, from 0, in its batch."""
    index: int
    """The micro-batch's index, from 0, in the order in which one rank trains the group (`batching.split_group`)."""


# --- events: what happened ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LaneJoined:
    """A lane has started up and may be given work."""

    lane: str
    role: LaneRole
    policy_version: int | None
    """The version a rollout lane holds; `None` where it must pull first."""


@dataclass(frozen=True, slots=True)
class LaneLost:
    """A lane has failed. Its unfinished fragments are generated (or scored) again elsewhere, from the same seeds."""

    lane: str


@dataclass(frozen=True, slots=True)
class LeaveRequested:
    """A lane is to leave the run: it finishes what it has begun, takes no more, and `Leave` says when it is free.

    A trainer lane can only leave while the gang is reserved, when no gradients are open.
    """

    lane: str


@dataclass(frozen=True, slots=True)
class Pulled:
    """A lane holds the weights of `policy_version` from now on."""

    lane: str
    policy_version: int


@dataclass(frozen=True, slots=True)
class Switched:
    """A trainer lane serves as `to` from now on: rollout while it is lent, trainer once it is returned."""

    lane: str
    to: LaneRole


@dataclass(frozen=True, slots=True)
class Generated:
    """A lane has generated these fragments."""

    lane: str
    keys: tuple[FragmentKey, ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """A reward lane has scored a fragment."""

    lane: str
    key: FragmentKey
    rewards: tuple[float, ...]
    """The weighted reward of each member, finite."""
    has_spread: bool = True
    """Whether what the advantages of the group are made of differs within it; read where the fragment completes its
    group."""


@dataclass(frozen=True, slots=True)
class Accumulated:
    """A trainer lane has added the gradients of these micro-batches to its own sum."""

    lane: str
    batch: int
    minibatch: int
    epoch: int
    micro_batches: tuple[MicroBatchKey, ...]


@dataclass(frozen=True, slots=True)
class Committed:
    """The trainer gang has taken the optimizer step of a mini-batch."""

    batch: int
    minibatch: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Snapshotted:
    """The trainer gang has copied the weights that will be published as `policy_version`."""

    policy_version: int


@dataclass(frozen=True, slots=True)
class Published:
    """Lanes can pull `policy_version` from now on."""

    policy_version: int


@dataclass(frozen=True, slots=True)
class EvaluationRequested:
    """Generate and score `num_groups` groups of `group_size` on `policy_version`, beside the batches."""

    purpose: Purpose
    """`EVALUATE` or `REQUEST`."""
    batch: int
    """The number of batches complete, which identifies the evaluation together with its purpose."""
    num_groups: int
    group_size: int
    policy_version: int


@dataclass(frozen=True, slots=True)
class AdmissionClosed:
    """A pause, or a stop after the open batches: no new batch begins until `AdmissionOpened`."""


@dataclass(frozen=True, slots=True)
class AdmissionOpened:
    """New batches may begin again."""


@dataclass(frozen=True, slots=True)
class TrainerReserved:
    """The controller takes the free trainer gang, for a checkpoint say: no training action until it is released."""


@dataclass(frozen=True, slots=True)
class TrainerReleased:
    """The controller no longer needs the trainer gang."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The controller has measured work that no action stands for: a checkpoint, the start of the gang's processes."""

    lane: str
    """The lane's id, or `GANG`."""
    kind: CostKind
    seconds: float


Event = (
    LaneJoined
    | LaneLost
    | LeaveRequested
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
    | Measured
)


# --- actions: what to start now -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pull:
    """A lane loads the published weights of `policy_version`. Answered by `Pulled`."""

    lane: str
    policy_version: int


@dataclass(frozen=True, slots=True)
class Switch:
    """A trainer lane changes to generation (`to` is rollout) or back to training. Open gradients stay as they are.

    Answered by `Switched`.
    """

    lane: str
    to: LaneRole


@dataclass(frozen=True, slots=True)
class Generate:
    """A lane generates fragments of one purpose, batch and version, which it holds, in one call. How many depends on
    timing; what each holds does not. Answered by `Generated`."""

    lane: str
    fragments: tuple[Fragment, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """A reward lane scores a generated fragment. Answered by `Scored`."""

    lane: str
    fragment: Fragment


@dataclass(frozen=True, slots=True)
class Accumulate:
    """One trainer lane: forward and backward over micro-batches of complete groups, in the order given.

    Which lane takes a micro-batch depends on timing; what it holds does not. Answered by `Accumulated`.
    """

    lane: str
    batch: int
    minibatch: int
    epoch: int
    micro_batches: tuple[MicroBatchKey, ...]
    num_padding: int = 0
    """Passes of weight 0 after the micro-batches, which keep the lane in step with the others. Only where all ranks
    must take equally many (ZeRO 2 and 3): there all lanes begin at once, and the sum of both is the same on each."""


@dataclass(frozen=True, slots=True)
class Commit:
    """All trainer lanes: the optimizer step that closes a mini-batch. A lane without a micro-batch in it gives
    gradients of zero, which takes no pass over data. Answered by `Committed`."""

    batch: int
    minibatch: int
    epoch: int
    num_skipped_groups: int = 0
    """Groups of the mini-batch that were not accumulated, because they have no spread and the run filters those."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All trainer lanes: the batch is trained; copy the weights to be published, so that the gang is free to train on.

    Answered by `Snapshotted`.
    """

    batch: int
    policy_version: int


@dataclass(frozen=True, slots=True)
class Publish:
    """Make the latest snapshot available to all lanes; occupies no lane.

    Answered by `Published`, which also completes the batch.
    """

    batch: int
    policy_version: int


@dataclass(frozen=True, slots=True)
class Leave:
    """A lane that was asked to leave is free, and no longer part of the run. Informs the controller; needs no
    answer."""

    lane: str


@dataclass(frozen=True, slots=True)
class EvaluationComplete:
    """All fragments of an `EvaluationRequested` are scored. Informs the controller; needs no answer."""

    purpose: Purpose
    batch: int
    rewards: tuple[tuple[float, ...], ...]
    """[group, member]: the weighted rewards."""


@dataclass(frozen=True, slots=True)
class Lend:
    """A decision to lend these idle trainer lanes, reported for the record; needs no answer. The `Switch` of each lane
    that is not lent already comes with it."""

    decision: int
    """The decision's number, from 1."""
    batch: int
    """The number of the batch being trained."""
    lanes: tuple[str, ...]
    num_fragments: int
    """Fragments that each lane may generate before the policy is asked again."""
    predicted_gain_seconds: float | None
    """Seconds by which the open batches are predicted to end sooner; `None` from a policy that predicts nothing."""
    least_gain_seconds: float | None = None
    """The policy's threshold: it would not have lent for less. `None` from a policy that predicts nothing."""


@dataclass(frozen=True, slots=True)
class LendSettled:
    """The outcome of a `Lend` with a prediction, once the batches that it was to shorten are complete. Reported for the
    record; needs no answer."""

    decision: int
    realised_gain_seconds: float
    """The predicted end without lending, less the time at which the last of those batches was really complete."""


Action = (
    Pull
    | Switch
    | Generate
    | Score
    | Accumulate
    | Commit
    | Snapshot
    | Publish
    | Leave
    | EvaluationComplete
    | Lend
    | LendSettled
)
