"""The GPUs of this machine, read from `nvidia-smi`, because the web side never imports torch.

Those of other vendors, and everything else about these, come with the node agent's first report.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from server.environment import env
from server.errors import CannotStartError
from worker.contracts.device_masks import AmbiguousMaskError, visible_devices
from worker.contracts.node_reports import NUM_GPUS_VARIABLE, GpuIdentity, Vendor

_CARD = re.compile(r"GPU (\d+): (.+) \(UUID: (\S+)\)")
_SLICE = re.compile(r"\s+MIG .+\(UUID: (\S+)\)")


@dataclass(frozen=True, slots=True)
class LocalGpus:
    indices: tuple[int, ...] = ()
    """Of the cards on this machine, in the order of PCI addresses."""
    accelerator: str = ""
    """Product name of the first GPU; empty if unknown."""


def local_gpus() -> LocalGpus:
    """The cards that the NVIDIA driver lists and `CUDA_VISIBLE_DEVICES` leaves, none without a driver.

    `TANDEM_NUM_GPUS` limits them to the first ones; without a driver it is their number. Raises `CannotStartError` for
    a mask that cannot be told apart.
    """
    try:
        seen = visible_devices(tuple(listed(_printed())), os.environ)
    except AmbiguousMaskError as error:
        raise CannotStartError(str(error)) from error
    cards, given = sorted({device.index for device in seen}), env.str(NUM_GPUS_VARIABLE, "")
    has_driver = shutil.which("nvidia-smi") is not None
    if given:
        cards = cards[: int(given)] if has_driver else list(range(int(given)))
    return LocalGpus(indices=tuple(cards), accelerator=seen[0].model if seen else "")


def listed(printed: str) -> Iterator[GpuIdentity]:
    """The cards and MIG slices that `nvidia-smi -L` prints."""
    card: re.Match[str] | None = None
    for line in printed.splitlines():
        mig_slice = _SLICE.match(line)
        if mig_slice and card:
            yield _identity(card, mig_slice[1])
        elif card := _CARD.match(line):
            yield _identity(card, card[3])


def _identity(card: re.Match[str], uuid: str) -> GpuIdentity:
    parent = "" if uuid == card[3] else card[3]
    return GpuIdentity(uuid=uuid, index=int(card[1]), vendor=Vendor.NVIDIA, model=card[2], parent_uuid=parent)


def _printed() -> str:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    asked = subprocess.run([tool, "-L"], capture_output=True, text=True, timeout=20, check=False)
    return asked.stdout if asked.returncode == 0 else ""
