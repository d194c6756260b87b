"""The emulated lane classes of a run by role: what `worker.engine.control.cluster_lanes.ACTOR_CLASSES` is to real
ones."""

from worker.contracts.names import LaneRole
from worker.engine.control.cluster_lanes import LaneActors
from worker.engine.emulated.generator import EmulatedReward, EmulatedRollout
from worker.engine.emulated.timing import Emulation
from worker.engine.emulated.trainer import EmulatedTrainer


def emulated_actors(emulation: Emulation) -> LaneActors:
    """Lane classes that go by `emulation`. Ray ships classes made at run time by value, so it travels with them."""
    kinds = {LaneRole.ROLLOUT: EmulatedRollout, LaneRole.TRAINER: EmulatedTrainer, LaneRole.REWARD: EmulatedReward}
    return {role: type(kind.__name__, (kind,), {"emulation": emulation}) for role, kind in kinds.items()}
