"""The GPUs of this machine, read from `nvidia-smi`, because the web side never imports torch."""

import shutil
import subprocess
from dataclasses import dataclass

from server.environment import env
from worker.contracts.node_reports import NUM_GPUS_VARIABLE


@dataclass(frozen=True, slots=True)
class LocalGpus:
    num: int = 0
    accelerator: str = ""
    """Product name of the first GPU; empty if unknown."""


def local_gpus() -> LocalGpus:
    """The GPUs that the NVIDIA driver lists, none without a driver; `TANDEM_NUM_GPUS` overrides their number."""
    names = _names()
    given = env.str(NUM_GPUS_VARIABLE, "")
    return LocalGpus(num=int(given) if given else len(names), accelerator=names[0] if names else "")


def _names() -> list[str]:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    asked = [tool, "--query-gpu=name", "--format=csv,noheader"]
    listed = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=False)
    return [line.strip() for line in listed.stdout.splitlines() if line.strip()] if listed.returncode == 0 else []
