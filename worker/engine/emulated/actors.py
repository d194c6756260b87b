"""The emulated lane classes of a run, by role: they stand where `worker.engine.control.lanes.ACTOR_CLASSES` does."""

from worker.contracts.names import Role
from worker.engine.control.lanes import LaneActors
from worker.engine.emulated.generating import EmulatedReward, EmulatedRollout
from worker.engine.emulated.pace import Emulation
from worker.engine.emulated.training import EmulatedTrainer


def emulated_actors(emulation: Emulation) -> LaneActors:
    """Lane classes that go by `emulation`. Ray ships classes made at run time by value, so it travels with them."""
    kinds = {Role.ROLLOUT: EmulatedRollout, Role.TRAINER: EmulatedTrainer, Role.REWARD: EmulatedReward}
    return {role: type(kind.__name__, (kind,), {"emulation": emulation}) for role, kind in kinds.items()}
