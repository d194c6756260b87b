"""`python -m tests.engine.ray.small_parts`: a driver that cuts even the tiny model's fragments into parts."""

import sys
from typing import Any

from worker.contracts.names import LaneRole
from worker.engine.__main__ import main
from worker.engine.actors.reports import AccumulationPlan
from worker.engine.actors.trainer import TrainerActor
from worker.engine.control.cluster_lanes import ACTOR_CLASSES
from worker.engine.transport import parts as transport_parts


class OwnShareTrainer(TrainerActor):
    """A trainer rank that refuses parts with more than one micro-batch needs."""

    def accumulate(self, plan: AccumulationPlan, behaviour: Any, *parts: Any, refs: Any = ()) -> Any:
        for part in parts:
            states = part.unpacked().states
            if len(states) > 1:
                raise AssertionError(f"a part must hold the latents of one step here, got {sorted(states)}")
        return super().accumulate(plan, behaviour, *parts, refs=refs)


if __name__ == "__main__":
    transport_parts.MIN_PART_BYTES = 0
    sys.exit(main({**ACTOR_CLASSES, LaneRole.TRAINER: OwnShareTrainer}))
