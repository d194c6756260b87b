"""The whole engine in one process, without Ray: what a debugger steps through."""

from pathlib import Path

import numpy as np

from worker.contracts.metric_names import Metric
from worker.contracts.run_spec import RunSpec
from worker.engine.advantage.group import group_advantages
from worker.engine.metrics.replay_gate import check_replay_gate
from worker.engine.metrics.update_metrics import merge_stats, update_metrics
from worker.engine.reward.scorer import Scorer
from worker.engine.rollout.sampler import Sampler
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GenerationRequest, GroupBatch, ScoredFragment
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

NUM_BATCHES = 2
SHAPES = Path(__file__).parents[2] / "deploy" / "models" / "shapes"


def test_two_batches_of_the_shipped_model_from_rollout_to_pull(process_group: None) -> None:
    spec = RunSpec.model_validate(
        {
            "prompts": {"inline": ["a red square", "a blue circle"]},
            "rewards": [{"name": "shape_match"}, {"name": "colorfulness", "watched": True}],
            "algorithm": {"clip_range": 3e-3},
            "optimizer": {"learning_rate": 1.5e-3},
            "sampling": {"num_denoising_steps": 4, "num_eval_denoising_steps": 4, "noise_level": 0.8},
            "batch": {
                "num_prompts_per_batch": 2,
                "group_size": 4,
                "num_epochs_per_batch": 2,
                "micro_batch_size": 12,
                "fragment_size": 2,
            },
        }
    )
    rollout, scorer = Sampler.load(spec, str(SHAPES)), Scorer(spec.rewards)
    trainer = TrainerRank(spec, str(SHAPES), 0, 1)
    checksums = [rollout.pull(trainer.version(0)).sha256]
    for batch in range(NUM_BATCHES):
        groups, scored = zip(
            *(one_group(spec, rollout, scorer, batch, group) for group in range(spec.algebra.num_groups)), strict=True
        )
        train_batch(spec, trainer, list(groups))
        checksums.append(rollout.pull(trainer.version(batch + 1)).sha256)
        assert rollout.policy_version == batch + 1
        assert all(set(part.parts) == {"shape_match", "colorfulness"} for parts in scored for part in parts)
    assert len(set(checksums)) == NUM_BATCHES + 1


def one_group(
    spec: RunSpec, rollout: Sampler, scorer: Scorer, batch: int, group: int
) -> tuple[GroupBatch, list[ScoredFragment]]:
    """Generate and score the fragments of one group; rewards become advantages."""
    prompt = spec.prompts.inline[group]
    trajectories, scored = [], []
    for index, start in enumerate(range(0, spec.batch.group_size, spec.algebra.fragment_size)):
        members = tuple(range(start, start + spec.algebra.fragment_size))
        fragment = Fragment(FragmentKey(Purpose.TRAIN, batch, group, index), members, batch)
        made = rollout.generate(
            GenerationRequest(fragment=fragment, prompt=prompt, run_seed=spec.seed, prompt_index=group)
        )
        assert made.trajectories is not None and made.images.shape == (len(members), 32, 32, 3)
        trajectories.append(made.trajectories)
        scored.append(scorer.score(fragment, prompt, made.images))
    rewards = [reward for part in scored for reward in part.rewards]
    advantages = group_advantages(rewards, clip=spec.algorithm.advantage_clip).advantages
    return GroupBatch(batch=batch, group=group, trajectories=tuple(trajectories), advantages=advantages), scored


def train_batch(spec: RunSpec, trainer: TrainerRank, groups: list[GroupBatch]) -> None:
    """Every epoch one optimizer step, groups arriving one at a time; the gate judges the first."""
    num_pairs = spec.algebra.num_pairs_per_optimizer_step
    for epoch in range(spec.batch.num_epochs_per_batch):
        stats = merge_stats(
            trainer.accumulate([group], num_pairs_total=num_pairs, fresh=epoch == 0) for group in groups
        )
        if epoch == 0:
            check_replay_gate(stats, spec.replay_bounds)
        metrics = update_metrics(stats)
        assert stats.num_pairs == num_pairs
        assert abs(metrics[Metric.RATIO_MEAN] - 1) < 0.1
        assert trainer.commit()["grad_norm"] > 0


def test_training_makes_held_out_pictures_brighter_when_brightness_is_the_reward(process_group: None) -> None:
    """Learning, not only plumbing: 6 batches of 2 steps move the shipped model on seeds it never trained on."""
    spec = RunSpec.model_validate(
        {
            "prompts": {"inline": ["a red square", "a blue circle"]},
            "rewards": [{"name": "colorfulness"}],
            "algorithm": {"clip_range": 1e-2},
            "optimizer": {"learning_rate": 3e-3},
            "sampling": {"num_denoising_steps": 4, "num_eval_denoising_steps": 4},
            "batch": {"num_prompts_per_batch": 2, "group_size": 16, "micro_batch_size": 48},
        }
    )
    trainer, rollout = TrainerRank(spec, str(SHAPES), 0, 1), Sampler.load(spec, str(SHAPES))
    rollout.pull(trainer.version(0))
    before = held_out_brightness(spec, rollout)
    for batch in range(6):
        groups = [bright_group(spec, rollout, batch, group) for group in range(2)]
        for _ in range(2):
            trainer.accumulate(groups, num_pairs_total=spec.algebra.num_pairs_per_optimizer_step, fresh=False)
            trainer.commit()
        rollout.pull(trainer.version(batch + 1))
    assert held_out_brightness(spec, rollout) > before + 2


def bright_group(spec: RunSpec, rollout: Sampler, batch: int, group: int) -> GroupBatch:
    fragment = Fragment(FragmentKey(Purpose.TRAIN, batch, group, 0), tuple(range(spec.batch.group_size)), batch)
    made = rollout.generate(
        GenerationRequest(fragment=fragment, prompt=spec.prompts.inline[group], run_seed=spec.seed, prompt_index=group)
    )
    assert made.trajectories is not None
    advantages = group_advantages([float(image.mean()) for image in made.images], clip=5).advantages
    return GroupBatch(batch=batch, group=group, trajectories=(made.trajectories,), advantages=advantages)


def held_out_brightness(spec: RunSpec, rollout: Sampler) -> float:
    version = rollout.policy_version
    assert version is not None
    fragment = Fragment(FragmentKey(Purpose.EVALUATE, version, 0, 0), tuple(range(16)), version)
    request = GenerationRequest(fragment=fragment, prompt=spec.prompts.inline[0], run_seed=spec.seed, prompt_index=0)
    return float(np.mean(rollout.generate(request).images))
