"""Model-FLOPs utilisation: the share of a device's peak that a model's own arithmetic reaches.

    MFU = floating-point operations of the model ÷ (seconds × peak of the device)

After Chowdhery et al., PaLM, arXiv 2204.02311, appendix B: only operations that the result needs count, so blocks that
are recomputed to spare memory lower the MFU and never raise it. Operations are counted as in
`worker.pipeline.profiles`, peaks are the makers' in `worker.pipeline.hardware`. Decoding is left out: its seconds are
not, so the MFU of a rollout is that of the whole rollout.
"""

from worker.contracts.run_spec import RunSpec
from worker.pipeline.hardware import ACCELERATORS, Accelerator
from worker.pipeline.profiles import TRAINING_FORWARDS, ModelProfile

RECOMPUTED_FORWARDS = 1.0
"""Of `TRAINING_FORWARDS`: no part of the model's own arithmetic."""


def utilisation(flops: float, seconds: float, peak_flops: float) -> float:
    """Raises `ValueError` for seconds or a peak that are not above 0."""
    if seconds <= 0 or peak_flops <= 0:
        raise ValueError(f"`seconds` and `peak_flops` must be > 0, got {seconds} and {peak_flops}")
    return flops / (seconds * peak_flops)


def rollout_flops(profile: ModelProfile, spec: RunSpec, *, num_samples: int) -> float:
    """Of trajectories without guidance from a second prediction."""
    return num_samples * spec.sampling.num_denoising_steps * profile.forward_flops(_num_tokens(profile, spec))


def training_flops(profile: ModelProfile, spec: RunSpec) -> float:
    """Of one optimizer step on a frozen base: a forward and the gradient of the activations for each pair."""
    forwards = TRAINING_FORWARDS - RECOMPUTED_FORWARDS
    num_pairs = spec.algebra.num_pairs_per_optimizer_step
    return num_pairs * forwards * profile.forward_flops(_num_tokens(profile, spec))


def known_device(device_name: str) -> Accelerator | None:
    """The device whose peak is known, by the name that its driver reports."""
    words = device_name.lower().replace("-", " ").split()
    return next((device for name, device in ACCELERATORS.items() if name in words), None)


def _num_tokens(profile: ModelProfile, spec: RunSpec) -> int:
    sampling = spec.sampling
    return profile.num_tokens(height=sampling.height, width=sampling.width, num_frames=sampling.num_frames)
