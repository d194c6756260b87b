"""Model-FLOPs utilisation: the share of a device's peak that a model's own arithmetic reaches.

    MFU = floating-point operations of the model ÷ (seconds × peak of the device)

After Chowdhery et al., PaLM, arXiv 2204.02311, appendix B: only operations that the result needs count, so blocks that
are recomputed to spare memory lower the MFU and never raise it. A forward pass is counted as in
`worker.scheduling.profiles.model_profile`. The backward pass goes through each linear layer once for the gradient of
its input and, where its weights are trained, once more for theirs (together PaLM's 6 N a token, of which 2 N forward);
attention has no weights, but two inputs in each product, so it costs twice its forward in any case (PaLM's 12 L H Q T,
of which 4 forward). LoRA's own matrices are left out: rank ÷ width of a layer. Peaks are the makers', of
`worker.scheduling.profiles.hardware`. Decoding is left out: its seconds are not, so the MFU of a rollout is that of the
whole rollout.
"""

from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec
from worker.scheduling.profiles.hardware import ACCELERATORS, Accelerator
from worker.scheduling.profiles.model_profile import ModelProfile


def utilisation(flops: float, seconds: float, peak_flops: float) -> float:
    """The MFU of `flops` operations in `seconds`. Raises `ValueError` for seconds or a peak that are not above 0."""
    if seconds <= 0 or peak_flops <= 0:
        raise ValueError(f"`seconds` and `peak_flops` must be > 0, got {seconds} and {peak_flops}")
    return flops / (seconds * peak_flops)


def rollout_flops(profile: ModelProfile, spec: RunSpec, *, num_samples: int) -> float:
    """The operations of `num_samples` trajectories without true CFG."""
    return num_samples * spec.sampling.num_denoising_steps * profile.forward_flops(_num_tokens(profile, spec))


def training_flops(profile: ModelProfile, spec: RunSpec) -> float:
    """The operations of one optimizer step: forward and backward of each pair."""
    return spec.algebra.num_pairs_per_optimizer_step * pair_flops(profile, _num_tokens(profile, spec), spec.tuning)


def pair_flops(profile: ModelProfile, num_tokens: int, tuning: Tuning) -> float:
    """The operations of forward and backward of one pair; `num_tokens` without the text's."""
    forward, attention = profile.forward_flops(num_tokens), profile.attention_flops(num_tokens)
    gradients_of_linear_layers = 2 if tuning is Tuning.FULL else 1
    return forward + gradients_of_linear_layers * (forward - attention) + 2 * attention


def known_device(device_name: str) -> Accelerator | None:
    """The accelerator with a known peak, by the name that its driver reports; `None` for others."""
    words = device_name.lower().replace("-", " ").split()
    return next((device for name, device in ACCELERATORS.items() if name in words), None)


def _num_tokens(profile: ModelProfile, spec: RunSpec) -> int:
    sampling = spec.sampling
    return profile.num_tokens(height=sampling.height, width=sampling.width, num_frames=sampling.num_frames)
