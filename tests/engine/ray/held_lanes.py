"""`python -m tests.engine.ray.held_lanes`: a driver whose lanes `rollout-1` and `trainer-1` never finish loading.

So what a test does meanwhile does not race with the machine. The others are those of `real_gpu_lanes`."""

import sys
import time
from typing import Any

from tests.engine.ray.real_gpu_lanes import RealGpuRollout, RealGpuTrainer
from worker.contracts.names import LaneRole
from worker.engine.__main__ import main
from worker.engine.control.cluster_lanes import ACTOR_CLASSES

HELD = ("rollout-1", "trainer-1")


def hold(lane: str) -> None:
    """Never return in a lane that is held."""
    while lane in HELD:
        time.sleep(1)


class HeldRollout(RealGpuRollout):
    """A rollout lane that loads unless it is held."""

    def load(self, *arguments: Any) -> Any:
        hold(self.lane)
        return super().load(*arguments)


class HeldTrainer(RealGpuTrainer):
    """A trainer rank that loads unless it is held; the other ranks wait for it."""

    def load(self, *arguments: Any) -> Any:
        hold(self.lane)
        return super().load(*arguments)


if __name__ == "__main__":
    sys.exit(main({**ACTOR_CLASSES, LaneRole.ROLLOUT: HeldRollout, LaneRole.TRAINER: HeldTrainer}))
