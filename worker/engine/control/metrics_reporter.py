"""Reports the metrics and pictures of training.

```text
all fragments of a batch scored ─► rewards, suspected reward hacking, pictures
optimizer step                  ─► loss, KL, ratio, clip fraction, gradient norm, learning rate
batch trained                   ─► speeds, staleness, policy version
```

`generate_seconds` and `train_seconds` are lane-seconds: the sum over all lanes of the time they spent so.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.algorithms.base import Algorithm
from worker.contracts.events import GateEvent, MetricsEvent, RewardHackingEvent, StalenessEvent
from worker.contracts.metric_names import Metric
from worker.contracts.replay_bounds import ReplayBounds
from worker.contracts.spans import SpanKind
from worker.engine.control.advantages import AdvantageCache
from worker.engine.control.checkpoint_directory import RunPosition
from worker.engine.control.clocks import DriverClock
from worker.engine.control.fragment_store import FragmentRecord, FragmentStore
from worker.engine.control.sample_reporter import SampleReporter, SampleSet
from worker.engine.control.span_reporter import SpanReporter
from worker.engine.errors import ReplayGateError
from worker.engine.metrics.replay_gate import check_replay_gate, gate_values, rounding_warning
from worker.engine.metrics.reward_hacking import HackingDetector
from worker.engine.metrics.update_metrics import merge_stats, update_metrics
from worker.engine.telemetry.telemetry_client import TelemetryClient
from worker.engine.trainer.learners.open_minibatch import require_complete
from worker.engine.types import UpdateStats
from worker.scheduling.core.messages import Fragment, Purpose
from worker.scheduling.timeline.busy_share import idle_share

logger = logging.getLogger(__name__)

GENERATING = (SpanKind.GENERATE, SpanKind.LENT_GENERATE, SpanKind.DECODE)
"""The spans that count as generating."""


class MetricsReporter:
    """Collects rewards and statistics as events arrive, and keeps the run's position."""

    def __init__(
        self,
        *,
        client: TelemetryClient,
        samples: SampleReporter,
        fragments: FragmentStore,
        advantages: AdvantageCache,
        spans: SpanReporter,
        algebra: BatchAlgebra,
        gate: ReplayBounds | None,
        algorithm: Algorithm,
        clock: DriverClock,
        monitored: Sequence[str] = (),
        ranks_in_step: bool = False,
    ) -> None:
        """
        Args:
            client: receives the events.
            samples: reports the pictures.
            fragments: the scored fragments of the open batches.
            advantages: their advantages.
            spans: where the lanes' seconds are read.
            algebra: the run's.
            gate: bounds of the replay gate; `None` for algorithms that replay nothing.
            algorithm: the run's, to tell rounding from updates.
            clock: driver time.
            monitored: keys of the rewards that are measured but not optimised.
            ranks_in_step: whether ranks make equally many passes, so that some may have weight 0 in any batch.
        """
        self._client = client
        self._samples = samples
        self._fragments = fragments
        self._advantages = advantages
        self._spans = spans
        self._algebra = algebra
        self._gate = gate
        self._algorithm = algorithm
        self._has_warned_of_rounding = False
        """Once is enough: what rounds in one batch rounds in all."""
        self._clock = clock
        self._hacking = HackingDetector(monitored)
        self._open_stats: list[UpdateStats] = []
        """The statistics of the open mini-batch."""
        self._num_scored: Counter[int] = Counter()
        """By batch: the number of its trajectories that are scored, those of dropped draws left out."""
        self._num_resampled: Counter[int] = Counter()
        """By batch: the number of draws that were dropped, because the group had no spread."""
        self._num_steps = 0
        """The number of optimizer steps taken on the batch being trained."""
        self._ranks_in_step = ranks_in_step
        self._padding_seconds = 0.0
        """Lane-seconds of passes of weight 0 since the previous batch was trained."""
        self._batch_began = clock.now()
        """Driver time when the previous batch was trained."""
        self.position = RunPosition()
        """The run's progress. Its version may still be publishing, while lanes generate with the one before."""

    def begin(self, position: RunPosition) -> None:
        """Start from `position`, at first and after every rewind."""
        self.position = position
        self._open_stats.clear()
        self._num_scored.clear()
        self._num_resampled.clear()
        self._num_steps = 0
        self._padding_seconds = 0.0
        self._hacking.clear()
        self._batch_began = self._clock.now()

    def resampled(self, fragment: Fragment) -> None:
        """Count a draw whose last fragment was scored and whose group is drawn again."""
        batch = fragment.key.batch
        self._num_resampled[batch] += 1
        self._num_scored[batch] -= self._algebra.group_size - len(fragment.members)

    def scored(self, fragment: Fragment) -> None:
        """Count a scored fragment; report rewards and pictures of its batch when it was the last one."""
        batch = fragment.key.batch
        self._num_scored[batch] += len(fragment.members)
        if self._num_scored[batch] < self._algebra.num_trajectories:
            return
        del self._num_scored[batch]
        records = self._fragments.of_batch(Purpose.TRAIN, batch)
        means = reward_metrics(records)
        self._report(
            batch, means | failure_metrics(records) | self._spread_metrics(batch) | self._hacking_metrics(batch, means)
        )
        advantages = {
            (record.fragment.key.group, member): self._advantages.of_group(batch, record.fragment.key.group).advantages[
                member
            ]
            for record in records
            for member in record.fragment.members
        }
        sample_set = SampleSet(
            purpose="train",
            batch=batch + 1,
            policy_version=records[0].fragment.policy_version,
            trainer_version=self.position.version_at(batch),
            folder=f"train/{batch + 1:06d}",
        )
        self._samples.report(sample_set, records, advantages)

    def _hacking_metrics(self, batch: int, means: dict[str, float]) -> dict[str, float]:
        """1 while reward hacking is suspected, else 0; the evidence is reported whenever that changes."""
        if not self._hacking.monitored:
            return {}
        for finding in self._hacking.add(means):
            self._client.emit(RewardHackingEvent, batch=batch + 1, **asdict(finding))
        return {Metric.REWARD_HACKING: float(self._hacking.is_suspected)}

    def accumulated(self, stats: UpdateStats, *, padding_seconds: float = 0.0) -> None:
        """Add one rank's statistics of one accumulation to the open mini-batch, and the seconds of it that went into
        passes of weight 0."""
        self._open_stats.append(stats)
        self._padding_seconds += padding_seconds

    def require_complete(self, num_skipped_groups: int) -> None:
        """Raise `MinibatchError` unless the ranks have trained every pair of the open mini-batch, each once, but for
        those of `num_skipped_groups` groups."""
        algebra, num_pairs = self._algebra, merge_stats(self._open_stats).num_pairs
        require_complete(algebra, num_pairs, algebra.num_pairs_per_optimizer_step, num_skipped_groups)

    def check_gate(self, batch: int) -> None:
        """Check the replay gate on the open mini-batch, which must be the batch's first, and warn once where rounding
        matters to the algorithm. Raises `ReplayGateError`."""
        if self._gate is None:
            return
        stats = merge_stats(self._open_stats)
        self._warn_of_rounding(stats, batch)
        try:
            values = check_replay_gate(stats, self._gate)
        except ReplayGateError:
            self._client.emit(GateEvent, gate="replay", batch=batch + 1, passed=False, values=gate_values(stats))
            raise
        self._client.emit(GateEvent, gate="replay", batch=batch + 1, passed=True, values=values)

    def _warn_of_rounding(self, stats: UpdateStats, batch: int) -> None:
        """Only of data that the trained weights have generated: ratios of stale data are not 1."""
        is_stale = self._fragments.version_of(batch) < self.position.version_at(batch)
        if self._has_warned_of_rounding or is_stale:
            return
        if warning := rounding_warning(stats, self._algorithm):
            self._has_warned_of_rounding = True
            logger.warning("batch %d: %s", batch + 1, warning)

    def committed(self, batch: int, step_metrics: dict[str, float]) -> None:
        """Report an optimizer step; `step_metrics` are `grad_norm` and `learning_rate` from rank 0."""
        self.position = replace(self.position, optimizer_step=self.position.optimizer_step + 1)
        self._num_steps += 1
        values = update_metrics(merge_stats(self._open_stats))
        values[Metric.GRAD_NORM] = step_metrics["grad_norm"]
        values[Metric.LEARNING_RATE] = step_metrics["learning_rate"]
        self._open_stats.clear()
        self._report(batch, values)

    def trained(self, batch: int, policy_version: int) -> None:
        """Report speeds and staleness of a batch whose last optimizer step gave the weights of `policy_version`."""
        records = self._fragments.of_batch(Purpose.TRAIN, batch)
        counts: dict[int, int] = {}
        for record in records:
            staleness = self.position.policy_version - record.fragment.policy_version
            counts[staleness] = counts.get(staleness, 0) + len(record.fragment.members)
        self._client.emit(StalenessEvent, batch=batch + 1, counts=counts)
        self.position = RunPosition(
            batch=batch + 1, policy_version=policy_version, optimizer_step=self.position.optimizer_step
        )
        values = self._speeds() | staleness_metrics(counts) | {Metric.POLICY_VERSION: float(policy_version)}
        self._report(batch, values | self._skipped_steps() | self._padding())

    def _skipped_steps(self) -> dict[str, float]:
        """The number of optimizer steps that the batch trained now was short of; nothing where none is ever skipped."""
        num_skipped, self._num_steps = self._algebra.num_optimizer_steps_per_batch - self._num_steps, 0
        return {Metric.SKIPPED_OPTIMIZER_STEPS: float(num_skipped)} if self._algebra.filter_groups else {}

    def _padding(self) -> dict[str, float]:
        """What passes of weight 0 took of the batch trained now; nothing where ranks are not in step and make none."""
        seconds, self._padding_seconds = self._padding_seconds, 0.0
        return {Metric.PADDING_SECONDS: seconds} if self._ranks_in_step else {}

    def _speeds(self) -> dict[str, float]:
        """Batch time, throughput and lane-seconds since the previous batch was trained."""
        now = self._clock.now()
        seconds, self._batch_began = now - self._batch_began, now
        spent = self._spans.take_seconds()
        return {
            Metric.BATCH_SECONDS: seconds,
            Metric.IMAGES_PER_SECOND: self._algebra.num_trajectories / seconds,
            Metric.GENERATE_SECONDS: sum(spent.get(kind, 0.0) for kind in GENERATING),
            Metric.TRAIN_SECONDS: spent.get(SpanKind.TRAIN, 0.0),
            Metric.IDLE_SHARE: idle_share(spent),
        }

    def _spread_metrics(self, batch: int) -> dict[str, float]:
        """The share of the batch's groups without spread, and where groups are drawn again, how many draws were
        dropped."""
        groups, num_resampled = self._advantages.of_batch(batch), self._num_resampled.pop(batch, 0)
        values: dict[str, float] = {Metric.ZERO_STD_GROUPS: sum(group.zero_std for group in groups) / len(groups)}
        return values | ({Metric.RESAMPLED_GROUPS: float(num_resampled)} if self._algebra.max_resamples else {})

    def _report(self, batch: int, values: dict[str, float]) -> None:
        self._client.emit(MetricsEvent, batch=batch + 1, optimizer_step=self.position.optimizer_step, values=values)


def reward_metrics(records: Sequence[FragmentRecord]) -> dict[str, float]:
    """Mean and standard deviation over all rewarded trajectories of scored records, and the mean of each reward."""
    rewards = [
        reward
        for record in records
        if record.scored is not None
        for index, reward in enumerate(record.scored.rewards)
        if index not in record.scored.unrewarded
    ]
    values = {}
    if rewards:
        values = {Metric.REWARD_MEAN.value: float(np.mean(rewards)), Metric.REWARD_STD.value: float(np.std(rewards))}
    return values | part_means(records, Metric.REWARD_PART)


def failure_metrics(records: Sequence[FragmentRecord]) -> dict[str, float]:
    """The numbers of missing scores and of repeated calls of each reward, as far as they are above 0."""
    counts: Counter[str] = Counter()
    for record in records:
        if record.scored is not None:
            for name, part in record.scored.parts.items():
                counts[Metric.REWARD_MISSING.format(name=name)] += part.count(None)
            for name, num_retries in record.scored.num_retries.items():
                counts[Metric.REWARD_RETRIES.format(name=name)] += num_retries
    return {key: float(count) for key, count in counts.items() if count}


def part_means(records: Sequence[FragmentRecord], template: str) -> dict[str, float]:
    """Mean of each reward over the samples that have it, keyed by `template.format(name=...)`."""
    values: dict[str, list[float]] = {}
    for record in records:
        if record.scored is not None:
            for name, scores in record.scored.parts.items():
                values.setdefault(name, []).extend(score for score in scores if score is not None)
    return {template.format(name=name): float(np.mean(scores)) for name, scores in values.items() if scores}


def staleness_metrics(counts: dict[int, int]) -> dict[str, float]:
    """Mean and maximum of a staleness histogram."""
    num_samples = sum(counts.values())
    mean = sum(staleness * count for staleness, count in counts.items()) / num_samples
    return {Metric.STALENESS_MEAN: mean, Metric.STALENESS_MAX: float(max(counts))}
