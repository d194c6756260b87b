"""`python ray_start.py OPTIONS`: `ray start` without the parts of Ray that Tandem has no use for.

Together they took 290 of an idle head's 690 MB. `ray start` imports Ray Serve for a command of that name, into a
process that then only waits. The dashboard runs a process for each of its pages, which show what Tandem's show. And the
server of Ray Client lets in programs from elsewhere, of which there are none. Ray has no option for any of the three.
This script is run by its path, in Ray's environment, and so imports nothing of Tandem.
"""

import sys
from typing import Any

DASHBOARD_MODULES = ("JobHead", "NodeHead", "StateHead")
"""Those behind the addresses that are asked: jobs, and which nodes are alive (`runs.cluster`)."""

# `None` makes the import fail, which `ray start` allows for: a minimal Ray has no Serve.
sys.modules["ray.serve"] = None  # type: ignore[assignment]

from ray._private import ray_constants, services  # noqa: E402  (after Serve is kept out)
from ray.scripts import scripts  # noqa: E402

_start_process = services.start_ray_process


def start_process(command: list[str], process_type: str, *args: Any, **settings: Any) -> Any:
    """Start one of the head's processes, the dashboard with `DASHBOARD_MODULES` alone."""
    if process_type == ray_constants.PROCESS_TYPE_DASHBOARD:
        command = [*command, f"--modules-to-load={','.join(DASHBOARD_MODULES)}"]
    return _start_process(command, process_type, *args, **settings)


def no_ray_client() -> str:
    """What `ray start` is told of the packages that Ray Client needs: it starts no server without them."""
    return "Tandem submits jobs"


if __name__ == "__main__":
    services.start_ray_process = start_process
    scripts.get_ray_client_dependency_error = no_ray_client
    scripts.main()
