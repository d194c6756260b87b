"""Trajectories drawn once and trained on many times: what equality claims are made over."""

import torch

from worker.contracts.run_spec import RunSpec
from worker.engine.advantage.group import group_advantages
from worker.engine.models.registry import load_model
from worker.engine.rollout.sampler import Sampler
from worker.engine.sync.packing import pack
from worker.engine.types import GenerationRequest, GroupBatch, PublishedShard, PublishedVersion
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose


def perturbed_adapter(spec: RunSpec, path: str, seed: int, policy_version: int = 0) -> PublishedShard:
    """An adapter that is not the base: every tensor moved by a little Gaussian noise."""
    model = load_model(spec.base_model, path)
    model.prepare_training(spec)
    generator = torch.Generator().manual_seed(seed)
    moved = {
        name: (parameter.detach() + 0.05 * torch.randn(parameter.shape, generator=generator)).to(parameter.dtype)
        for name, parameter in model.trainable.items()
    }
    return pack(moved, policy_version)


def draw_groups(
    spec: RunSpec, path: str, adapter: PublishedVersion, *, batch: int = 0, fragment_size: int | None = None
) -> list[GroupBatch]:
    """One batch of complete groups under `adapter`; the brightness of the pictures stands in for a reward."""
    engine = Sampler.load(spec, path)
    engine.pull(adapter)
    size = spec.batch.group_size
    step = fragment_size or size
    groups = []
    for index, prompt in enumerate(spec.prompts.inline):
        made = [
            engine.generate(
                GenerationRequest(
                    fragment=Fragment(
                        FragmentKey(Purpose.TRAIN, batch, index, place),
                        tuple(range(start, start + step)),
                        adapter.policy_version,
                    ),
                    prompt=prompt,
                    run_seed=spec.seed,
                    prompt_index=index,
                )
            )
            for place, start in enumerate(range(0, size, step))
        ]
        rewards = [float(image.mean()) for fragment in made for image in fragment.images]
        trajectories = tuple(fragment.trajectories for fragment in made if fragment.trajectories is not None)
        advantages = group_advantages(rewards, clip=spec.algorithm.advantage_clip).advantages
        groups.append(GroupBatch(batch=batch, group=index, trajectories=trajectories, advantages=advantages))
    return groups
