"""How things stand, in seconds from now: what the forecast starts from.

    lane table, queues, open batches, learnt costs ──► Lookout.look ──► Outlook (frozen) ──► forecast ──► search

Invariant: an outlook holds all that decides when the open batches end, in so far as it is known; where generation,
scoring or training has never been priced there is none. Unpriced switches, pulls, commits and publishes count as
nothing until one has been seen.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import Role
from worker.pipeline.admission import Admission, BatchSettings, OpenBatch
from worker.pipeline.costs import GANG, CostBook, CostKind
from worker.pipeline.generation import Generation
from worker.pipeline.lanes import Lane, LaneTable
from worker.pipeline.packing import bundle_size, num_micro_batches
from worker.pipeline.queueing import SAME_MOMENT, GeneratingLanes, Indices, ScoringLanes, Seconds
from worker.pipeline.scoring import Scoring
from worker.pipeline.types import Action, Generate, Pull, Purpose, Score, Switch

NO_VERSION = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Helper:
    """A trainer lane, as one that may generate."""

    lane: str
    is_away: bool
    """It serves as a rollout lane, or is on its way there or back."""
    is_returning: bool
    home_from: float
    """When it can begin its way back at the earliest, or is back where it is on its way."""
    ready: float
    """When it can begin a fragment, were it to stay or to go now."""
    began: float
    """When what is under way until `home_from` began."""
    seconds: float
    """For each fragment."""
    lend: float
    reclaim: float
    pull: float
    """To the version that generation is at; 0 where it holds that."""
    left: int
    """Fragments that it may still begin."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BatchOutlook:
    """A batch that is open, or to come."""

    version: int | None
    """`None`: it has not begun."""
    waiting: Indices
    """The group of each fragment that no lane has begun, in the order in which they will be."""
    begun: tuple[Indices, Seconds]
    """The group of each fragment that is not being scored yet, and when it is generated."""
    scoring: tuple[Indices, Seconds]
    """The group of each fragment that is being scored, and when it is."""
    epoch: int = 0
    minibatch: int = 0
    taken: frozenset[int] = frozenset()
    """Groups of the open mini-batch that are accumulated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOutlook:
    """What the whole gang takes, and which groups it takes when."""

    bundle: tuple[float, ...]
    """Seconds to accumulate so many groups at once, by their number."""
    takes: tuple[int, ...]
    """How many of so many ready groups go at once while others of the mini-batch are to come, by their number."""
    commit: float
    snapshot: float
    publish: float
    """From the snapshot to the version being on offer."""
    num_groups: int
    num_minibatches: int
    num_epochs: int
    whole_batch_first: bool
    in_order: bool


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Outlook:
    rollout: GeneratingLanes
    versions: Indices
    """What each rollout lane holds, or `NO_VERSION`."""
    pull: Seconds
    """What it takes each rollout lane to change versions."""
    helpers: tuple[Helper, ...]
    rewards: ScoringLanes
    training: TrainingOutlook
    batches: tuple[BatchOutlook, ...]
    """The open ones in order, then those to come within the horizon."""
    first_batch: int
    """The number of the first of them."""
    num_open: int
    num_others: int
    """Fragments of evaluations, which go first."""
    max_staleness: int
    policy_version: int
    """The version published last."""
    published_in: float | None
    """When the version under way is on offer; `None` where none is."""
    lends_together: bool


class Lookout:
    """Draws up outlooks from the scheduler's own state."""

    def __init__(
        self,
        *,
        algebra: BatchAlgebra,
        settings: BatchSettings,
        max_staleness: int,
        tsp: bool,
        lends_together: bool,
        lanes: LaneTable,
        generation: Generation,
        scoring: Scoring,
        admission: Admission,
        batches: Mapping[int, OpenBatch],
        costs: CostBook,
        policy_version: Callable[[], int],
        publishing_since: Callable[[], float | None],
    ) -> None:
        self._algebra = algebra
        self._settings = settings
        self._max_staleness = max_staleness
        self._tsp = tsp
        self._lends_together = lends_together
        self._lanes = lanes
        self._generation = generation
        self._scoring = scoring
        self._admission = admission
        self._batches = batches
        self._costs = costs
        self._bundles: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        """By number of ranks."""
        self._policy_version = policy_version
        self._publishing_since = publishing_since

    def progress(self) -> tuple[int, ...]:
        """What has begun and how far training has come: while that stays the same, so does the bubble."""
        head = next(iter(self._batches.values()), None)
        if head is None:
            return ()
        return (*self._batches, head.training.epoch, head.training.minibatch, len(head.training.taken))

    def look(self, at: float) -> Outlook | None:
        """How things stand at `at`; `None` where no batch is open, a role has no lane, or too little is priced."""
        training = self._training()
        if training is None:
            return None
        rollout = self._lanes.of(Role.ROLLOUT)
        rewards = self._lanes.of(Role.REWARD)
        priced = all(self._known(lane.name, CostKind.GENERATE) for lane in [*rollout, *self._lanes.trainers])
        priced = priced and all(self._known(lane.name, CostKind.SCORE) for lane in rewards)
        if not (priced and rollout and rewards and self._batches):
            return None
        counts = self._generation.waiting_by_group()
        version = self._version_at_the_front(counts)
        begun, scoring = self._under_way(at)
        batches = [self._batch(batch, counts, begun, scoring) for batch in self._batches.values()]
        # At staleness 1 a batch's end decides when the second after it begins: what is gained or lost shows there.
        num_ahead = 3 if self._max_staleness else 1
        num_more = min(max(0, num_ahead - len(batches)), self._admission.num_to_come)
        return Outlook(
            rollout=self._generating(rollout, at),
            versions=np.array([self._version_of(lane) for lane in rollout]),
            pull=np.array([self._price(lane.name, CostKind.PULL) for lane in rollout]),
            helpers=tuple(self._helper(lane, version, at) for lane in self._lanes.trainers),
            rewards=ScoringLanes(
                np.array([self._free_from(lane, at) for lane in rewards]),
                np.array([self._price(lane.name, CostKind.SCORE) for lane in rewards]),
            ),
            training=training,
            batches=(*batches, *[self._to_come()] * num_more),
            first_batch=next(iter(self._batches)),
            num_open=len(batches),
            num_others=sum(n for (purpose, _, _), n in counts.items() if purpose is not Purpose.TRAIN),
            max_staleness=self._max_staleness,
            policy_version=self._policy_version(),
            published_in=self._published_in(at),
            lends_together=self._lends_together,
        )

    def _published_in(self, at: float) -> float | None:
        since = self._publishing_since()
        return None if since is None else max(0.0, since + self._price(GANG, CostKind.PUBLISH) - at)

    def _training(self) -> TrainingOutlook | None:
        cost = self._costs.cost(GANG, CostKind.ACCUMULATE)
        num_ranks = self._lanes.num(Role.TRAINER)
        if cost is None or not num_ranks:
            return None
        algebra = self._algebra
        if num_ranks not in self._bundles:
            self._bundles[num_ranks] = self._bundles_on(num_ranks)
        units, takes = self._bundles[num_ranks]
        return TrainingOutlook(
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
        algebra, tsp = self._algebra, self._tsp
        return (
            tuple(num_micro_batches(algebra, number, world_size=num_ranks, tsp=tsp) for number in numbers),
            tuple(bundle_size(algebra, number, number + 1, world_size=num_ranks, tsp=tsp) for number in numbers),
        )

    # --- lanes ------------------------------------------------------------------------------------------------------

    def _generating(self, lanes: Sequence[Lane], at: float) -> GeneratingLanes:
        unbounded = np.full(len(lanes), np.inf)
        return GeneratingLanes(
            free=np.array([self._free_from(lane, at) for lane in lanes]),
            began=np.array([_since(lane, at) for lane in lanes]),
            seconds=np.array([self._fragment_seconds(lane.name) for lane in lanes]),
            until=unbounded,
            left=unbounded,
        )

    def _helper(self, lane: Lane, version: int, at: float) -> Helper:
        free = self._free_from(lane, at)
        action = lane.under_way
        pull = 0.0 if self._version_of(lane) == version else self._price(lane.name, CostKind.PULL)
        lend, reclaim = self._price(lane.name, CostKind.LEND), self._price(lane.name, CostKind.RECLAIM)
        is_returning = isinstance(action, Switch) and action.to is Role.TRAINER
        is_home = action is None and not lane.is_lent
        return Helper(
            lane=lane.name,
            is_away=not is_home,
            is_returning=is_returning,
            home_from=free,
            began=_since(lane, at),
            ready=free + pull + (lend if is_home else 0.0),
            seconds=self._fragment_seconds(lane.name),
            lend=lend,
            reclaim=reclaim,
            pull=pull,
            left=0 if is_returning else lane.allowance,
        )

    @staticmethod
    def _version_of(lane: Lane) -> int:
        if isinstance(lane.under_way, Pull):
            return lane.under_way.policy_version
        return NO_VERSION if lane.policy_version is None else lane.policy_version

    def _version_at_the_front(self, counts: Mapping[tuple[Purpose, int, int], int]) -> int:
        first = min((batch for purpose, batch, _ in counts if purpose is Purpose.TRAIN), default=None)
        return self._policy_version() if first is None else self._batches[first].policy_version

    def _free_from(self, lane: Lane, at: float) -> float:
        """When the lane's action under way is expected to be done; now where it is overdue."""
        action = lane.under_way
        return 0.0 if action is None else max(0.0, lane.since + self._expected(lane.name, action) - at)

    def _expected(self, lane: str, action: Action) -> float:
        match action:
            case Pull():
                return self._price(lane, CostKind.PULL)
            case Switch(to=to):
                return self._price(lane, CostKind.LEND if to is Role.ROLLOUT else CostKind.RECLAIM)
            case Generate(fragment=fragment):
                return self._price(lane, CostKind.GENERATE, len(fragment.members))
            case Score(fragment=fragment):
                return self._price(lane, CostKind.SCORE, len(fragment.members))
            case _:
                return 0.0

    def _known(self, lane: str, kind: CostKind) -> bool:
        return self._costs.cost(lane, kind) is not None

    def _price(self, lane: str, kind: CostKind, num_units: int | None = None) -> float:
        is_sized = kind in (CostKind.GENERATE, CostKind.SCORE)
        num_units = num_units or (self._algebra.fragment_size if is_sized else 1)
        return self._costs.seconds(lane, kind, num_units) or 0.0

    def _fragment_seconds(self, lane: str) -> float:
        # No lane generates in no time: the number of fragments it could begin must stay finite.
        return max(self._price(lane, CostKind.GENERATE), SAME_MOMENT)

    # --- batches ----------------------------------------------------------------------------------------------------

    def _under_way(self, at: float) -> tuple[dict[int, list[tuple[int, float]]], dict[int, list[tuple[int, float]]]]:
        """By batch: (group, generated when) of fragments not being scored, (group, scored when) of those that are."""
        begun: dict[int, list[tuple[int, float]]] = {number: [] for number in self._batches}
        scoring: dict[int, list[tuple[int, float]]] = {number: [] for number in self._batches}
        for lane in self._lanes:
            action = lane.under_way
            if isinstance(action, Generate | Score) and action.fragment.key.purpose is Purpose.TRAIN:
                key = action.fragment.key
                of_kind = begun if isinstance(action, Generate) else scoring
                of_kind[key.batch].append((key.group, self._free_from(lane, at)))
        for fragment in self._scoring.waiting():
            if fragment.key.purpose is Purpose.TRAIN:
                begun[fragment.key.batch].append((fragment.key.group, 0.0))
        return begun, scoring

    def _batch(
        self,
        batch: OpenBatch,
        counts: Mapping[tuple[Purpose, int, int], int],
        begun: Mapping[int, list[tuple[int, float]]],
        scoring: Mapping[int, list[tuple[int, float]]],
    ) -> BatchOutlook:
        groups = np.arange(self._algebra.num_groups)
        numbers = [counts.get((Purpose.TRAIN, batch.number, group), 0) for group in groups.tolist()]
        return BatchOutlook(
            version=batch.policy_version,
            waiting=np.repeat(groups, numbers),
            begun=_columns(begun[batch.number]),
            scoring=_columns(scoring[batch.number]),
            epoch=batch.training.epoch,
            minibatch=batch.training.minibatch,
            taken=batch.training.taken,
        )

    def _to_come(self) -> BatchOutlook:
        each = self._algebra.num_fragments // self._algebra.num_groups
        waiting = np.repeat(np.arange(self._algebra.num_groups), each)
        return BatchOutlook(version=None, waiting=waiting, begun=_columns([]), scoring=_columns([]))


def _since(lane: Lane, at: float) -> float:
    return 0.0 if lane.under_way is None else lane.since - at


def _columns(rows: list[tuple[int, float]]) -> tuple[Indices, Seconds]:
    return np.array([group for group, _ in rows], dtype=np.int64), np.array([at for _, at in rows], dtype=np.float64)
