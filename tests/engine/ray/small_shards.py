"""`python -m tests.engine.ray.small_shards`: a driver whose versions are split into many shards."""

import sys
from typing import Any

from worker.contracts.names import LaneRole
from worker.engine.__main__ import main
from worker.engine.actors.trainer import TrainerActor
from worker.engine.control.cluster_lanes import ACTOR_CLASSES

SHARD_BYTES = 2**14
"""Small, so that even the tiny model has many shards."""


class SmallShardTrainer(TrainerActor):
    """A trainer rank with small shards."""

    def load(self, *args: Any) -> Any:
        from worker.engine.sync import shards

        shards.SHARD_BYTES = SHARD_BYTES
        return super().load(*args)


if __name__ == "__main__":
    sys.exit(main({**ACTOR_CLASSES, LaneRole.TRAINER: SmallShardTrainer}))
