"""Which versions of its software a driver runs with, for the run's record."""

import sys
from importlib.metadata import PackageNotFoundError, version

from worker.contracts.release import VERSION

_PACKAGES = ("torch", "diffusers", "transformers", "peft", "deepspeed", "ray")
"""Those whose version may change what a run computes."""


def software_versions() -> dict[str, str]:
    """The version of Tandem, of Python and of each of the packages that is installed, by name."""
    found = {"tandem": VERSION, "python": ".".join(map(str, sys.version_info[:3]))}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
