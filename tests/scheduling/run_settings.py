"""The settings of a test run, and what follows from them before it begins: its scheduler, its rewards, which groups are
drawn again or skipped."""

from dataclasses import dataclass
from typing import Literal

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import Placement, TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.costs import CostTable
from worker.scheduling.core.lending import LendingPolicy
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.simulator.synthetic_spread import has_synthetic_spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a test run: switches, length, lanes, disturbances."""

    algebra: BatchAlgebra
    placement: Placement = Placement.DISAGGREGATED
    gap: bool = True
    tag: TrainerAssist = TrainerAssist.OFF
    max_staleness: int = 0
    deterministic: bool = False
    whole_batch_advantages: bool = False
    lends_together: bool = False
    equal_counts: bool = False
    tsp: bool = True
    version_of_batch_0: int = 10
    """The version of batch 0 at staleness 0; not 0, so that versions cannot be mistaken for batch numbers."""
    first_batch: int = 0
    first_batch_is_stale: bool = False
    """The run was resumed, and its first batch had begun on the version before."""
    num_batches: int = 2
    num_rollout: int = 2
    num_reward: int = 1
    num_trainer: int = 1
    share_without_spread: float = 0.0
    """Share of draws of training groups without spread."""
    disturbance: float = 0.0
    """Probability, in each iteration, that a lane is lost or joins, the run is paused or resumed, samples are
    requested, or the trainer is reserved."""

    @property
    def is_colocated(self) -> bool:
        return self.placement is Placement.COLOCATED

    @property
    def waits_for_whole_batch(self) -> bool:
        """Whether no group is trained before every group of the batch is scored."""
        in_step = self.is_colocated and self.equal_counts
        return self.whole_batch_advantages or in_step or not self.gap

    @property
    def first_version(self) -> int:
        """The version published when the run begins."""
        return self.first_batch + self.version_of_batch_0

    @property
    def first_batch_version(self) -> int:
        return self.first_version - self.first_batch_is_stale

    @property
    def pipeline(self) -> PipelineSpec:
        return PipelineSpec.model_validate(
            {
                "placement": self.placement,
                "gap": self.gap,
                "tsp": self.tsp,
                "tag": self.tag,
                "max_staleness": self.max_staleness,
                "deterministic": self.deterministic,
            }
        )

    @property
    def advantage_std(self) -> Literal["group", "batch"]:
        return "batch" if self.whole_batch_advantages else "group"

    def scheduler(self, *, policy: LendingPolicy | None = None, prior: CostTable | None = None) -> Scheduler:
        """The run's scheduler, with the lending policy of its switches unless another one is given."""
        return Scheduler(
            self.algebra,
            self.pipeline,
            lending_policy=policy or lending_policy(self.pipeline),
            prior=prior,
            advantage_std=self.advantage_std,
            first_batch=self.first_batch,
            num_batches=self.num_batches,
            policy_version=self.first_version,
            first_batch_version=self.first_batch_version,
            lends_together=self.lends_together,
            equal_counts=self.equal_counts,
        )


def reward_of(key: FragmentKey, member: int) -> float:
    """A reward that is different for every sample."""
    return 1000.0 * key.batch + 10.0 * key.group + member


def kept_draw(run: Settings, batch: int, group: int) -> Fragment:
    """A fragment of the draw of a group that is kept: its first with spread, or the last one allowed."""
    draws = [
        Fragment(FragmentKey(Purpose.TRAIN, batch, group, 0), (), 0, draw)
        for draw in range(run.algebra.max_resamples + 1)
    ]
    return next((each for each in draws if has_synthetic_spread(each, run.share_without_spread)), draws[-1])


def skipped_groups(run: Settings, batch: int) -> set[int]:
    """The groups of a batch that no epoch trains on."""
    if not run.algebra.filter_groups:
        return set()
    kept = {group: kept_draw(run, batch, group) for group in range(run.algebra.num_groups)}
    return {group for group, each in kept.items() if not has_synthetic_spread(each, run.share_without_spread)}
