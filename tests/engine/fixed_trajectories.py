"""Fixed trajectories, drawn once and trained on many times, over which tests claim equality."""

import torch

from tests.engine.sharing_embeddings import load_sampler
from worker.contracts.run_spec import RunSpec
from worker.engine.advantage.group import group_advantages
from worker.engine.models.registry import load_model
from worker.engine.rollout.sampler import Sampler
from worker.engine.sync.packing import pack
from worker.engine.types import GenerationRequest, GroupBatch, PublishedShard, PublishedVersion
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose


def perturbed_version(spec: RunSpec, path: str, seed: int, policy_version: int = 0) -> PublishedShard:
    """A policy version that differs from the base: every trainable tensor plus a little Gaussian noise."""
    model = load_model(spec.base_model, path)
    model.prepare_training(spec)
    generator = torch.Generator().manual_seed(seed)
    return pack({name: _perturbed(each.detach(), generator) for name, each in model.trainable.items()}, policy_version)


def _perturbed(weights: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    # Drawn on the CPU, so that every device gets the same.
    noise = torch.randn(weights.shape, generator=generator).to(weights.device)
    return (weights + 0.05 * noise).to(weights.dtype)


def draw_groups(
    spec: RunSpec,
    path: str,
    version: PublishedVersion,
    *,
    batch: int = 0,
    fragment_size: int | None = None,
    sampler: Sampler | None = None,
) -> list[GroupBatch]:
    """One batch of complete groups drawn by `version`, whose rewards are the brightness of the pictures.

    Args:
        spec: the run's.
        path: the base model's.
        version: the policy version that draws.
        batch: the batch's number.
        fragment_size: members of a fragment; by default all of a group.
        sampler: draws them; by default a new one.
    """
    sampler = sampler or load_sampler(spec, path)
    sampler.pull(version)
    size = spec.batch.group_size
    step = fragment_size or size
    groups = []
    for index, prompt in enumerate(spec.prompts.inline):
        generated = [
            sampler.generate(
                GenerationRequest(
                    fragment=Fragment(
                        FragmentKey(Purpose.TRAIN, batch, index, number),
                        tuple(range(start, start + step)),
                        version.policy_version,
                    ),
                    prompt=prompt,
                    run_seed=spec.seed,
                    prompt_index=index,
                )
            )
            for number, start in enumerate(range(0, size, step))
        ]
        rewards = [float(image.mean()) for fragment in generated for image in fragment.images]
        trajectories = tuple(fragment.trajectories for fragment in generated if fragment.trajectories is not None)
        advantages = group_advantages(rewards, clip=spec.algorithm.advantage_clip).advantages
        groups.append(GroupBatch(batch=batch, group=index, trajectories=trajectories, advantages=advantages))
    return groups
