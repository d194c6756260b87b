"""Sigma schedules, asked of the pipeline's own scheduler in the way the pipeline asks.

Each schedule is (num_denoising_steps + 1,), fp32, falling to 0: what the pipeline's denoising loop would go through.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from diffusers.pipelines.flux.pipeline_flux import calculate_shift

from worker.engine.errors import ModelLoadError

TIME_SCALE = 1000.0
"""The model's time at sigma 1 (`num_train_timesteps` of every flow-matching checkpoint)."""


class TimestepLookup:
    """The whole-numbered times that a scheduler of the UniPC kind gives to its sigmas.

    It cuts float64 values; the fp32 sigmas that everything here goes by do not tell whether 334 was 333.99999999999994.
    So the pairs of a schedule are learnt before they are asked for; sigmas between them are cut as they are.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._pairs: dict[float, float] = {}
        self._keep({2.0: 0.0})

    def learn(self, sigmas: torch.Tensor, times: torch.Tensor) -> None:
        """`times` (n,) of a schedule's `sigmas` (n + 1,), whose last one has none."""
        self._keep(dict(zip(sigmas[:-1].tolist(), times.tolist(), strict=True)))

    def __call__(self, sigmas: torch.Tensor) -> torch.Tensor:
        """Times (N,) at `sigmas` (N,)."""
        nearest = torch.searchsorted(self._sigmas, sigmas.contiguous()).clamp(max=len(self._sigmas) - 1)
        cut = (sigmas * TIME_SCALE).floor().clamp(max=TIME_SCALE - 1)
        return torch.where(self._sigmas[nearest] == sigmas, self._times[nearest], cut)

    def _keep(self, pairs: dict[float, float]) -> None:
        self._pairs |= pairs
        with torch.inference_mode(False):
            self._sigmas, self._times = torch.tensor(sorted(self._pairs.items()), device=self._device).T.contiguous()


def sigmas_to_last_step(num_denoising_steps: int) -> np.ndarray:
    """Evenly from 1 to 1 / num_denoising_steps, before the scheduler shifts them; the final 0 is the scheduler's."""
    return np.linspace(1.0, 1 / num_denoising_steps, num_denoising_steps)


def shift_of_resolution(scheduler: Any, num_tokens: int, *, max_shift: float = 1.15) -> float:
    """The exponent of dynamic shifting, linear in the number of image tokens (diffusers' `calculate_shift`)."""
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
    """What `set_timesteps` leaves in the scheduler.

    Args:
        scheduler: the pipeline's, whose state is overwritten.
        num_denoising_steps: length of the schedule.
        device: where the sigmas are wanted.
        shift: `mu`, where the pipeline gives one.
        unshifted: the sigmas that the pipeline starts from, where it does not leave them to the scheduler.

    Raises:
        ModelLoadError: for a scheduler of another kind of diffusion.
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
