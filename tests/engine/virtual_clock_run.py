"""A whole run in one process: the scheduler on the simulator's clock, and real engines that do the work of each event.

The virtual clock makes any order of arrival possible without waiting; trajectories, gradients and weights are real.
"""

import random
from dataclasses import dataclass, field

from tests.engine.sharing_embeddings import load_sampler, trainer_rank
from worker.contracts.names import LaneRole, Placement
from worker.contracts.run_spec import RunSpec
from worker.engine.advantage.group import group_advantages
from worker.engine.metrics.replay_gate import check_replay_gate
from worker.engine.metrics.update_metrics import merge_stats
from worker.engine.rollout.sampler import Sampler
from worker.engine.types import (
    GeneratedFragment,
    GenerationRequest,
    GroupBatch,
    PublishedVersion,
    UpdateStats,
)
from worker.scheduling.core.costs import GANG, Cost, CostKind, CostTable
from worker.scheduling.core.messages import (
    Accumulated,
    Committed,
    Event,
    Fragment,
    FragmentKey,
    Generated,
    Pulled,
    Purpose,
    Snapshotted,
    Switched,
)
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.simulator.simulated_lanes import SimulatedLane
from worker.scheduling.simulator.simulator import Simulator

TRAINER = "trainer-0"
"""The one trainer lane."""


@dataclass
class VirtualClockRun:
    """A run on one trainer rank."""

    spec: RunSpec
    path: str
    """Folder of the base model."""
    seed: int = 0
    """Seed of all durations, on which no trained weight may depend."""
    num_rollout: int = 2
    versions: list[str] = field(default_factory=list)
    """[policy version]: the checksum of its weights."""
    staleness: dict[int, int] = field(default_factory=dict)
    """By batch: the trainer's version less that of the batch's trajectories."""
    generated_by: dict[FragmentKey, str] = field(default_factory=dict)
    """By training fragment: the lane that generated it."""

    def __post_init__(self) -> None:
        self._trainer = trainer_rank(self.spec, self.path)
        is_colocated = self.spec.pipeline.placement is Placement.COLOCATED
        self._rollouts: dict[str, Sampler] = {}
        for index in range(0 if is_colocated else self.num_rollout):
            self._rollouts[f"rollout-{index}"] = load_sampler(self.spec, self.path)
        if self._trainer.sampler is not None:
            self._rollouts[TRAINER] = self._trainer.sampler
        self._adapters: dict[int, PublishedVersion] = {}
        self._made: dict[FragmentKey, GeneratedFragment] = {}
        self._stats: list[UpdateStats] = []
        self._publish(0)

    def run(self) -> None:
        algebra = self.spec.algebra
        scheduler = Scheduler(
            algebra,
            self.spec.pipeline,
            advantage_std="group",
            first_batch=0,
            lending_policy=lending_policy(self.spec.pipeline),
            num_batches=self.spec.num_batches,
            policy_version=0,
        )
        names = [*(name for name in self._rollouts if name != TRAINER), TRAINER, "reward-0"]
        lanes = [SimulatedLane(lane=name, role=LaneRole(name.partition("-")[0])) for name in names]
        rng = random.Random(self.seed)
        Simulator(
            scheduler,
            lanes,
            _costs(names),
            emit=lambda span: None,
            vary=lambda seconds: seconds * rng.uniform(0.2, 3.0),
            observe=lambda event, at: self._done(event),
        ).run()

    def _done(self, event: Event) -> None:
        match event:
            case Pulled(lane, version):
                self._rollouts[lane].pull(self._adapters[version])
            case Switched(_, to):
                self._trainer.switch(to)
            case Generated(lane, keys):
                for key in keys:
                    self._generate(lane, key)
            case Accumulated():
                self._accumulate(event)
            case Committed(_, minibatch, epoch):
                if minibatch == epoch == 0:
                    check_replay_gate(merge_stats(self._stats), self.spec.replay_bounds)
                self._stats.clear()
                self._trainer.commit()
            case Snapshotted(version):
                self._publish(version)

    def _publish(self, version: int) -> None:
        self._adapters[version] = self._trainer.version(version)
        self.versions.append(self._adapters[version].sha256)

    def _generate(self, lane: str, key: FragmentKey) -> None:
        size = self.spec.algebra.fragment_size
        engine = self._rollouts[lane]
        assert engine.policy_version is not None
        fragment = Fragment(key, tuple(range(key.index * size, (key.index + 1) * size)), engine.policy_version)
        prompt = self.spec.prompts.inline[key.group]
        request = GenerationRequest(fragment=fragment, prompt=prompt, run_seed=self.spec.seed, prompt_index=key.group)
        self._made[key] = engine.generate(request)
        self.generated_by[key] = lane

    def _accumulate(self, event: Accumulated) -> None:
        groups = [self._group(event.batch, group) for group in sorted({key.group for key in event.micro_batches})]
        version = groups[0].trajectories[0].fragment.policy_version
        self.staleness[event.batch] = event.batch - version

        self._stats.append(
            self._trainer.accumulate(
                groups,
                event.micro_batches,
                num_pairs_total=self.spec.algebra.num_pairs_per_optimizer_step,
                fresh=event.minibatch == event.epoch == 0,
                staleness=event.batch - version,
                behaviour=self._adapters[version],
            )
        )

    def _group(self, batch: int, group: int) -> GroupBatch:
        keys = sorted(key for key in self._made if (key.purpose, key.batch, key.group) == (Purpose.TRAIN, batch, group))
        made = [self._made[key] for key in keys]
        rewards = [float(image.mean()) for fragment in made for image in fragment.images]
        return GroupBatch(
            batch=batch,
            group=group,
            trajectories=tuple(fragment.trajectories for fragment in made if fragment.trajectories is not None),
            advantages=group_advantages(rewards, clip=self.spec.algorithm.advantage_clip).advantages,
        )


def _costs(lanes: list[str]) -> CostTable:
    """Costs with which training takes about as long as generating, so that events come in every order."""
    costs = {(lane, CostKind.GENERATE): Cost(0.0, 1.0) for lane in lanes}
    costs |= {(lane, CostKind.SCORE): Cost(0.0, 0.2) for lane in lanes}
    costs |= {(lane, kind): Cost(0.1) for lane in lanes for kind in (CostKind.PULL, CostKind.LEND, CostKind.RECLAIM)}
    return costs | {
        (TRAINER, CostKind.ACCUMULATE): Cost(0.0, 1.0),
        (GANG, CostKind.COMMIT): Cost(0.1),
        (GANG, CostKind.SNAPSHOT): Cost(0.1),
        (GANG, CostKind.PUBLISH): Cost(0.5),
    }
