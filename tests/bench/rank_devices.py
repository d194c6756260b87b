"""The environment of a rank process that a bench starts: one of the devices that this process may use, one thread."""

import os
from collections.abc import Mapping

from deepspeed.accelerator import get_accelerator

from worker.contracts.device_masks import entries


def rank_environment(rank: int) -> dict[str, str]:
    """This process's environment, in which the rank sees one device. On a CPU nothing is hidden.

    Raises:
        IndexError: where the mask leaves fewer devices.
    """
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    if get_accelerator().device_name() != "cpu":
        mask = inherited_mask(os.environ, get_accelerator().visible_devices_envs())
        get_accelerator().set_visible_devices_envs(environment, [device_of_rank(mask, rank)])
    return environment


def inherited_mask(environment: Mapping[str, str], variables: list[str]) -> str | None:
    """What the first of the accelerator's `variables` that is set lists; `None` where nothing is hidden."""
    return next((environment[name] for name in variables if name in environment), None)


def device_of_rank(mask: str | None, rank: int) -> str:
    """The device of a rank, as the library names it: that of the mask, since a number beside it means another card."""
    return str(rank) if mask is None else entries(mask)[rank]
