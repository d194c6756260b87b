"""How much of a transformer a trainer rank recomputes: what the spec says, or as little as its device's memory demands.

The planner predicts it by the same function, so the seconds of a plan are those of the blocks that are recomputed.
"""

from fractions import Fraction

import torch
from deepspeed.accelerator import get_accelerator

from worker.contracts.run_spec import RunSpec
from worker.engine.trainer.zero.process_group import max_over_ranks
from worker.scheduling.planning.memory import MemoryRole, recomputing_on
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.described_cards import card_name
from worker.scheduling.profiles.hardware import CPU_CORE, Accelerator
from worker.scheduling.profiles.known_devices import accelerator
from worker.scheduling.profiles.known_models import has_profile

LARGE = 1e9
"""The parameters from which on a model without a profile is recomputed as a whole: its activations cannot be predicted,
and their memory then outweighs the time of recomputing them."""


def recomputed_share(
    spec: RunSpec, device: torch.device, *, num_parameters: int, num_lanes: int, gpus_per_lane: int = 1
) -> Fraction:
    """The share of the transformer's blocks that this rank recomputes.

    In ZeRO 3 a collective: recomputing a block gathers it, so all ranks recompute as much as the one that must most.

    Args:
        spec: the run's.
        device: the rank's.
        num_parameters: of the transformer, for a model without a profile.
        num_lanes: the number of trainer lanes.
        gpus_per_lane: the ranks of each.
    """
    every = spec.deepspeed.gradient_checkpointing
    if every is not None:
        return Fraction(1, every) if every else Fraction(0)
    if not has_profile(spec.base_model):
        return Fraction(int(num_parameters >= LARGE))
    role = MemoryRole.BOTH if spec.pipeline.trainers_generate else MemoryRole.TRAINER
    described = _described(device).in_lane_of(gpus_per_lane)
    work = recomputing_on(Workload.of(spec), described, role, num_ranks=num_lanes)
    num_layers = work.num_recomputed_layers
    if spec.deepspeed.zero_stage == 3:
        num_layers = max_over_ranks(num_layers, device)
    return Fraction(num_layers, work.profile.num_layers)


def _described(device: torch.device) -> Accelerator:
    """The device by its memory, which alone decides."""
    if device.type == "cpu":
        return CPU_CORE
    return accelerator(card_name(get_accelerator().total_memory(device.index), None))
