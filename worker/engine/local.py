"""A complete RL run in one process, without Ray, web or scheduler, to read the engine and to debug it.

```text
prompts ─► generate ─► score ─► advantages ─► for each epoch and mini-batch: accumulate ─► [replay gate] ─► commit
              ▲                                                                                              │
              └───────────────────────── pull the next policy version ◄── publish ◄──────────────────────────┘
```

    python -m worker.engine.local deploy/presets/shapes-quick.yaml --model deploy/models/shapes

It calls the same classes as the lanes of a cluster, with the same seeds, so at staleness 0 it trains on the same
samples as any run of the spec. At `max_staleness` 1 every batch but the first is drawn by the version before, which is
the most that lanes ever fall behind. Other settings of how lanes share the work (`pipeline`, `lanes`) are ignored.
"""

import argparse
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np
import yaml

from worker.contracts.metric_names import Metric
from worker.contracts.prompts import Prompt, prompt_of_line
from worker.contracts.run_spec import RunSpec
from worker.contracts.scorer_access import NO_ACCESS, ScorerAccess
from worker.engine.advantage.mixed import GroupScores, has_spread, mixed_advantages
from worker.engine.control.prompt_schedule import PromptSchedule
from worker.engine.metrics.replay_gate import check_replay_gate, rounding_warning
from worker.engine.metrics.update_metrics import update_metrics
from worker.engine.models.prompt_encoding import run_embeddings
from worker.engine.reward.scored_run import ScoredRun
from worker.engine.reward.scorer import Scorer
from worker.engine.rollout.sampler import Sampler
from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero.process_group import destroy_process_group, free_port, init_process_group
from worker.engine.types import (
    GeneratedFragment,
    GenerationRequest,
    GroupBatch,
    PublishedVersion,
    ScoredFragment,
    UpdateStats,
)
from worker.scheduling.core.fragment_queue import split_into_fragments
from worker.scheduling.core.messages import Fragment, Purpose
from worker.scheduling.core.rules import is_resampled

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ScoredGroup:
    """All trajectories of one prompt, fragment by fragment in member order, and their rewards."""

    generated: tuple[GeneratedFragment, ...]
    scored: tuple[ScoredFragment, ...]

    @property
    def rewards(self) -> list[float]:
        """The weighted reward of each member."""
        return [reward for fragment in self.scored for reward in fragment.rewards]

    def scores(self, key: str) -> list[float | None]:
        """One reward's score of each member; `None` where it could not be scored."""
        return [score for fragment in self.scored for score in fragment.parts[key]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """The samples and metrics of one batch."""

    groups: tuple[ScoredGroup, ...]
    metrics: dict[str, float]
    """By metric name: means over the last optimizer step, and the mean reward over the batch."""

    @property
    def mean_reward(self) -> float:
        """The mean reward over all trajectories of the batch."""
        return self.metrics[Metric.REWARD_MEAN]


class LocalRun:
    """A sampler, a scorer and a trainer rank, called one after the other. Needs a process group of one rank, see
    `init_process_group`."""

    def __init__(
        self, spec: RunSpec, base_model_path: str, prompts: Sequence[Prompt] = (), *, access: ScorerAccess = NO_ACCESS
    ) -> None:
        """Load the model twice, to sample and to train.

        Args:
            spec: the run's.
            base_model_path: an existing folder in diffusers layout, or a hub id.
            prompts: the prompts of the uploaded set, where the spec names one.
            access: for remote scorers, whose hosts must be public otherwise.

        Raises:
            ModelLoadError: for weights, sizes or LoRA targets that cannot be used.
            ValueError: where there are fewer prompts than a batch needs.
        """
        prompts = prompts or spec.prompts.inline
        self.spec, self._prompts = spec, PromptSchedule(spec, prompts)
        embeddings = run_embeddings(spec, base_model_path, prompts)
        self.trainer = TrainerRank(spec, base_model_path, rank=0, world_size=1, embeddings=embeddings)
        self.sampler = Sampler.load(spec, base_model_path, embeddings=embeddings)
        self.scorer = Scorer(spec.rewards, access, ScoredRun(spec))
        self.policy_version = 0
        self._versions: dict[int, PublishedVersion] = {0: self.trainer.version(0)}
        """The current version, and at staleness 1 the one before it, by policy version."""

    def train_batch(self) -> BatchResult:
        """Generate, score and train the next batch, and pull the version that draws the one after it.

        Raises:
            ReplayGateError: when replay does not reproduce sampling.
            NonFiniteError: for a reward, loss or gradient that is NaN or infinite.
        """
        batch, behaviour = self.policy_version, self._drawing_version
        groups = self._draw(Purpose.TRAIN, batch, behaviour, self.spec.algebra.num_groups, self.spec.batch.group_size)
        skips = self.spec.batch.filter_groups
        skipped = frozenset(index for index, group in enumerate(groups) if skips and not self._has_spread(group))
        given = [self._with_advantages(batch, groups, index) for index in range(len(groups))]
        metrics = self._train(given, skipped, behaviour)
        self.policy_version += 1
        self._versions[self.policy_version] = self.trainer.version(self.policy_version)
        oldest = self.policy_version - self.spec.pipeline.max_staleness
        self._versions = {number: version for number, version in self._versions.items() if number >= oldest}
        self._pull(self._drawing_version)
        metrics[Metric.REWARD_MEAN] = float(np.mean([group.rewards for group in groups]))
        return BatchResult(groups=groups, metrics=metrics)

    def evaluate(self) -> tuple[ScoredGroup, ...]:
        """Held-out samples of the current version, denoised deterministically: one group for each evaluation prompt."""
        num_groups, group_size = len(self._prompts.held_out), self.spec.evaluation.num_samples_per_prompt
        version = self._versions[self.policy_version]
        return self._draw(Purpose.EVALUATE, self.policy_version, version, num_groups, group_size)

    # --- generate and score -----------------------------------------------------------------------------------------

    def _draw(
        self, purpose: Purpose, batch: int, version: PublishedVersion, num_groups: int, group_size: int
    ) -> tuple[ScoredGroup, ...]:
        """Generate and score all groups of a batch or an evaluation with `version`, fragment by fragment; a group to
        train on that has no spread is drawn again."""
        self._pull(version)
        fragments = split_into_fragments(
            purpose=purpose,
            batch=batch,
            num_groups=num_groups,
            group_size=group_size,
            fragment_size=self.spec.algebra.fragment_size,
            policy_version=version.policy_version,
        )
        of_groups = groupby(fragments, key=lambda fragment: fragment.key.group)
        return tuple(self._draw_group(list(of_group)) for _, of_group in of_groups)

    def _draw_group(self, fragments: Sequence[Fragment], draw: int = 0) -> ScoredGroup:
        drawn = [self._draw_fragment(replace(fragment, draw=draw)) for fragment in fragments]
        group = ScoredGroup(*zip(*drawn, strict=True))
        max_resamples = self.spec.batch.max_resamples if fragments[0].key.purpose is Purpose.TRAIN else 0
        if is_resampled(has_spread=self._has_spread(group), draw=draw, max_resamples=max_resamples):
            return self._draw_group(fragments, draw + 1)
        return group

    @property
    def _drawing_version(self) -> PublishedVersion:
        """The version that draws the next batch: the oldest that is kept."""
        return self._versions[min(self._versions)]

    def _pull(self, version: PublishedVersion) -> None:
        """Bind `version` to generate with, unless it is bound."""
        if self.sampler.policy_version != version.policy_version:
            self.sampler.pull(version)

    def _draw_fragment(self, fragment: Fragment) -> tuple[GeneratedFragment, ScoredFragment]:
        index, prompt = self._prompts.find(fragment.key)
        request = GenerationRequest(fragment=fragment, prompt=prompt, run_seed=self.spec.seed, prompt_index=index)
        generated = self.sampler.generate(request)  # images: (N, H, W, 3) uint8, trajectories: what training needs
        return generated, self.scorer.score(fragment, prompt, generated.images)

    # --- advantages and training ------------------------------------------------------------------------------------

    def _scores(self, group: ScoredGroup) -> GroupScores:
        return {reward.key: group.scores(reward.key) for reward in self.spec.trained_rewards}

    def _has_spread(self, group: ScoredGroup) -> bool:
        weights = {reward.key: reward.weight for reward in self.spec.trained_rewards}
        return has_spread(self._scores(group), weights, mixing=self.spec.reward_mixing)

    def _with_advantages(self, batch: int, groups: Sequence[ScoredGroup], index: int) -> GroupBatch:
        """Group `index` with its advantages, whose standard deviation is the group's or the whole batch's."""
        weights = {reward.key: reward.weight for reward in self.spec.trained_rewards}
        over_batch = self.spec.algorithm.advantage_std == "batch"
        normalised = groups if over_batch else groups[index : index + 1]
        advantages = mixed_advantages(
            [self._scores(group) for group in normalised],
            weights,
            mixing=self.spec.reward_mixing,
            clip=self.spec.algorithm.advantage_clip,
            over_batch=over_batch,
        )
        trajectories = [each.trajectories for each in groups[index].generated if each.trajectories is not None]
        return GroupBatch(
            batch=batch,
            group=index,
            trajectories=tuple(trajectories),
            advantages=advantages[index if over_batch else 0].advantages,
        )

    def _train(
        self, groups: Sequence[GroupBatch], skipped: frozenset[int], behaviour: PublishedVersion
    ) -> dict[str, float]:
        """Take one optimizer step for each mini-batch of each epoch with a group that is not `skipped`, on what
        `behaviour` drew, and return the metrics of the last."""
        algebra, metrics = self.spec.algebra, dict[str, float]()
        for epoch in range(algebra.num_epochs):
            for minibatch in range(algebra.num_minibatches):
                is_fresh = epoch == minibatch == 0
                first = minibatch * algebra.num_groups_per_minibatch
                of_minibatch = groups[first : first + algebra.num_groups_per_minibatch]
                trained = [group for group in of_minibatch if group.group not in skipped]
                if not trained:
                    continue
                stats = self.trainer.accumulate(
                    trained,
                    num_pairs_total=algebra.num_pairs_per_optimizer_step,
                    fresh=is_fresh,
                    staleness=self.policy_version - behaviour.policy_version,
                    behaviour=behaviour,
                )
                if is_fresh and self.spec.algorithm.needs.log_probs:
                    self._check_replay(stats)
                step = self.trainer.commit(num_skipped_groups=algebra.num_groups_per_minibatch - len(trained))
                metrics = update_metrics(stats) | {Metric.GRAD_NORM.value: step["grad_norm"]}
        return metrics

    def _check_replay(self, stats: UpdateStats) -> None:
        """Raises `ReplayGateError`."""
        check_replay_gate(stats, self.spec.replay_bounds)
        if not self.spec.pipeline.max_staleness and (warning := rounding_warning(stats, self.spec.algorithm)):
            logger.warning("%s", warning)


def read_spec(path: Path) -> RunSpec:
    """A spec from a YAML or JSON file: a `RunSpec` itself, or a preset that holds one under `spec`."""
    document = yaml.safe_load(path.read_text())
    is_preset = isinstance(document, dict) and "spec" in document
    return RunSpec.from_yaml(yaml.safe_dump(document["spec"] if is_preset else document))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", type=Path, help="run spec or preset, YAML or JSON")
    parser.add_argument("--model", help="folder or hub id of the base model, instead of the spec's")
    parser.add_argument("--prompts", type=Path, help="lines of text or JSON objects, for a spec with a prompt set")
    parser.add_argument("--num-batches", type=int, help="instead of the spec's")
    parser.add_argument("--lora", type=Path, help="folder to write what was trained to, in diffusers format")
    arguments = parser.parse_args()
    spec = read_spec(arguments.spec)
    lines = arguments.prompts.read_text().splitlines() if arguments.prompts else []
    prompts = [prompt_of_line(line) for line in lines if line.strip()]
    init_process_group(0, 1, "127.0.0.1", free_port())
    run = LocalRun(spec, arguments.model or spec.base_model.path, prompts)
    print(spec.algebra.describe())
    print(f"held-out reward {_mean_reward(run.evaluate()):.4f} before training")
    num_batches = spec.num_batches if arguments.num_batches is None else arguments.num_batches
    for number in range(1, num_batches + 1):
        began, cpu_began = time.monotonic(), time.process_time()
        metrics = run.train_batch().metrics
        figures = "  ".join(f"{key} {value:.5g}" for key, value in metrics.items())
        wall, cpu = time.monotonic() - began, time.process_time() - cpu_began
        print(f"batch {number} of {num_batches}  {wall:.2f} s ({cpu:.2f} s of CPU)  {figures}", flush=True)
    print(f"held-out reward {_mean_reward(run.evaluate()):.4f} after training")
    if arguments.lora:
        arguments.lora.mkdir(parents=True, exist_ok=True)
        run.trainer.export(str(arguments.lora))
    destroy_process_group()


def _mean_reward(groups: Sequence[ScoredGroup]) -> float:
    return float(np.mean([group.rewards for group in groups]))


if __name__ == "__main__":
    main()
