"""From the scheduler's state to a forecast's initial state: lanes, queues, open batches and costs as numbers.

Invariant: there is no initial state before generation, scoring and training all have a cost. Switches, pulls, commits
and publishes without a cost count as taking no time until one has been observed.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from worker.contracts.names import LaneRole
from worker.scheduling.core.admission import OpenBatch
from worker.scheduling.core.batching import (
    bundle_size,
    num_micro_batches,
    num_micro_batches_per_group,
    num_micro_batches_per_unit,
)
from worker.scheduling.core.costs import GANG, Cost, CostKind
from worker.scheduling.core.expected_ends import expected_seconds, seconds_left
from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.messages import Accumulate, Generate, Pull, Purpose, Score, Switch
from worker.scheduling.core.state import SchedulerState
from worker.scheduling.forecast.initial_state import (
    NO_VERSION,
    BatchState,
    InitialState,
    LendableLane,
    RankSpeeds,
    TrainingSchedule,
)
from worker.scheduling.forecast.queueing import SAME_MOMENT, GeneratingLanes, Indices, ScoringLanes, Seconds
from worker.scheduling.forecast.unknown_groups import UnknownGroups

_HORIZON_BY_STALENESS = {0: 1, 1: 3}
"""Batches in a forecast, the open ones included. At staleness 0 nothing of a batch begins before the end of the one
before it, which is all that lending can change. At staleness 1 the end of a batch decides when the second one after it
begins, so the effect of lending shows in three batches."""


class InitialStateReader:
    """Reads initial states from a scheduler's state; one reader serves one run, whose micro-batches do not change."""

    def __init__(self) -> None:
        self._bundles: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        """By number of ranks: what `_Reading._bundles_on` found."""

    def read(self, state: SchedulerState, at: float) -> InitialState | None:
        """The initial state at `at`; `None` where no batch is open, a role has no lane, or a cost is missing."""
        return _Reading(state, at, self._bundles).initial_state()


def training_progress(state: SchedulerState) -> tuple[int, ...]:
    """The open batches and how far the first of them is trained; two idle moments with the same progress belong to one
    bubble."""
    head = state.head
    if head is None:
        return ()
    return (*state.work.batches, head.training.epoch, head.training.minibatch, len(head.training.taken))


class _Reading:
    """One reading of the scheduler's state."""

    def __init__(
        self, state: SchedulerState, at: float, bundles: dict[int, tuple[tuple[int, ...], tuple[int, ...]]]
    ) -> None:
        self._algebra, self._settings = state.algebra, state.settings
        self._lanes, self._costs = state.lanes, state.costs
        self._batches = state.work.batches
        self._state = state
        self._at = at
        self._bundles = bundles

    def initial_state(self) -> InitialState | None:
        training = self._training()
        if training is None:
            return None
        rollout = self._lanes.of(LaneRole.ROLLOUT)
        reward = self._lanes.of(LaneRole.REWARD)
        has_costs = all(self._has_cost(lane.name, CostKind.GENERATE) for lane in [*rollout, *self._lanes.trainers])
        has_costs = has_costs and all(self._has_cost(lane.name, CostKind.SCORE) for lane in reward)
        if not (has_costs and rollout and reward and self._batches):
            return None
        counts = self._state.generation.waiting_by_group()
        version = self._version_in_generation(counts)
        unscored, in_scoring = self._under_way()
        batches = [self._batch(batch, counts, unscored, in_scoring) for batch in self._batches.values()]
        num_in_horizon = _HORIZON_BY_STALENESS[self._settings.max_staleness]
        num_following = min(max(0, num_in_horizon - len(batches)), self._state.admission.num_to_come)
        return InitialState(
            rollout_lanes=self._generating(rollout),
            rollout_versions=np.array([_version_of(lane) for lane in rollout]),
            rollout_pull_seconds=np.array([self._seconds(lane.name, CostKind.PULL) for lane in rollout]),
            lendable_lanes=tuple(self._lendable_lane(lane, version) for lane in self._lanes.trainers),
            reward_lanes=ScoringLanes(
                np.array([self._free_at(lane) for lane in reward]),
                np.array([self._seconds(lane.name, CostKind.SCORE) for lane in reward]),
            ),
            ranks_free_at=np.array([self._free_at(lane) * _is_accumulating(lane) for lane in self._lanes.trainers]),
            training=training,
            batches=(*batches, *[self._following_batch()] * num_following),
            first_batch=next(iter(self._batches)),
            num_open=len(batches),
            num_evaluation_fragments=sum(n for (purpose, _, _), n in counts.items() if purpose is not Purpose.TRAIN),
            max_staleness=self._settings.max_staleness,
            policy_version=self._state.policy_version,
            publish_ends_in=self._publish_ends_in(),
            lends_together=self._state.lends_together,
        )

    def _publish_ends_in(self) -> float | None:
        if self._state.publishing is None:
            return None
        return max(0.0, self._state.snapshot_at + self._seconds(GANG, CostKind.PUBLISH) - self._at)

    def _training(self) -> TrainingSchedule | None:
        trainers = self._lanes.trainers
        names = [GANG] if self._state.equal_counts else [lane.name for lane in trainers]
        costs = [cost for name in names if (cost := self._costs.cost(name, CostKind.ACCUMULATE)) is not None]
        if not trainers or len(costs) < len(names):
            return None
        algebra = self._algebra
        speeds = None if len(costs) == 1 else self._speeds(costs)
        if len(trainers) not in self._bundles:
            self._bundles[len(trainers)] = self._bundles_on(len(trainers))
        units, sizes = self._bundles[len(trainers)]
        return TrainingSchedule(
            bundle_seconds=() if speeds else (0.0, *map(costs[0].seconds, units)),
            bundle_sizes=() if speeds else (0, *sizes),
            speeds=speeds,
            commit_seconds=self._seconds(GANG, CostKind.COMMIT),
            snapshot_seconds=self._seconds(GANG, CostKind.SNAPSHOT),
            publish_seconds=self._seconds(GANG, CostKind.PUBLISH),
            num_groups=algebra.num_groups,
            num_minibatches=algebra.num_minibatches,
            num_epochs=algebra.num_epochs,
            waits_for_whole_batch=self._settings.waits_for_whole_batch,
            in_order=self._settings.deterministic,
        )

    def _speeds(self, costs: Sequence[Cost]) -> RankSpeeds:
        size = num_micro_batches_per_unit(self._algebra, tsp=self._settings.tsp)
        return RankSpeeds(
            unit=np.array([cost.per_unit * size for cost in costs]),
            call=np.array([cost.per_call for cost in costs]),
            num_units_per_group=num_micro_batches_per_group(self._algebra) // size,
        )

    def _bundles_on(self, num_ranks: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """For each number of groups, from 1: micro-batches of each rank in a bundle of that many groups, and how many
        of that many ready groups are accumulated together while others are still to come."""
        numbers = range(1, self._algebra.num_groups_per_minibatch + 1)
        algebra, tsp = self._algebra, self._settings.tsp
        return (
            tuple(num_micro_batches(algebra, number, world_size=num_ranks, tsp=tsp) for number in numbers),
            tuple(bundle_size(algebra, number, number + 1, world_size=num_ranks, tsp=tsp) for number in numbers),
        )

    # --- lanes ------------------------------------------------------------------------------------------------------

    def _generating(self, lanes: Sequence[Lane]) -> GeneratingLanes:
        unbounded = np.full(len(lanes), np.inf)
        return GeneratingLanes(
            free_at=np.array([self._free_at(lane) for lane in lanes]),
            busy_since=np.array([_busy_since(lane, self._at) for lane in lanes]),
            fragment_seconds=np.array([self._fragment_seconds(lane.name) for lane in lanes]),
            until=unbounded,
            fragments_left=unbounded,
        )

    def _lendable_lane(self, lane: Lane, version: int) -> LendableLane:
        free_at = self._free_at(lane)
        action = lane.under_way
        pull = 0.0 if _version_of(lane) == version else self._seconds(lane.name, CostKind.PULL)
        lend, reclaim = self._seconds(lane.name, CostKind.LEND), self._seconds(lane.name, CostKind.RECLAIM)
        is_returning = isinstance(action, Switch) and action.to is LaneRole.TRAINER
        is_lent = lane.is_lent or (action is not None and not _is_accumulating(lane))
        return LendableLane(
            name=lane.name,
            is_lent=is_lent,
            is_returning=is_returning,
            earliest_return=free_at,
            earliest_start=free_at + pull + (0.0 if is_lent else lend),
            busy_since=_busy_since(lane, self._at),
            fragment_seconds=self._fragment_seconds(lane.name),
            lend_seconds=lend,
            reclaim_seconds=reclaim,
            pull_seconds=pull,
            fragments_left=0 if is_returning else lane.allowance,
        )

    def _version_in_generation(self, counts: Mapping[tuple[Purpose, int, int], int]) -> int:
        """The version of the next training fragment to be begun, or the one published last where none waits."""
        first = min((batch for purpose, batch, _ in counts if purpose is Purpose.TRAIN), default=None)
        return self._state.policy_version if first is None else self._batches[first].policy_version

    def _free_at(self, lane: Lane) -> float:
        return seconds_left(self._state, lane, self._at)

    def _has_cost(self, lane: str, kind: CostKind) -> bool:
        return self._costs.cost(lane, kind) is not None

    def _seconds(self, lane: str, kind: CostKind) -> float:
        return expected_seconds(self._state, lane, kind)

    def _fragment_seconds(self, lane: str) -> float:
        # Generation must take some time, so that the number of fragments that a lane could begin stays finite.
        return max(self._seconds(lane, CostKind.GENERATE), SAME_MOMENT)

    # --- batches ----------------------------------------------------------------------------------------------------

    def _under_way(self) -> tuple[dict[int, list[tuple[int, float]]], dict[int, list[tuple[int, float]]]]:
        """By batch: (group, when generated) of fragments that are begun and not being scored, and (group, when scored)
        of those being scored."""
        unscored: dict[int, list[tuple[int, float]]] = {number: [] for number in self._batches}
        in_scoring: dict[int, list[tuple[int, float]]] = {number: [] for number in self._batches}
        for lane in self._lanes:
            action = lane.under_way
            match action:
                case Generate(fragments=fragments):
                    of_kind = unscored
                case Score(fragment=fragment):
                    of_kind, fragments = in_scoring, (fragment,)
                case _:
                    continue
            for key in (fragment.key for fragment in fragments):
                if key.purpose is Purpose.TRAIN:
                    of_kind[key.batch].append((key.group, self._free_at(lane)))
        for fragment in self._state.scoring.waiting():
            if fragment.key.purpose is Purpose.TRAIN:
                unscored[fragment.key.batch].append((fragment.key.group, 0.0))
        return unscored, in_scoring

    def _batch(
        self,
        batch: OpenBatch,
        counts: Mapping[tuple[Purpose, int, int], int],
        unscored: Mapping[int, list[tuple[int, float]]],
        in_scoring: Mapping[int, list[tuple[int, float]]],
    ) -> BatchState:
        groups = np.arange(self._algebra.num_groups)
        # A batch that was cut otherwise counts as so many fragments of the present size.
        share = batch.fragment_size / self._algebra.fragment_size
        waiting = (counts.get((Purpose.TRAIN, batch.number, group), 0) for group in groups.tolist())
        numbers = [math.ceil(number * share) for number in waiting]
        skipped, unknown = batch.training.skipped.all(), self._unknown_groups(batch)
        return BatchState(
            policy_version=batch.policy_version,
            waiting_groups=unknown.with_further_draws(np.repeat(groups, numbers)),
            skipped=skipped,
            trained_share=unknown.trained_share(self._algebra.num_groups - len(unknown.draws_left) - len(skipped)),
            unscored=_columns(unscored[batch.number]),
            in_scoring=_columns(in_scoring[batch.number]),
            epoch=batch.training.epoch,
            minibatch=batch.training.minibatch,
            taken=batch.training.taken,
        )

    def _following_batch(self) -> BatchState:
        """A batch that has not begun."""
        num_per_group = self._algebra.num_fragments_per_group
        unknown = self._unknown_groups(None)
        return BatchState(
            policy_version=None,
            waiting_groups=unknown.with_further_draws(np.repeat(np.arange(self._algebra.num_groups), num_per_group)),
            unscored=_columns([]),
            in_scoring=_columns([]),
            trained_share=unknown.trained_share(0),
        )

    def _unknown_groups(self, batch: OpenBatch | None) -> UnknownGroups:
        """The incomplete groups of a batch, or all groups of one that has not begun."""
        groups, algebra = range(self._algebra.num_groups), self._algebra
        if batch is None:
            draws_left = dict.fromkeys(groups, algebra.max_resamples)
        else:
            assembler = batch.assembler
            incomplete = (group for group in groups if not assembler.is_group_complete(group))
            draws_left = {group: assembler.num_draws_left(group) for group in incomplete}
        return UnknownGroups(algebra, draws_left, self._state.work.spread.without_spread)


def _is_accumulating(lane: Lane) -> bool:
    return isinstance(lane.under_way, Accumulate)


def _busy_since(lane: Lane, at: float) -> float:
    return 0.0 if lane.under_way is None else lane.since - at


def _columns(rows: list[tuple[int, float]]) -> tuple[Indices, Seconds]:
    return np.array([group for group, _ in rows], dtype=np.int64), np.array([at for _, at in rows], dtype=np.float64)


def _version_of(lane: Lane) -> int:
    """The version that the lane holds, or will hold at the end of its pull."""
    if isinstance(lane.under_way, Pull):
        return lane.under_way.policy_version
    return NO_VERSION if lane.policy_version is None else lane.policy_version
