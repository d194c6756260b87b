"""`python -m tests.engine.ray.small_shards`: an attempt like any other, whose versions are cut into many shards."""

import sys
from typing import Any

from worker.contracts.names import LaneRole
from worker.engine.__main__ import main
from worker.engine.actors.trainer import TrainerActor
from worker.engine.control.cluster_lanes import ACTOR_CLASSES

SHARD_BYTES = 2**14


class SmallShardTrainer(TrainerActor):
    def load(self, *args: Any) -> Any:
        from worker.engine.sync import shards

        shards.SHARD_BYTES = SHARD_BYTES
        return super().load(*args)


if __name__ == "__main__":
    sys.exit(main({**ACTOR_CLASSES, LaneRole.TRAINER: SmallShardTrainer}))
