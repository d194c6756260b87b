"""The emulated lane classes by role, which replace `worker.engine.control.cluster_lanes.ACTOR_CLASSES`."""

from worker.contracts.names import LaneRole
from worker.engine.control.cluster_lanes import LaneActors
from worker.engine.emulated.generator import EmulatedReward, EmulatedRollout
from worker.engine.emulated.timing import Emulation
from worker.engine.emulated.trainer import EmulatedTrainer


def emulated_actors(emulation: Emulation) -> LaneActors:
    """Lane classes with `emulation` as a class attribute. Ray pickles classes made at run time by value, so that it
    reaches the actors' processes."""
    bases = {LaneRole.ROLLOUT: EmulatedRollout, LaneRole.TRAINER: EmulatedTrainer, LaneRole.REWARD: EmulatedReward}
    return {role: type(base.__name__, (base,), {"emulation": emulation}) for role, base in bases.items()}
