"""From the scheduler's state to what a forecast starts from: lane table, queues, open batches and costs as numbers.

Invariant: where generation, scoring or training has never been priced there is no initial state. Unpriced switches,
pulls, commits and publishes count as nothing until one has been observed.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from worker.contracts.names import LaneRole
from worker.scheduling.core.admission import OpenBatch
from worker.scheduling.core.batching import bundle_size, num_micro_batches
from worker.scheduling.core.costs import GANG, CostKind
from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.messages import Action, Generate, Pull, Purpose, Score, Switch
from worker.scheduling.core.state import SchedulerState
from worker.scheduling.forecast.initial_state import (
    NO_VERSION,
    BatchState,
    InitialState,
    LendableLane,
    TrainingState,
)
from worker.scheduling.forecast.queueing import SAME_MOMENT, GeneratingLanes, Indices, ScoringLanes, Seconds


class InitialStateReader:
    """Draws initial states up from the scheduler's own state."""

    def __init__(self) -> None:
        self._bundles: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        """By number of ranks. A reader serves one run, whose batch algebra does not change."""

    def read(self, state: SchedulerState, at: float) -> InitialState | None:
        """How things stand at `at`; `None` where no batch is open, a role has no lane, or too little is priced."""
        return _Reading(state, at, self._bundles).initial_state()


def training_progress(state: SchedulerState) -> tuple[int, ...]:
    """What has begun and how far training has come: while that stays the same, so does the bubble."""
    head = state.head
    if head is None:
        return ()
    return (*state.work.batches, head.training.epoch, head.training.minibatch, len(head.training.taken))


class _Reading:
    """One look at the scheduler's state."""

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
        rewards = self._lanes.of(LaneRole.REWARD)
        priced = all(self._is_priced(lane.name, CostKind.GENERATE) for lane in [*rollout, *self._lanes.trainers])
        priced = priced and all(self._is_priced(lane.name, CostKind.SCORE) for lane in rewards)
        if not (priced and rollout and rewards and self._batches):
            return None
        counts = self._state.generation.waiting_by_group()
        version = self._version_at_the_front(counts)
        begun, scoring = self._under_way()
        batches = [self._batch(batch, counts, begun, scoring) for batch in self._batches.values()]
        # At staleness 1 a batch's end decides when the second after it begins: what is gained or lost shows there.
        num_ahead = 3 if self._settings.max_staleness else 1
        num_more = min(max(0, num_ahead - len(batches)), self._state.admission.num_to_come)
        return InitialState(
            rollout=self._generating(rollout),
            versions=np.array([_version_of(lane) for lane in rollout]),
            pull=np.array([self._price(lane.name, CostKind.PULL) for lane in rollout]),
            lendable_lanes=tuple(self._lendable_lane(lane, version) for lane in self._lanes.trainers),
            rewards=ScoringLanes(
                np.array([self._free_from(lane) for lane in rewards]),
                np.array([self._price(lane.name, CostKind.SCORE) for lane in rewards]),
            ),
            training=training,
            batches=(*batches, *[self._to_come()] * num_more),
            first_batch=next(iter(self._batches)),
            num_open=len(batches),
            num_others=sum(n for (purpose, _, _), n in counts.items() if purpose is not Purpose.TRAIN),
            max_staleness=self._settings.max_staleness,
            policy_version=self._state.policy_version,
            published_in=self._published_in(),
            lends_together=self._state.lends_together,
        )

    def _published_in(self) -> float | None:
        if self._state.publishing is None:
            return None
        return max(0.0, self._state.snapshot_at + self._price(GANG, CostKind.PUBLISH) - self._at)

    def _training(self) -> TrainingState | None:
        cost = self._costs.cost(GANG, CostKind.ACCUMULATE)
        num_ranks = self._lanes.num(LaneRole.TRAINER)
        if cost is None or not num_ranks:
            return None
        algebra = self._algebra
        if num_ranks not in self._bundles:
            self._bundles[num_ranks] = self._bundles_on(num_ranks)
        units, takes = self._bundles[num_ranks]
        return TrainingState(
            bundle=(0.0, *map(cost.seconds, units)),
            takes=(0, *takes),
            commit=self._price(GANG, CostKind.COMMIT),
            snapshot=self._price(GANG, CostKind.SNAPSHOT),
            publish=self._price(GANG, CostKind.PUBLISH),
            num_groups=algebra.num_groups,
            num_minibatches=algebra.num_minibatches,
            num_epochs=algebra.num_epochs,
            whole_batch_first=self._settings.whole_batch_first,
            in_order=self._settings.deterministic,
        )

    def _bundles_on(self, num_ranks: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """By number of groups: micro-batches of each rank, and how many of so many ready groups go at once."""
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
            free=np.array([self._free_from(lane) for lane in lanes]),
            began=np.array([_since(lane, self._at) for lane in lanes]),
            seconds=np.array([self._fragment_seconds(lane.name) for lane in lanes]),
            until=unbounded,
            left=unbounded,
        )

    def _lendable_lane(self, lane: Lane, version: int) -> LendableLane:
        free = self._free_from(lane)
        action = lane.under_way
        pull = 0.0 if _version_of(lane) == version else self._price(lane.name, CostKind.PULL)
        lend, reclaim = self._price(lane.name, CostKind.LEND), self._price(lane.name, CostKind.RECLAIM)
        is_returning = isinstance(action, Switch) and action.to is LaneRole.TRAINER
        is_home = action is None and not lane.is_lent
        return LendableLane(
            lane=lane.name,
            is_lent=not is_home,
            is_returning=is_returning,
            earliest_return=free,
            began=_since(lane, self._at),
            ready=free + pull + (lend if is_home else 0.0),
            seconds=self._fragment_seconds(lane.name),
            lend=lend,
            reclaim=reclaim,
            pull=pull,
            left=0 if is_returning else lane.allowance,
        )

    def _version_at_the_front(self, counts: Mapping[tuple[Purpose, int, int], int]) -> int:
        first = min((batch for purpose, batch, _ in counts if purpose is Purpose.TRAIN), default=None)
        return self._state.policy_version if first is None else self._batches[first].policy_version

    def _free_from(self, lane: Lane) -> float:
        """When the lane's action under way is expected to be done; now where it is overdue."""
        action = lane.under_way
        return 0.0 if action is None else max(0.0, lane.since + self._expected(lane.name, action) - self._at)

    def _expected(self, lane: str, action: Action) -> float:
        match action:
            case Pull():
                return self._price(lane, CostKind.PULL)
            case Switch(to=to):
                return self._price(lane, CostKind.LEND if to is LaneRole.ROLLOUT else CostKind.RECLAIM)
            case Generate(fragment=fragment):
                return self._price(lane, CostKind.GENERATE, len(fragment.members))
            case Score(fragment=fragment):
                return self._price(lane, CostKind.SCORE, len(fragment.members))
            case _:
                return 0.0

    def _is_priced(self, lane: str, kind: CostKind) -> bool:
        return self._costs.cost(lane, kind) is not None

    def _price(self, lane: str, kind: CostKind, num_units: int | None = None) -> float:
        is_sized = kind in (CostKind.GENERATE, CostKind.SCORE)
        num_units = num_units or (self._algebra.fragment_size if is_sized else 1)
        return self._costs.seconds(lane, kind, num_units) or 0.0

    def _fragment_seconds(self, lane: str) -> float:
        # No lane generates in no time: the number of fragments it could begin must stay finite.
        return max(self._price(lane, CostKind.GENERATE), SAME_MOMENT)

    # --- batches ----------------------------------------------------------------------------------------------------

    def _under_way(self) -> tuple[dict[int, list[tuple[int, float]]], dict[int, list[tuple[int, float]]]]:
        """By batch: (group, generated when) of fragments not being scored, (group, scored when) of those that are."""
        begun: dict[int, list[tuple[int, float]]] = {number: [] for number in self._batches}
        scoring: dict[int, list[tuple[int, float]]] = {number: [] for number in self._batches}
        for lane in self._lanes:
            action = lane.under_way
            if isinstance(action, Generate | Score) and action.fragment.key.purpose is Purpose.TRAIN:
                key = action.fragment.key
                of_kind = begun if isinstance(action, Generate) else scoring
                of_kind[key.batch].append((key.group, self._free_from(lane)))
        for fragment in self._state.scoring.waiting():
            if fragment.key.purpose is Purpose.TRAIN:
                begun[fragment.key.batch].append((fragment.key.group, 0.0))
        return begun, scoring

    def _batch(
        self,
        batch: OpenBatch,
        counts: Mapping[tuple[Purpose, int, int], int],
        begun: Mapping[int, list[tuple[int, float]]],
        scoring: Mapping[int, list[tuple[int, float]]],
    ) -> BatchState:
        groups = np.arange(self._algebra.num_groups)
        numbers = [counts.get((Purpose.TRAIN, batch.number, group), 0) for group in groups.tolist()]
        return BatchState(
            version=batch.policy_version,
            waiting=np.repeat(groups, numbers),
            begun=_columns(begun[batch.number]),
            scoring=_columns(scoring[batch.number]),
            epoch=batch.training.epoch,
            minibatch=batch.training.minibatch,
            taken=batch.training.taken,
        )

    def _to_come(self) -> BatchState:
        each = self._algebra.num_fragments // self._algebra.num_groups
        waiting = np.repeat(np.arange(self._algebra.num_groups), each)
        return BatchState(version=None, waiting=waiting, begun=_columns([]), scoring=_columns([]))


def _since(lane: Lane, at: float) -> float:
    return 0.0 if lane.under_way is None else lane.since - at


def _columns(rows: list[tuple[int, float]]) -> tuple[Indices, Seconds]:
    return np.array([group for group, _ in rows], dtype=np.int64), np.array([at for _, at in rows], dtype=np.float64)


def _version_of(lane: Lane) -> int:
    if isinstance(lane.under_way, Pull):
        return lane.under_way.policy_version
    return NO_VERSION if lane.policy_version is None else lane.policy_version
