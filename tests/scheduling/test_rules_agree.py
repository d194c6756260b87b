"""The forecast and the limits restate rules of the scheduler in closed form; both are held to the scheduler here.

With exact costs a forecast must come true, and a limit must be reached where a batch leaves nothing to choose (that no
schedule beats a limit is claimed in `planning/test_bounds`). So a rule that is changed in only one of them fails a
test. Costs are random numbers without ties: which of two simultaneous events comes first is no rule.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.scheduling.pools import GANG_KINDS, LANE_KINDS
from tests.scheduling.run_settings import Settings
from tests.scheduling.strategies import algebra_of
from tests.slow_params import examples
from worker.contracts.names import LaneRole, Placement, TrainerAssist
from worker.scheduling.core.costs import GANG, Cost, CostKind, CostTable
from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.lending import Allowance, LendingPolicy
from worker.scheduling.core.messages import Event, Published
from worker.scheduling.core.state import SchedulerState
from worker.scheduling.forecast.forecast import extend
from worker.scheduling.forecast.loans import loans_now
from worker.scheduling.forecast.state_reader import InitialStateReader
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts, lane_name, reward_lane_name
from worker.scheduling.planning.lane_kinds import LaneKinds
from worker.scheduling.planning.limits import ScheduleRules, batch_limits
from worker.scheduling.simulator.simulated_lanes import SimulatedLane
from worker.scheduling.simulator.simulator import Simulator

EXACT = 1e-9
"""Relative to the length of the run: sums of the same durations in another order differ by less."""

NUM_CALLS_OFF = 3.0
"""Calls of the slowest rank, of one unit, for each mini-batch: how far a forecast with uneven ranks may be off. Of
16,765 forecasts for 400 random runs of up to two mini-batches the farthest is off by 2.7, the mean by 0.2."""

seeds = st.integers(0, 2**32)


def published_at(
    run: Settings, lanes: Sequence[SimulatedLane], costs: CostTable, policy: LendingPolicy | None = None
) -> dict[int, float]:
    """By batch: when a run is simulated to publish it."""
    times: dict[int, float] = {}

    def observe(event: Event, at: float) -> None:
        if isinstance(event, Published):
            times[run.first_batch + len(times)] = at

    scheduler = run.scheduler(policy=policy, prior=costs)
    Simulator(scheduler, lanes, costs, None, observe=observe).run()
    return times


# --- the forecast ---------------------------------------------------------------------------------------------------


@dataclass
class ForecastingPolicy:
    """Forecasts the ends of the open batches in every bubble. It lends in the first bubble only, as its forecasts
    assume."""

    num_lanes: int
    """How many idle lanes to lend, if there are as many."""
    num_fragments: int
    """The allowance of each."""
    ends: list[tuple[int, float]] = field(default_factory=list)
    """(batch, predicted end)."""
    has_lent: bool = False

    def __post_init__(self) -> None:
        self._reader = InitialStateReader()

    def grant(self, state: SchedulerState, idle: Sequence[Lane], at: float) -> Allowance | None:
        initial = self._reader.read(state, at)
        assert initial is not None
        names = {lane.name for lane in idle}
        lanes = [lane for lane in initial.lendable_lanes if lane.name in names]
        number = 0 if self.has_lent else min(self.num_lanes, len(lanes), state.generation.num_unclaimed)
        granted = lanes if number and state.lends_together else lanes[:number]
        _, forecast = extend(initial, (), loans_now(initial.lendable_lanes, granted, self.num_fragments))
        self.ends += [(initial.first_batch + index, at + end) for index, end in enumerate(forecast.ends)]
        self.has_lent |= bool(granted)
        return (
            Allowance(num_fragments=self.num_fragments, lanes=tuple(lane.name for lane in granted)) if granted else None
        )


def random_pool(run: Settings, seed: int) -> tuple[list[SimulatedLane], CostTable]:
    """Lanes of different speeds, and costs without ties. In half of the pools a publish takes longer than a batch, so
    that the next snapshot has to wait for it."""
    numbers = {LaneRole.ROLLOUT: run.num_rollout, LaneRole.TRAINER: run.num_trainer, LaneRole.REWARD: run.num_reward}
    lanes = [SimulatedLane(lane=f"{role}-{i}", role=role) for role, number in numbers.items() for i in range(number)]
    keys = [(lane.lane, kind) for lane in lanes for kind in LANE_KINDS[lane.role]]
    rng = np.random.default_rng(seed)
    costs = {key: Cost(*rng.uniform(0.05, 3.0, 2)) for key in [*keys, *((GANG, kind) for kind in GANG_KINDS)]}
    publish = costs[GANG, CostKind.PUBLISH].scaled(100.0 if seed % 2 else 1.0)
    return lanes, {**costs, (GANG, CostKind.PUBLISH): publish}


def runs(
    *, max_staleness: int, num_rollout: st.SearchStrategy[int], is_uneven: bool = False
) -> st.SearchStrategy[Settings]:
    """Runs with separate rollout and trainer lanes, whose lending policy is asked in every bubble. Ranks are in step,
    or there is one, unless `is_uneven`."""
    algebras = st.builds(
        algebra_of,
        num_minibatches=st.integers(1, 2),
        groups_per_minibatch=st.integers(1, 5),
        fragments=st.sampled_from([(1, 2), (2, 2), (3, 1)]),
        num_epochs=st.integers(1, 2),
        filter_groups=st.booleans(),
        max_resamples=st.integers(0, 2),
        micro_batch_size=st.sampled_from([1, 2, 8]),
    )
    all_runs = st.builds(
        Settings,
        algebra=algebras,
        gap=st.sampled_from([True, True, False]),
        tag=st.just(TrainerAssist.GREEDY),
        max_staleness=st.just(max_staleness),
        deterministic=st.booleans(),
        whole_batch_advantages=st.sampled_from([False, False, True]),
        lends_together=st.booleans(),
        first_batch=st.integers(0, 1),
        num_batches=st.just(4),
        num_rollout=num_rollout,
        num_reward=st.integers(1, 3),
        num_trainer=st.integers(2, 4) if is_uneven else st.integers(1, 4),
        equal_counts=st.just(False) if is_uneven else st.booleans(),
    )
    return all_runs.map(lambda run: run if run.equal_counts or is_uneven else replace(run, num_trainer=1))


ONE_RANK_RETURNS_FIRST = Settings(
    algebra=algebra_of(groups_per_minibatch=1, fragments=(3, 1), num_epochs=2, micro_batch_size=1),
    tag=TrainerAssist.GREEDY,
    deterministic=True,
    lends_together=True,
    num_batches=4,
    num_rollout=3,
    num_reward=2,
    num_trainer=2,
)
"""Of two ranks that return from generation one is first, with all micro-batches ready."""


def slowest_call(costs: CostTable) -> float:
    """Seconds in which the slowest rank accumulates a single micro-batch."""
    return max(cost.seconds() for (lane, kind), cost in costs.items() if kind is CostKind.ACCUMULATE and lane != GANG)


def check_forecasts(run: Settings, seed: int, num_lanes: int, num_fragments: int) -> None:
    policy = ForecastingPolicy(num_lanes, num_fragments)
    lanes, costs = random_pool(run, seed)
    times = published_at(run, lanes, costs, policy)
    assert policy.ends
    for batch, end in policy.ends:
        assert end == pytest.approx(times[batch], abs=EXACT * max(times.values()))


@settings(max_examples=examples(40, 150), deadline=None)
@given(run=runs(max_staleness=0, num_rollout=st.integers(1, 5)), seed=seeds)
def test_forecasts_of_strict_runs_come_true(run: Settings, seed: int) -> None:
    check_forecasts(run, seed, num_lanes=0, num_fragments=0)


@settings(max_examples=examples(40, 150), deadline=None)
@given(
    run=runs(max_staleness=0, num_rollout=st.integers(1, 5)),
    seed=seeds,
    num_lanes=st.integers(1, 4),
    num_fragments=st.integers(1, 4),
)
def test_forecasts_of_a_lending_plan_come_true_in_strict_runs_that_follow_it(
    run: Settings, seed: int, num_lanes: int, num_fragments: int
) -> None:
    check_forecasts(run, seed, num_lanes, num_fragments)


@settings(max_examples=examples(40, 150), deadline=None)
@given(run=runs(max_staleness=1, num_rollout=st.just(1)), seed=seeds)
def test_forecasts_at_staleness_1_come_true_with_one_rollout_lane(run: Settings, seed: int) -> None:
    """With several rollout lanes, or with lending, they are approximations: see `forecast/test_forecast`."""
    check_forecasts(run, seed, num_lanes=0, num_fragments=0)


@settings(max_examples=examples(40, 150), deadline=None)
@given(
    run=runs(max_staleness=0, num_rollout=st.integers(1, 5), is_uneven=True),
    seed=seeds,
    num_lanes=st.integers(0, 4),
    num_fragments=st.integers(1, 4),
)
@example(run=ONE_RANK_RETURNS_FIRST, seed=3284551, num_lanes=2, num_fragments=1)
def test_forecasts_with_uneven_ranks_are_off_by_a_few_calls_of_the_slowest_at_most(
    run: Settings, seed: int, num_lanes: int, num_fragments: int
) -> None:
    """Which rank takes the last units of a group before the next one is ready is left open, in each mini-batch of the
    first epoch."""
    policy = ForecastingPolicy(num_lanes, num_fragments)
    lanes, costs = random_pool(run, seed)
    times = published_at(run, lanes, costs, policy)
    assert policy.ends
    allowed = NUM_CALLS_OFF * run.algebra.num_minibatches * slowest_call(costs)
    assert all(abs(end - times[batch]) <= allowed for batch, end in policy.ends)


# --- the limits -----------------------------------------------------------------------------------------------------

NUM_GROUPS = 4
NUM_EPOCHS = 2
ALGEBRA = algebra_of(groups_per_minibatch=NUM_GROUPS, fragments=(1, 2), num_epochs=NUM_EPOCHS)
"""Four groups of one fragment and one micro-batch each, trained for two epochs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """Seconds of each kind of work on equal lanes."""

    fragment: float
    score: float
    group: float
    """Seconds of one micro-batch, which is one group."""
    commit: float
    publish: float
    pull: float
    lend: float
    reclaim: float

    def pool(self, num_lanes: int) -> PoolCosts:
        """The costs of `num_lanes` equal lanes. Snapshots take no time, since the limits leave them out."""
        lane = LaneCosts(
            generate=Cost(self.fragment),
            accumulate=Cost(0.0, self.group),
            commit=self.commit,
            publish=self.publish,
            pull=self.pull,
            lend=self.lend,
            reclaim=self.reclaim,
        )
        return PoolCosts(lanes=(lane,) * num_lanes, score=Cost(self.score), num_reward=1)


def durations(
    seed: int, *, fragment: tuple[float, float] = (1.0, 2.0), group: tuple[float, float] = (0.1, 0.9)
) -> Durations:
    """Random durations within these bounds. By default generation is the slowest stage: scoring and training keep up
    with it."""
    rng = np.random.default_rng(seed)
    return Durations(
        fragment=rng.uniform(*fragment),
        score=rng.uniform(0.1, 0.9),
        group=rng.uniform(*group),
        **{name: rng.uniform(0.1, 0.9) for name in ("commit", "publish", "pull", "lend", "reclaim")},
    )


def limit_of(run: Settings, costs: PoolCosts, num_trainer: int) -> float:
    """The limit of the run's switches, for a pool of equal lanes of which `num_trainer` train."""
    rules = ScheduleRules.of(run.pipeline, run.advantage_std, equal_counts=run.equal_counts)
    kinds = LaneKinds.of(costs, run.algebra.fragment_size)
    (limit,) = batch_limits(run.algebra, costs, kinds, np.array([[num_trainer]]), rules)
    return float(limit)


def batch_seconds(run: Settings, costs: PoolCosts, num_trainer: int) -> list[float]:
    """Seconds of each batch, from one publish to the next; the first `num_trainer` lanes of the pool train."""
    trainers = range(num_trainer)
    lanes = [
        SimulatedLane(lane=lane_name(index), role=LaneRole.TRAINER if index in trainers else LaneRole.ROLLOUT)
        for index in range(len(costs.lanes))
    ]
    lanes.append(SimulatedLane(lane=reward_lane_name(0), role=LaneRole.REWARD))
    times = published_at(run, lanes, costs.cost_table(trainers))
    return np.diff([0.0, *times.values()]).tolist()


def check_limit(run: Settings, costs: PoolCosts, expected: float, *, num_trainer: int = 1, first: int = 0) -> None:
    """The limit, and each simulated batch from `first` on, take the expected seconds."""
    assert limit_of(run, costs, num_trainer) == pytest.approx(expected)
    assert batch_seconds(run, costs, num_trainer)[first:] == pytest.approx([expected] * (run.num_batches - first))


@settings(max_examples=examples(15, 30))
@given(seed=seeds, advantages=st.sampled_from(["group", "batch"]))
def test_without_gap_a_batch_reaches_its_limit(seed: int, advantages: str) -> None:
    t = durations(seed)
    whole_batch = advantages == "batch"
    run = Settings(algebra=ALGEBRA, gap=whole_batch, whole_batch_advantages=whole_batch)
    training = NUM_EPOCHS * (NUM_GROUPS * t.group + t.commit) + t.publish
    check_limit(run, t.pool(2), t.pull + NUM_GROUPS * t.fragment + t.score + training)


@settings(max_examples=examples(15, 30))
@given(seed=seeds, in_order=st.booleans())
def test_with_gap_a_batch_reaches_its_limit(seed: int, in_order: bool) -> None:
    t = durations(seed)
    later_epochs = (NUM_EPOCHS - 1) * (NUM_GROUPS * t.group + t.commit)
    expected = t.pull + NUM_GROUPS * t.fragment + t.score + t.group + t.commit + later_epochs + t.publish
    check_limit(Settings(algebra=ALGEBRA, deterministic=in_order), t.pool(2), expected)


@settings(max_examples=examples(15, 30))
@given(seed=seeds)
def test_with_gap_and_slow_training_a_batch_reaches_its_limit(seed: int) -> None:
    t = durations(seed, fragment=(0.1, 0.9), group=(2.0, 3.0))
    expected = t.pull + t.fragment + t.score + NUM_EPOCHS * (NUM_GROUPS * t.group + t.commit) + t.publish
    check_limit(Settings(algebra=ALGEBRA), t.pool(2), expected)


@settings(max_examples=examples(15, 30))
@given(seed=seeds)
def test_a_colocated_batch_without_gap_reaches_its_limit(seed: int) -> None:
    """If the last two fragments are scored during the switch back."""
    t = durations(seed)
    t = replace(t, score=0.45 * t.reclaim)
    run = Settings(algebra=ALGEBRA, placement=Placement.COLOCATED, gap=False)
    generation = t.lend + t.pull + NUM_GROUPS / 2 * t.fragment + t.reclaim
    training = NUM_EPOCHS * (NUM_GROUPS / 2 * t.group + t.commit) + t.publish
    check_limit(run, t.pool(2), generation + training, num_trainer=2)


@settings(max_examples=examples(15, 30))
@given(seed=seeds)
def test_a_batch_with_a_lent_lane_reaches_its_limit(seed: int) -> None:
    """One group of two long fragments, of which the rollout lane and the lent lane generate one each. The first one is
    scored before the second is generated."""
    t = durations(seed, fragment=(3.0, 5.0))
    t = replace(t, score=0.9 * t.lend)
    one_group = algebra_of(groups_per_minibatch=1, fragments=(2, 1))
    run = Settings(algebra=one_group, tag=TrainerAssist.GREEDY)
    generation = t.lend + t.pull + t.fragment + max(t.score, t.reclaim)
    check_limit(run, t.pool(2), generation + t.group + t.commit + t.publish)


@settings(max_examples=examples(15, 30))
@given(seed=seeds)
def test_one_batch_ahead_slow_generation_reaches_the_limit(seed: int) -> None:
    t = durations(seed, fragment=(5.0, 9.0))
    run = Settings(algebra=ALGEBRA, max_staleness=1, num_batches=6)
    # The last batch overlaps with no generation, and the first ones with less.
    seconds = batch_seconds(run, t.pool(2), 1)[2:-1]
    assert limit_of(run, t.pool(2), 1) == pytest.approx(t.pull + NUM_GROUPS * t.fragment)
    assert seconds == pytest.approx([t.pull + NUM_GROUPS * t.fragment] * len(seconds))


@settings(max_examples=examples(15, 30))
@given(seed=seeds)
def test_one_batch_ahead_slow_training_reaches_the_limit_and_hides_the_publish(seed: int) -> None:
    t = durations(seed, fragment=(0.1, 0.2), group=(3.0, 5.0))
    run = Settings(algebra=ALGEBRA, max_staleness=1, num_batches=6)
    check_limit(run, t.pool(2), NUM_EPOCHS * (NUM_GROUPS * t.group + t.commit), first=1)


@settings(max_examples=examples(15, 30))
@given(seed=seeds)
def test_one_batch_ahead_a_long_fragment_is_generated_and_trained_within_two_batches(seed: int) -> None:
    t = replace(durations(seed, fragment=(20.0, 30.0)), publish=0.0)
    one_group = algebra_of(groups_per_minibatch=1, fragments=(1, 2))
    run = Settings(algebra=one_group, max_staleness=1, num_batches=8, num_rollout=3)
    two_batches = t.pull + t.fragment + t.score + t.group + t.commit
    assert limit_of(run, t.pool(4), 1) == pytest.approx(two_batches / 2)
    seconds = batch_seconds(run, t.pool(4), 1)
    pairs = [short + long for short, long in zip(seconds[1:-1:2], seconds[2:-1:2], strict=True)]
    assert pairs == pytest.approx([two_batches] * 3)
