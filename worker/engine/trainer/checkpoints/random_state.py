"""The random states of a process, as JSON: torch's (CPU and accelerator), numpy's and Python's."""

import base64
import json
import random
from typing import Any

import numpy as np
import torch
from deepspeed.accelerator import get_accelerator


def capture_random_state() -> dict[str, Any]:
    """The states of this process's random number generators, as plain JSON values."""
    version, words, python_gauss = random.getstate()
    _, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)
    return {
        "torch": _text(torch.get_rng_state()),
        "accelerator": {"device": get_accelerator().device_name(), "state": _text(get_accelerator().get_rng_state())},
        "numpy": {
            "keys": [int(key) for key in keys],
            "position": int(position),
            "has_gauss": int(has_gauss),
            "gauss": float(gauss),
        },
        "python": {"version": version, "words": list(words), "gauss": python_gauss},
    }


def restore_random_state(states: dict[str, Any]) -> None:
    """Set the generators of this process; that of an accelerator of another kind stays as it is."""
    torch.set_rng_state(_tensor(states["torch"]))
    if states["accelerator"]["device"] == get_accelerator().device_name():
        get_accelerator().set_rng_state(_tensor(states["accelerator"]["state"]))
    kept = states["numpy"]
    keys = np.array(kept["keys"], dtype=np.uint32)
    np.random.set_state(("MT19937", keys, kept["position"], kept["has_gauss"], kept["gauss"]))
    python = states["python"]
    random.setstate((python["version"], tuple(python["words"]), python["gauss"]))


def encode(states: dict[str, Any]) -> bytes:
    return json.dumps(states).encode()


def _text(state: torch.Tensor) -> str:
    return base64.b64encode(bytes(state.cpu().numpy())).decode()


def _tensor(text: str) -> torch.Tensor:
    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.uint8)
