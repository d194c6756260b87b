"""`python -m tests.engine.ray.real_gpu_lanes`: a driver whose lanes look for real GPUs, not for recorded ones.

On a machine without any, a lane that is granted one cannot load.
"""

import os
import sys
from typing import Any

from worker.contracts.names import LaneRole
from worker.contracts.node_reports import GPU_TRACE_VARIABLE
from worker.engine.__main__ import main
from worker.engine.actors.rollout import RolloutActor
from worker.engine.actors.trainer import TrainerActor
from worker.engine.control.cluster_lanes import ACTOR_CLASSES


class RealGpuRollout(RolloutActor):
    """A rollout lane."""

    def __init__(self, *arguments: Any) -> None:
        os.environ.pop(GPU_TRACE_VARIABLE, None)
        super().__init__(*arguments)


class RealGpuTrainer(TrainerActor):
    """A trainer rank."""

    def __init__(self, *arguments: Any) -> None:
        os.environ.pop(GPU_TRACE_VARIABLE, None)
        super().__init__(*arguments)


if __name__ == "__main__":
    sys.exit(main({**ACTOR_CLASSES, LaneRole.ROLLOUT: RealGpuRollout, LaneRole.TRAINER: RealGpuTrainer}))
