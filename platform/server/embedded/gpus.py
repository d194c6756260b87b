"""How many GPUs this machine has, asked of the driver's own tool: the web side never imports torch."""

import shutil
import subprocess

from server.environment import env


def count_gpus() -> int:
    """`TANDEM_NUM_GPUS` if given, else the NVIDIA GPUs that the driver lists; 0 without a driver."""
    given = env.str("TANDEM_NUM_GPUS", "")
    if given:
        return int(given)
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return 0
    listed = subprocess.run([tool, "-L"], capture_output=True, text=True, timeout=20, check=False)
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines())
