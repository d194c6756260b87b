"""The stored latents and means of trajectories as single tensors, which tests index by member and slot."""

import torch

from worker.engine.types import Trajectories


def latents_of(trajectories: Trajectories) -> torch.Tensor:
    """(N, K, ...): x before each of the K stored denoising steps."""
    return torch.stack([trajectories.states[step] for step in trajectories.sde_indices], 1)


def next_latents_of(trajectories: Trajectories) -> torch.Tensor:
    """(N, K, ...): x after each of the K stored denoising steps."""
    return torch.stack([trajectories.states[step + 1] for step in trajectories.sde_indices], 1)


def means_of(trajectories: Trajectories) -> torch.Tensor:
    """(N, K, ...): the means of the transitions."""
    return torch.stack([trajectories.means[step] for step in trajectories.sde_indices], 1)
