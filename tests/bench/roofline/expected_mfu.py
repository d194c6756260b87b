"""What `make bench-roofline` finds, for `make bench-gpu` to stand beside what it measures: tracing takes minutes.

`tests.scheduling.profiles.test_roofline` derives these numbers again.
"""

from worker.scheduling.profiles.hardware import H100, Accelerator
from worker.scheduling.profiles.image_models import FLUX
from worker.scheduling.profiles.model_profile import ModelProfile

EXPECTED_MFU = {
    ("generation", 512): (0.32, 0.53),
    ("training", 512): (0.30, 0.48),
    ("generation", 1024): (0.34, 0.54),
    ("training", 1024): (0.26, 0.40),
}
"""By work and side of a picture: with cuDNN's attention and nothing compiled, and compiled at best; of FLUX.1 with a
LoRA of rank 32 on an H100, with as few blocks recomputed as its memory demands."""


def expected_mfu(
    profile: ModelProfile, device: Accelerator | None, work: str, side: int, *, is_compiled: bool
) -> float | None:
    """The MFU by arithmetic; `None` for what was not traced."""
    if profile.name != FLUX.name or device is None or device.name != H100.name or (work, side) not in EXPECTED_MFU:
        return None
    return EXPECTED_MFU[work, side][is_compiled]
