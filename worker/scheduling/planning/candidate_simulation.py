"""Plays a plan before anybody runs it: the real scheduler on the simulator's clock, one candidate at a time.

Invariant: a simulation of a candidate measures batches from one publish to a later one, with the run still going on
behind the last, so that neither the start nor the end of the run is counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from worker.contracts.names import LaneRole
from worker.contracts.sections import PipelineSpec
from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.scheduling.core.messages import Event, Published
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.planning.bounds import generation_share, scoring_seconds
from worker.scheduling.planning.cost_estimates import PoolCosts, lane_name
from worker.scheduling.planning.workload import Workload
from worker.scheduling.simulator.simulator import SimulatedLane, Simulator
from worker.scheduling.timeline.bubble_ledger import SpanClass

_FIRST_MEASURED = 1
"""Batches that only bring the pipeline up to its pace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way to use a pool."""

    pipeline: PipelineSpec
    """Its placement is resolved."""
    trainers: tuple[int, ...]
    """Places in the pool of the lanes that train; all of them for colocated placement."""
    fragment_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateResult:
    """What came of a candidate."""

    batch_seconds: float
    """For each batch published in the time measured. Where less was generated, scored or trained meanwhile, the stock
    of the batch ahead shrank, which cannot go on: then what is missing is added, by the work in it. Reward lanes do
    nothing else, so what they miss counts only where there are too few of them."""
    shares: Mapping[SpanClass, float]
    """Of the time of generating and training lanes, over the batches measured; empty where nobody asked."""
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
    """Simulate as many batches as are to be measured, and those around them.

    Staleness 0 repeats itself batch by batch, so one is enough; running ahead takes some to settle. Without
    `with_shares` nothing is found out about idling.
    """
    if work.algebra.fragment_size != candidate.fragment_size:
        work = work.with_fragment_size(candidate.fragment_size)
    first = _FIRST_MEASURED + candidate.pipeline.max_staleness
    last = first + num_batches
    scheduler = Scheduler(
        work.algebra,
        candidate.pipeline,
        advantage_std=advantage_std,
        first_batch=0,
        num_batches=last + candidate.pipeline.max_staleness,
        policy_version=0,
        prior=costs.table(candidate.trainers),
        lending_policy=lending_policy(candidate.pipeline),
        lends_together=work.zero_stage == 3,
    )
    published, spans = _simulated_spans(scheduler, work, costs, candidate, with_idle_causes=with_shares)
    start, end = published[first - 1], published[last - 1]
    algebra = work.algebra
    generated = min(num_batches, _num_generated(spans, start, end) / algebra.num_trajectories)
    trained = min(num_batches, _num_trained(spans, start, end) / algebra.num_trajectories / algebra.num_epochs)
    share = generation_share(algebra, costs)
    return CandidateResult(
        batch_seconds=max((end - start) / (share * generated + (1 - share) * trained), scoring_seconds(algebra, costs)),
        shares=_shares(spans, start, end) if with_shares else {},
        mean_staleness=_mean_staleness(spans, range(first, last)),
    )


def _simulated_spans(
    scheduler: Scheduler, work: Workload, costs: PoolCosts, candidate: Candidate, *, with_idle_causes: bool
) -> tuple[list[float], list[Span]]:
    """When each batch was published, and what all lanes did."""
    published: list[float] = []
    spans: list[Span] = []

    def observe(event: Event, at: float) -> None:
        if isinstance(event, Published):
            published.append(at)

    Simulator(
        scheduler,
        work.algebra,
        _lanes(candidate, costs),
        costs.table(candidate.trainers),
        spans.append,
        tsp=candidate.pipeline.tsp,
        observe=observe,
        with_idle_causes=with_idle_causes,
    ).run()
    return published, spans


def _lanes(candidate: Candidate, costs: PoolCosts) -> list[SimulatedLane]:
    trains = set(candidate.trainers)
    pool = [
        SimulatedLane(lane=lane_name(place), role=LaneRole.TRAINER if place in trains else LaneRole.ROLLOUT)
        for place in range(len(costs.lanes))
    ]
    return pool + [SimulatedLane(lane=f"reward-{index}", role=LaneRole.REWARD) for index in range(costs.num_reward)]


def _shares(spans: list[Span], start: float, end: float) -> dict[SpanClass, float]:
    """By class, of what lies between `start` and `end` on lanes that generate or train."""
    seconds: dict[tuple[SpanKind, IdleCause | None], float] = {}
    for span in spans:
        inside = min(span.end, end) - max(span.start, start)
        if inside > 0 and not span.lane.startswith(LaneRole.REWARD):
            seconds[span.kind, span.cause] = seconds.get((span.kind, span.cause), 0.0) + inside
    total = sum(seconds.values())
    return {span_class: part / total for span_class, part in seconds.items()}


def _num_generated(spans: list[Span], start: float, end: float) -> float:
    """Trajectories, those under way at either end in part."""
    return sum(_inside(span, start, end) for span in spans if span.kind in (SpanKind.GENERATE, SpanKind.LENT_GENERATE))


def _num_trained(spans: list[Span], start: float, end: float) -> float:
    """Trajectories, once for each epoch. Ranks go in step, so one of them tells."""
    trained = [span for span in spans if span.kind is SpanKind.TRAIN]
    return sum(_inside(span, start, end) for span in trained if span.lane == trained[0].lane)


def _inside(span: Span, start: float, end: float) -> float:
    """The samples of a span that lie between `start` and `end`, one after the other."""
    inside = max(0.0, min(span.end, end) - max(span.start, start))
    return span.num_samples * inside / span.seconds


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
