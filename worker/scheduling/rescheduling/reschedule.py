"""Schedules a recorded run's work anew, and says how far a replay of what really happened is off.

    RecordedRun ─► reschedule(as it ran)  ─► its seconds against those measured ─► ReplayErrors
                └► reschedule(otherwise)  ─► the prediction, to be believed no further than those errors

The scheduler is that of a real run, on the simulator's clock. Evaluations and checkpoints come after the batches after
which they came. Invariant: measured and replayed seconds are of the same batches, from the same moment to the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import Placement
from worker.contracts.sections import PipelineSpec
from worker.contracts.spans import Span
from worker.scheduling.core.costs import CostKind, CostTable, parse_costs
from worker.scheduling.core.lending import LendingPolicy
from worker.scheduling.core.messages import Event, Fragment, Published, Snapshotted
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy, search_size
from worker.scheduling.profiles.hardware import Accelerator
from worker.scheduling.rescheduling.other_lanes import other_lanes
from worker.scheduling.rescheduling.recorded_run import RecordedRun
from worker.scheduling.simulator.durations import Piece
from worker.scheduling.simulator.simulator import Simulator
from worker.scheduling.timeline.bubble_ledger import BubbleLedger, SpanClass
from worker.scheduling.timeline.span_parts import parts_between

_WARM_UP = 2
"""Batches before the first counted one, where the recording begins amid a run: batches may overlap with the one before,
which is not in it."""
MAX_SEARCH_SIZE = 6_000_000
"""Total size of the forecasts that lending by search may make in one replay, as `Search` counts it: about 5 s of one
core, by the 0.8 µs of `split_simulations`."""


class ReplayTooLong(RuntimeError):
    """The replay takes more than it may; the message says what to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How the run's work is to be scheduled."""

    pipeline: PipelineSpec
    """The switches, with placement resolved."""
    fragment_size: int
    num_rollout: int
    num_trainer: int
    num_reward: int
    device: Accelerator | None = None
    """The device of every lane that generates or trains; `None` for the run's own."""

    @classmethod
    def of(cls, run: RecordedRun) -> "Setting":
        """As it ran."""
        lanes = run.spec.lanes
        return cls(
            pipeline=run.spec.pipeline,
            fragment_size=run.recording.start.algebra.fragment_size,
            num_rollout=0 if run.spec.pipeline.placement is Placement.COLOCATED else lanes.num_rollout,
            num_trainer=len(run.trainers),
            num_reward=len(run.rewards),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When the counted batches ended, and what lanes did until then. Seconds count from the first one's beginning."""

    first_batch: int
    batch_ends: tuple[float, ...]
    spans: Sequence[Span] = ()
    began_at: float = 0.0
    """Where the batches are those of a real run: when the first one began, in Unix seconds."""

    @property
    def seconds(self) -> float:
        return self.batch_ends[-1]

    @property
    def batch_seconds(self) -> tuple[float, ...]:
        return tuple(end - start for start, end in zip((0.0, *self.batch_ends), self.batch_ends, strict=False))

    def lane_seconds(self) -> Mapping[SpanClass, float]:
        """Seconds of all lanes together, by class."""
        ledger = BubbleLedger()
        for span in self.spans:
            ledger.add(span)
        return ledger.seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayErrors:
    """Replayed ÷ measured seconds of the same batches, less 1, under the run's own settings."""

    recorded: float
    """With each piece of work as long as it was."""
    costs: float
    """With each as long as such work takes on average: what a replay knows of work that was never done that way."""


def measured(run: RecordedRun) -> Schedule:
    """The counted batches as they were."""
    record = run.recording
    batches, skipped = record.batches, _num_skipped(run)
    first = batches[0] + skipped
    is_first = first == batches[0] and record.is_from_start
    zero = record.began_at if is_first else record.published.get(first - 1, record.began_at)
    ends = tuple(record.published[batch] - zero for batch in batches[skipped:])
    return Schedule(first_batch=first, batch_ends=ends, began_at=zero)


def errors(run: RecordedRun, own: Schedule) -> ReplayErrors:
    """How far replays under the run's own settings are off; `own` is the one with recorded seconds."""
    truth = measured(run).seconds
    by_costs = reschedule(run, Setting.of(run), as_recorded=False, with_spans=False)
    return ReplayErrors(recorded=own.seconds / truth - 1, costs=by_costs.seconds / truth - 1)


def reschedule(run: RecordedRun, setting: Setting, *, as_recorded: bool = True, with_spans: bool = True) -> Schedule:
    """The schedule of the recorded batches under a setting.

    Args:
        as_recorded: give each piece of work what it took beyond its cost; otherwise all take what such work costs.

    Raises:
        ReplayTooLong: where lending by search has more to forecast than a replay may.
    """
    record = run.recording
    batches, skipped = record.batches, _num_skipped(run)
    there = other_lanes(
        run,
        num_rollout=setting.num_rollout,
        num_trainer=setting.num_trainer,
        num_reward=setting.num_reward,
        device=setting.device,
    )
    policy = lending_policy(setting.pipeline)
    scheduler = _scheduler(run, setting, there.costs, policy)
    published: list[float] = []
    spans: list[Span] = []

    def observe(event: Event, at: float) -> None:
        match event:
            case Published(version):
                published.append(at)
                _evaluate(run, scheduler, batches[0] + len(published), version, at)
            case Snapshotted() if (batch := batches[0] + len(published)) in record.holds:
                simulator.hold_trainers(record.holds[batch], batch, at)

    simulator = Simulator(
        scheduler,
        there.lanes,
        there.costs,
        spans.append if with_spans else None,
        observe=observe,
        has_spread=lambda fragment: _has_spread(run, fragment),
        relative_seconds=run.relative_seconds if as_recorded else _as_it_costs,
    )
    _evaluate(run, scheduler, batches[0], scheduler.state.policy_version, 0.0)
    simulator.run(lambda: len(published) == len(batches) or search_size(policy) > MAX_SEARCH_SIZE)
    if len(published) < len(batches):
        raise ReplayTooLong("lending by search has too much to forecast for this run: choose `tag` `greedy` or `off`")
    zero = published[skipped - 1] if skipped else 0.0
    return Schedule(
        first_batch=batches[0] + skipped,
        batch_ends=tuple(end - zero for end in published[skipped:]),
        spans=parts_between(spans, zero, published[-1]),
    )


def _scheduler(run: RecordedRun, setting: Setting, costs: CostTable, policy: LendingPolicy | None) -> Scheduler:
    """The scheduler of the recorded batches, where lanes cost what `costs` says."""
    start, batches = run.recording.start, run.recording.batches
    return Scheduler(
        _algebra(start.algebra, setting.fragment_size),
        setting.pipeline,
        advantage_std=start.advantage_std,
        first_batch=batches[0],
        # At staleness 1 the next batch begins meanwhile, as it did in the run unless it was the last.
        num_batches=min(batches[-1] + 1 + setting.pipeline.max_staleness, start.num_batches),
        policy_version=run.recording.version_before(batches[0]),
        lending_policy=policy,
        lends_together=start.lends_together,
        equal_counts=start.equal_counts,
        # Its estimates decide who takes what, so a replay of what happened begins with those that the run began with.
        prior=parse_costs(start.prior_costs) if _is_as_it_began(run, setting) else costs,
    )


def _as_it_costs(lane: str, kind: CostKind, piece: Piece) -> float:
    return 1.0


def _num_skipped(run: RecordedRun) -> int:
    """Batches that are simulated and not counted, so that the counted ones begin as they did."""
    return 0 if run.recording.is_from_start else min(_WARM_UP, len(run.recording.batches) - 1)


def _is_as_it_began(run: RecordedRun, setting: Setting) -> bool:
    return run.recording.is_from_start and setting == Setting.of(run)


def _algebra(algebra: BatchAlgebra, fragment_size: int) -> BatchAlgebra:
    return algebra if algebra.fragment_size == fragment_size else algebra.with_fragment_size(fragment_size)


def _evaluate(run: RecordedRun, scheduler: Scheduler, num_complete: int, version: int, at: float) -> None:
    """Request what the run had evaluated, or drawn for a user, after so many complete batches."""
    for asked in run.recording.evaluations:
        if asked.batch == num_complete:
            scheduler.apply(replace(asked, policy_version=version), at)


def _has_spread(run: RecordedRun, fragment: Fragment) -> bool:
    """A draw that the run never made counts as one with spread, as most have."""
    key = fragment.key
    return run.recording.spread.get((key.batch, key.group, fragment.draw), True)
