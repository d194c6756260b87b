"""Predicts a candidate plan by simulation: the scheduler of a real run on the simulator's clock.

Invariant: batches are measured from one publish to a later one while the run still goes on, so that neither the start
nor the end of the run is counted.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from worker.contracts.names import LaneRole
from worker.contracts.sections import PipelineSpec
from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.scheduling.core.messages import Event, Fragment, FragmentKey, Published, Purpose
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.planning.bounds import generation_share, scoring_seconds
from worker.scheduling.planning.cost_estimates import PoolCosts, lane_name, reward_lane_name
from worker.scheduling.planning.workload import Workload
from worker.scheduling.simulator.simulator import SimulatedLane, Simulator
from worker.scheduling.simulator.synthetic_spread import has_synthetic_spread
from worker.scheduling.timeline.bubble_ledger import SpanClass

_NUM_WARM_UP_BATCHES = 1
"""Batches before the first measured one at staleness 0: the first batch waits for lanes to join and pull. Each unit of
staleness adds one, since batches overlap only from then on."""

_NUM_UNLIKE_BATCHES = 4
"""The fewest measured batches where some groups are without spread: of 8 groups at a share of 0.3, the number without
varies by 54 % (standard deviation) from batch to batch, and by half of that over 4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way to use a pool."""

    pipeline: PipelineSpec
    """The switches; placement is resolved."""
    trainers: tuple[int, ...]
    """Indices, in the pool, of the lanes that train; all lanes for colocated placement."""
    fragment_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateResult:
    """The prediction for a candidate."""

    batch_seconds: float
    """Seconds per batch, over the measured time.

    If fewer trajectories were generated, scored or trained in that time than its batches hold, the rest was done
    before, which no run can do forever; so the seconds are divided by the work that was really done. Reward lanes do
    nothing else, so missing scores count only where there are too few reward lanes.
    """
    shares: Mapping[SpanClass, float]
    """By class, the share of the time of generating and training lanes in the measured batches; empty unless asked
    for."""
    mean_staleness: float
    """Batches by which a trained sample is behind, on average."""


def simulate_candidate(
    work: Workload,
    costs: PoolCosts,
    candidate: Candidate,
    *,
    advantage_std: Literal["group", "batch"],
    num_batches: int = 1,
    with_shares: bool = True,
) -> CandidateResult:
    """Simulate `num_batches` measured batches, and those before and after them.

    At staleness 0 all batches are alike, so one is enough; at staleness 1 several take different times, and so do they
    with groups without spread, whose number differs from batch to batch. Without `with_shares` causes of idling are not
    found, which saves time.
    """
    if work.share_without_spread:
        num_batches = max(num_batches, _NUM_UNLIKE_BATCHES)
    if work.algebra.fragment_size != candidate.fragment_size:
        work = work.with_fragment_size(candidate.fragment_size)
    first = _NUM_WARM_UP_BATCHES + candidate.pipeline.max_staleness
    last = first + num_batches
    scheduler = Scheduler(
        work.algebra,
        candidate.pipeline,
        advantage_std=advantage_std,
        first_batch=0,
        num_batches=last + candidate.pipeline.max_staleness,
        policy_version=0,
        prior=costs.cost_table(candidate.trainers),
        lending_policy=lending_policy(candidate.pipeline),
        lends_together=work.zero_stage == 3,
        equal_counts=costs.equal_counts,
    )
    published, spans = _simulated_spans(scheduler, work, costs, candidate, with_idle_causes=with_shares)
    start, end = published[first - 1], published[last - 1]
    algebra, expected_costs = work.algebra, costs.expected(work)
    num_drawn, num_untrained = _num_groups(work, range(first, last))
    generated = min(num_batches, num_batches * _num_generated(spans, start, end) / algebra.group_size / num_drawn)
    trained = min(num_batches, num_untrained + _batches_trained(spans, start, end))
    share = generation_share(algebra, expected_costs)
    least_seconds = scoring_seconds(algebra, costs)
    return CandidateResult(
        batch_seconds=max((end - start) / (share * generated + (1 - share) * trained), least_seconds),
        shares=_shares(spans, start, end) if with_shares else {},
        mean_staleness=_mean_staleness(spans, range(first, last)),
    )


def _simulated_spans(
    scheduler: Scheduler, work: Workload, costs: PoolCosts, candidate: Candidate, *, with_idle_causes: bool
) -> tuple[list[float], list[Span]]:
    """When each batch was published, in virtual seconds, and the spans of all lanes."""
    published: list[float] = []
    spans: list[Span] = []

    def observe(event: Event, at: float) -> None:
        if isinstance(event, Published):
            published.append(at)

    Simulator(
        scheduler,
        work.algebra,
        _lanes(candidate, costs),
        costs.cost_table(candidate.trainers),
        spans.append,
        observe=observe,
        with_idle_causes=with_idle_causes,
        share_without_spread=work.share_without_spread,
    ).run()
    return published, spans


def _num_groups(work: Workload, batches: range) -> tuple[int, int]:
    """How many groups are drawn in these batches, each draw counted, and how many of the batches train on none."""
    algebra, num_drawn, num_untrained = work.algebra, 0, 0
    for batch in batches:
        is_trained = not algebra.filter_groups
        for group in range(algebra.num_groups):
            key = FragmentKey(Purpose.TRAIN, batch, group, 0)
            for draw in range(algebra.max_resamples + 1):
                num_drawn += 1
                if has_synthetic_spread(Fragment(key, (), 0, draw), work.share_without_spread):
                    is_trained = True
                    break
        num_untrained += not is_trained
    return num_drawn, num_untrained


def _lanes(candidate: Candidate, costs: PoolCosts) -> list[SimulatedLane]:
    trainers = set(candidate.trainers)
    pool = [
        SimulatedLane(lane=lane_name(index), role=LaneRole.TRAINER if index in trainers else LaneRole.ROLLOUT)
        for index in range(len(costs.lanes))
    ]
    return pool + [
        SimulatedLane(lane=reward_lane_name(index), role=LaneRole.REWARD) for index in range(costs.num_reward)
    ]


def _shares(spans: list[Span], start: float, end: float) -> dict[SpanClass, float]:
    """By class, the share of the time between `start` and `end` on lanes that generate or train."""
    seconds: dict[tuple[SpanKind, IdleCause | None], float] = {}
    for span in spans:
        inside = min(span.end, end) - max(span.start, start)
        if inside > 0 and not span.lane.startswith(LaneRole.REWARD):
            seconds[span.kind, span.cause] = seconds.get((span.kind, span.cause), 0.0) + inside
    total = sum(seconds.values())
    return {span_class: part / total for span_class, part in seconds.items()}


def _num_generated(spans: list[Span], start: float, end: float) -> float:
    """The number of trajectories generated between `start` and `end`; those under way at either end count in part."""
    generated = (SpanKind.GENERATE, SpanKind.LENT_GENERATE)
    return sum(_units_inside(span, start, end) for span in spans if span.kind in generated)


def _batches_trained(spans: list[Span], start: float, end: float) -> float:
    """The number of batches trained between `start` and `end`, by micro-batches, padding included; those under way at
    either end count in part."""
    trained = [span for span in spans if span.kind is SpanKind.TRAIN and span.num_units]
    num_units = Counter[int | None]()
    for span in trained:
        num_units[span.batch] += span.num_units
    return sum(_units_inside(span, start, end) / num_units[span.batch] for span in trained)


def _units_inside(span: Span, start: float, end: float) -> float:
    """The units of a span that fall between `start` and `end`, if they are evenly spread over it."""
    inside = max(0.0, min(span.end, end) - max(span.start, start))
    return span.num_units * inside / span.seconds if inside else 0.0


def _mean_staleness(spans: list[Span], batches: range) -> float:
    """Batch b is trained on version b, so a sample of version v is b − v behind."""
    behind = [
        (span.batch - span.policy_version, span.num_samples)
        for span in spans
        if span.kind in (SpanKind.GENERATE, SpanKind.LENT_GENERATE)
        and span.batch is not None
        and span.policy_version is not None
        and span.batch in batches
    ]
    return sum(versions * number for versions, number in behind) / sum(number for _, number in behind)
