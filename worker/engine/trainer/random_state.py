"""The random states of one rank, saved and restored with its checkpoint."""

import random
from typing import Any

import numpy as np
import torch
from deepspeed.accelerator import get_accelerator


def capture() -> dict[str, Any]:
    """States of torch (CPU and accelerator), numpy and python."""
    return {
        "torch": torch.get_rng_state(),
        "accelerator": get_accelerator().get_rng_state(),
        "numpy": np.random.get_state(legacy=False),
        "python": random.getstate(),
    }


def restore(states: dict[str, Any]) -> None:
    torch.set_rng_state(states["torch"])
    get_accelerator().set_rng_state(states["accelerator"])
    np.random.set_state(states["numpy"])
    random.setstate(states["python"])
