"""The state that a forecast starts from: lanes, open batches and costs as numbers, in seconds from now.

    scheduler's state ──► `state_reader` ──► InitialState (frozen) ──► `forecast` ──► `search`

Invariant: it holds everything that decides when the open batches end, as far as it is known.
"""

from dataclasses import dataclass
from functools import cached_property

from worker.scheduling.core.rank_shares import end_of_units
from worker.scheduling.forecast.queueing import GeneratingLanes, Indices, ScoringLanes, Seconds

NO_VERSION = -1
"""Stands for the version of a lane that has not pulled any; real versions are not negative."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LendableLane:
    """A trainer lane, as one that may generate. Times are in seconds from now."""

    name: str
    is_lent: bool
    """The lane serves as a rollout lane, or is switching to or from generation."""
    is_returning: bool
    """The lane is switching back to training."""
    earliest_return: float
    """When the lane can start its switch back at the earliest; for a returning lane, when that switch ends."""
    earliest_start: float
    """When the lane can begin a fragment, if it stays lent or is lent now."""
    busy_since: float
    """When the action that occupies the lane until `earliest_return` began; ≤ 0."""
    fragment_seconds: float
    """Seconds in which the lane generates a fragment."""
    lend_seconds: float
    """Seconds of the switch to generation."""
    reclaim_seconds: float
    """Seconds of the switch back to training."""
    pull_seconds: float
    """Seconds in which the lane pulls the version that fragments are generated under; 0 if it holds that version."""
    fragments_left: int
    """The number of fragments that the lane may still begin under its present allowance."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BatchState:
    """A batch that is open, or that will follow within the horizon. Times are in seconds from now."""

    policy_version: int | None
    """The version of its fragments; `None` for a batch that has not begun."""
    waiting_groups: Indices
    """The group of each fragment that no lane has begun, in the order in which lanes take them. Fragments of further
    draws are included, as many as are expected."""
    unscored: tuple[Indices, Seconds]
    """The group of each fragment that is begun and not being scored yet, and when it is generated."""
    in_scoring: tuple[Indices, Seconds]
    """The group of each fragment that is being scored, and when it is scored."""
    epoch: int = 0
    minibatch: int = 0
    taken: frozenset[int] = frozenset()
    """The groups of the open mini-batch whose gradients are accumulated."""
    skipped: frozenset[int] = frozenset()
    """The groups that are known not to be trained on."""
    trained_share: float = 1.0
    """The share of the other groups that is expected to be trained on; it scales the seconds of accumulating them."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RankSpeeds:
    """How fast each trainer rank trains by itself; [rank] in the order of `InitialState.lendable_lanes`, in seconds."""

    unit: Seconds
    """Seconds of one more unit of work."""
    call: Seconds
    """Seconds of each call, whatever its size."""
    num_units_per_group: int

    def end_of_groups(self, free_at: Seconds, num_groups: int, *, is_first: bool) -> float:
        """When groups that are ready are accumulated by ranks that are free at these times.

        `is_first`: they are the first of their mini-batch.
        """
        return end_of_units(free_at, self.unit, self.call, num_groups * self.num_units_per_group, is_first=is_first)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSchedule:
    """How the trainer gang trains a batch: the seconds of each action, and which groups it takes together."""

    bundle_seconds: tuple[float, ...]
    """[number of groups]: seconds to accumulate a bundle of that many groups, in step or on a single rank."""
    bundle_sizes: tuple[int, ...]
    """[number of ready groups]: how many of them are accumulated together while others are still to come."""
    speeds: RankSpeeds | None
    """Of ranks that share the work by speed; `None` where they are in step, or only one."""
    commit_seconds: float
    snapshot_seconds: float
    publish_seconds: float
    """Seconds from the snapshot until the version can be pulled."""
    num_groups: int
    num_minibatches: int
    num_epochs: int
    waits_for_whole_batch: bool
    """No group is trained before every group of the batch is scored."""
    in_order: bool
    """Groups are accumulated in index order."""


@dataclass(frozen=True, eq=False, kw_only=True)
class InitialState:
    """Everything that a forecast needs to know of the scheduler's state."""

    rollout_lanes: GeneratingLanes
    rollout_versions: Indices
    """[rollout lane]: the version that the lane holds, or `NO_VERSION`."""
    rollout_pull_seconds: Seconds
    """[rollout lane]: seconds in which the lane pulls another version."""
    lendable_lanes: tuple[LendableLane, ...]
    """All trainer lanes."""
    reward_lanes: ScoringLanes
    ranks_free_at: Seconds
    """[trainer lane]: when the micro-batches that the lane accumulates now are done; 0 where it accumulates none."""
    training: TrainingSchedule
    batches: tuple[BatchState, ...]
    """The open batches in order, then those that will follow within the horizon."""
    first_batch: int
    """The number of the first of `batches`."""
    num_open: int
    """How many of `batches` are open."""
    num_evaluation_fragments: int
    """Fragments of evaluations that no lane has begun; they are generated before those of batches."""
    max_staleness: int
    policy_version: int
    """The version published last."""
    publish_ends_in: float | None
    """Seconds until the publish under way ends; `None` where there is none."""
    lends_together: bool
    """Trainer lanes are lent all together or not at all."""

    @cached_property
    def rank_of(self) -> dict[str, int]:
        """By trainer lane: its index among `lendable_lanes`."""
        return {lane.name: rank for rank, lane in enumerate(self.lendable_lanes)}
