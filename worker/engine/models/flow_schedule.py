"""Sigma schedules from the pipeline's own scheduler, called as the pipeline calls it.

Each schedule is (num_denoising_steps + 1,) fp32, descending to 0: the sigmas of the pipeline's own denoising loop.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from diffusers.pipelines.flux.pipeline_flux import calculate_shift

from worker.engine.errors import ModelLoadError

TIME_SCALE = 1000.0
"""The model's timestep at sigma 1 (`num_train_timesteps` of every flow-matching checkpoint)."""


class TimestepLookup:
    """The integer timesteps that schedulers like UniPC give to their sigmas.

    They floor float64 values, and from an fp32 sigma one cannot tell whether 334 was 333.99999999999994. So the pairs
    of each schedule are registered before they are looked up; sigmas of no schedule are floored in fp32.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._pairs: dict[float, float] = {}
        # A sigma that no schedule has, so that the tables are never empty.
        self._add({2.0: 0.0})

    def register(self, sigmas: torch.Tensor, timesteps: torch.Tensor) -> None:
        """Remember the `timesteps` (n,) of a schedule's `sigmas` (n + 1,), whose last one has no timestep."""
        self._add(dict(zip(sigmas[:-1].tolist(), timesteps.tolist(), strict=True)))

    def __call__(self, sigmas: torch.Tensor) -> torch.Tensor:
        """The timesteps (N,) of `sigmas` (N,)."""
        nearest = torch.searchsorted(self._sigmas, sigmas.contiguous()).clamp(max=len(self._sigmas) - 1)
        floored = (sigmas * TIME_SCALE).floor().clamp(max=TIME_SCALE - 1)
        return torch.where(self._sigmas[nearest] == sigmas, self._timesteps[nearest], floored)

    def _add(self, pairs: dict[float, float]) -> None:
        self._pairs |= pairs
        with torch.inference_mode(False):
            pairs_by_sigma = torch.tensor(sorted(self._pairs.items()), device=self._device)
            self._sigmas, self._timesteps = pairs_by_sigma.T.contiguous()


def sigmas_to_last_step(num_denoising_steps: int) -> np.ndarray:
    """Evenly spaced sigmas from 1 to 1 / num_denoising_steps, (num_denoising_steps,), before the scheduler shifts them
    and appends the final 0."""
    return np.linspace(1.0, 1 / num_denoising_steps, num_denoising_steps)


def shift_of_resolution(scheduler: Any, num_tokens: int, *, max_shift: float = 1.15) -> float:
    """The exponent of dynamic shifting, linear in the number of image tokens: diffusers' `calculate_shift` with its
    defaults where the scheduler's config names no value."""
    config = scheduler.config
    return float(
        calculate_shift(
            num_tokens,
            config.get("base_image_seq_len", 256),
            config.get("max_image_seq_len", 4096),
            config.get("base_shift", 0.5),
            config.get("max_shift", max_shift),
        )
    )


def scheduled_sigmas(
    scheduler: Any,
    num_denoising_steps: int,
    device: torch.device,
    *,
    shift: float | None = None,
    unshifted: np.ndarray | Sequence[float] | None = None,
) -> torch.Tensor:
    """The sigmas that `set_timesteps` leaves in the scheduler, (num_denoising_steps + 1,) fp32.

    Args:
        scheduler: the pipeline's, whose state is overwritten.
        num_denoising_steps: the number of denoising steps.
        device: where to put the sigmas.
        shift: `mu`, where the pipeline passes one.
        unshifted: the sigmas that the pipeline passes, where it does not leave them to the scheduler.

    Raises:
        ModelLoadError: for a scheduler that is not one of flow matching.
    """
    arguments: dict[str, Any] = {} if shift is None else {"mu": shift}
    if unshifted is None or scheduler.config.get("use_flow_sigmas", False):
        scheduler.set_timesteps(num_denoising_steps, device=device, **arguments)
    else:
        scheduler.set_timesteps(sigmas=unshifted, device=device, **arguments)
    sigmas: torch.Tensor = scheduler.sigmas.to(device, torch.float32).clone()
    if sigmas[0] > 1 or sigmas[-1] != 0 or not bool((sigmas.diff() < 0).all()):
        raise ModelLoadError(
            f"the scheduler of `base_model.path` must be one of flow matching, got {type(scheduler).__name__}: its "
            f"sigmas must fall from 1 to 0, and go from {float(sigmas[0]):.4g} to {float(sigmas[-1]):.4g}"
        )
    return sigmas
